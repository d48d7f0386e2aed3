/* SPDX-License-Identifier: MIT */
/* timers_device.cc: rvprof_device.cuh: compiled by nvcc where it is; and with device_on_host/cuda_runtime.h run on the host, where the
 * blocks and threads of a kernel take turns. */
#include <rvprof_device.cuh>

enum { LOAD, MULTIPLY, REGIONS, BLOCKS = 4, THREADS = 8, TURNS = 3 };

static const char *const names[] = {"load", "multiply"};
RVPROF_TIMERS(timers, "in blocks", names, REGIONS, BLOCKS);

static __global__ void kernel(float *numbers, rvprof_timer_cells cells)
{
	rvprof_device_begin begin = rvprof_device_time();

	numbers[threadIdx.x] += 1;
	rvprof_device_store(cells, LOAD, begin);
	for (int i = 0; i < TURNS; i++) {
		begin = rvprof_device_time();
		for (int k = 0; k < 1000; k++)
			numbers[threadIdx.x] = numbers[threadIdx.x] * 2 + 1;
		rvprof_device_add(cells, MULTIPLY, begin);
	}
	rvprof_device_add(cells, REGIONS, begin); /* there is no such region */
}

#ifdef RVPROF_DEVICE_ON_HOST
static void launch(float *numbers, rvprof_timer_cells cells)
{
	gridDim = {BLOCKS, 1, 1};
	for (blockIdx.x = 0; blockIdx.x < BLOCKS; blockIdx.x++)
		for (threadIdx.x = 0; threadIdx.x < THREADS; threadIdx.x++)
			kernel(numbers, cells);
}
#else
static void launch(float *numbers, rvprof_timer_cells cells)
{
	kernel<<<BLOCKS, THREADS>>>(numbers, cells);
}
#endif

/* 1: each block's cells hold what its first thread did. */
static int is_right()
{
	for (uint32_t slot = 0; slot < BLOCKS; slot++) {
		const rvprof_timer_cell *once = rvprof_timer_cell_at(&timers.cells, LOAD, slot);
		const rvprof_timer_cell *sum = rvprof_timer_cell_at(&timers.cells, MULTIPLY, slot);

		if (once->count != 1 || sum->count != TURNS || sum->ticks <= once->ticks || !once->place ||
		    sum->begin < once->begin)
			return 0;
	}
	return timers.beyond == BLOCKS * timers.step;
}

int main()
{
	static rvprof_cuda_probes probes;
	rvprof_device_timers device;
	float *numbers = nullptr;
	int right = 1;

	if (rvprof_device_timers_open(&device, &timers) != cudaSuccess ||
	    cudaMalloc((void **)&numbers, THREADS * sizeof *numbers) != cudaSuccess ||
	    cudaMemset(numbers, 0, THREADS * sizeof *numbers) != cudaSuccess)
		return 1;
	for (int step = 0; step < 2; step++) {
		RVPROF_WITH_CUDA_PROFILER(&probes, 0, "kernel", "ComputationOperator", "64;f32", launch(numbers, device.cells));
		right = rvprof_device_timers_collect(&device, 0) == cudaSuccess && is_right() && right;
	}
	right = rvprof_cuda_collect(&probes) == cudaSuccess && right;
#ifdef RVPROF_DEVICE_ON_HOST
	cuda_failures = 1; /* the step goes on */
	right = rvprof_device_timers_collect(&device, 0) != cudaSuccess && timers.step == 2 && right;
#endif
	cudaFree(numbers);
	rvprof_device_timers_close(&device);
	fprintf(stderr, "right %d pace %d dropped %d\n", right, device.ns_per_tick > 0, (int)probes.dropped);
	return 0;
}
