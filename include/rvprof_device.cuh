/* SPDX-License-Identifier: MIT */
/* rvprof_device.cuh: timers inside of CUDA kernels, a slot a block, and operators timed by a pair of CUDA events. C++17, nvcc or
 * clang. rvprof_timers.h says how the values are seen. It was compiled, and run on the host; on a device it is untested.
 *
 *     enum { LOAD, MULTIPLY, REGIONS };
 *     static const char *const names[] = {"load", "multiply"};
 *     RVPROF_TIMERS(timers, "matmul", names, REGIONS, BLOCKS);
 *     rvprof_device_timers device;
 *
 *     rvprof_device_timers_open(&device, &timers);
 *     matmul<<<BLOCKS, 256>>>(..., device.cells);
 *     rvprof_device_timers_collect(&device, stream);            waits for the stream; the step is over
 *
 *     __global__ void matmul(..., rvprof_timer_cells cells)
 *     {
 *             rvprof_device_begin begin = rvprof_device_time();
 *             ...
 *             rvprof_device_store(cells, LOAD, begin);          or rvprof_device_add: the sum of all times in this step
 *     }
 *
 * Rules
 *   - One writer a block: its first thread (threadIdx 0, 0, 0). What other threads call does nothing. A __syncthreads() before the end
 * of a region makes it the block's.
 *   - Ticks are clock64(), a counter of each multiprocessor: only ticks of one block are compared with each other. When a region began
 * is told by the device's global clock (%globaltimer).
 *   - What a tick is in time is measured in rvprof_device_timers_open: a kernel reads both clocks twice, a millisecond apart, between two
 * readings of the host's. A device that changes its clock makes ns wrong by as much; ticks stay right.
 *   - Functions of the host give CUDA's error; then nothing was told, and the step goes on.
 */
#ifndef RVPROF_DEVICE_CUH
#define RVPROF_DEVICE_CUH

#include <cuda_runtime.h>

#define RVPROF_TIMER_FUNCTION static __host__ __device__ inline
#include "rvprof_timers.h"
#include "rvprof_scoped.h"

/* ---- on the device ---- */

struct rvprof_device_begin {
	uint64_t ticks, global_ns;
};

#if defined(RVPROF_DEVICE_ON_HOST) /* a test's stand-in for a device */
static inline uint64_t rvprof_device_ticks(void)
{
	return rvprof_ticks();
}
static inline uint64_t rvprof_device_global_ns(void)
{
	return rvprof_unix_ns();
}
static inline uint32_t rvprof_device_sm(void)
{
	return 0;
}
#define RVPROF_DEVICE_LAUNCH_(kernel, argument) kernel(argument)
#else
#define RVPROF_DEVICE_LAUNCH_(kernel, argument) kernel<<<1, 1>>>(argument)
static __device__ inline uint64_t rvprof_device_ticks(void)
{
	return (uint64_t)clock64();
}

static __device__ inline uint64_t rvprof_device_global_ns(void)
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

static __device__ inline uint32_t rvprof_device_sm(void)
{
	uint32_t sm;

	asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
	return sm;
}
#endif

static __device__ inline bool rvprof_device_is_writer(void)
{
	return threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
}

/* The block's slot: its place in the grid; of a grid of 2^32 blocks and more UINT32_MAX, which is none, for the rest. */
static __device__ inline uint32_t rvprof_device_slot(void)
{
	uint64_t slot = ((uint64_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;

	return slot < UINT32_MAX ? (uint32_t)slot : UINT32_MAX;
}

/* A region begins here; 0 for all threads but the writer. */
static __device__ inline rvprof_device_begin rvprof_device_time(void)
{
	rvprof_device_begin begin = {0, 0};

	if (!rvprof_device_is_writer())
		return begin;
	begin.global_ns = rvprof_device_global_ns();
	begin.ticks = rvprof_device_ticks();
	return begin;
}

static __device__ inline void rvprof_device_put(rvprof_timer_cells cells, uint32_t region, rvprof_device_begin begin, int is_sum)
{
	uint64_t now = rvprof_device_ticks();
	rvprof_timer_cell *cell;

	if (!rvprof_device_is_writer())
		return;
	cell = rvprof_timer_cell_at(&cells, region, rvprof_device_slot());
	if (!cell)
		atomicAdd((unsigned long long *)&rvprof_timer_beyond_cell(&cells)->count, 1);
	else
		rvprof_timer_cell_put(cell, is_sum, begin.global_ns, now > begin.ticks ? now - begin.ticks : 0,
				      rvprof_device_sm() + 1);
}

static __device__ inline void rvprof_device_store(rvprof_timer_cells cells, uint32_t region, rvprof_device_begin begin)
{
	rvprof_device_put(cells, region, begin, 0);
}

static __device__ inline void rvprof_device_add(rvprof_timer_cells cells, uint32_t region, rvprof_device_begin begin)
{
	rvprof_device_put(cells, region, begin, 1);
}

/* ---- clocks ---- */

struct rvprof_device_pair {
	uint64_t ticks[2], global_ns[2];
};

static __global__ void rvprof_device_pair_kernel(rvprof_device_pair *pair)
{
	pair->global_ns[0] = rvprof_device_global_ns();
	pair->ticks[0] = rvprof_device_ticks();
	do {
		pair->global_ns[1] = rvprof_device_global_ns();
		pair->ticks[1] = rvprof_device_ticks();
	} while (pair->global_ns[1] < pair->global_ns[0] + 1000000);
}

/* ---- on the host ---- */

struct rvprof_device_timers {
	rvprof_timers *timers;    /* whose cells are the host's copy */
	rvprof_timer_cells cells; /* the device's: what kernels get */
	double ns_per_tick;       /* 0: not known */
	int64_t unix_less_global_ns;
};

static inline size_t rvprof_device_timers_bytes(const rvprof_timers *timers)
{
	return sizeof(rvprof_timer_cell) * ((size_t)timers->cells.regions * timers->cells.slots + 1);
}

/* `pair` is memory of the device. */
static inline cudaError_t rvprof_device_timers_measure(rvprof_device_timers *device, rvprof_device_pair *pair)
{
	rvprof_device_pair got = {};
	uint64_t before, behind, middle_ns;
	cudaError_t error = cudaDeviceSynchronize();

	if (error != cudaSuccess)
		return error;
	before = rvprof_unix_ns();
	RVPROF_DEVICE_LAUNCH_(rvprof_device_pair_kernel, pair);
	error = cudaMemcpy(&got, pair, sizeof got, cudaMemcpyDeviceToHost);
	behind = rvprof_unix_ns();
	if (error != cudaSuccess)
		return error;
	middle_ns = got.global_ns[0] + (got.global_ns[1] - got.global_ns[0]) / 2;
	device->unix_less_global_ns = (int64_t)(before + (behind - before) / 2 - middle_ns);
	if (got.ticks[1] > got.ticks[0])
		device->ns_per_tick = (double)(got.global_ns[1] - got.global_ns[0]) / (double)(got.ticks[1] - got.ticks[0]);
	return cudaSuccess;
}

static inline cudaError_t rvprof_device_timers_open(rvprof_device_timers *device, rvprof_timers *timers)
{
	size_t bytes = rvprof_device_timers_bytes(timers);
	void *memory = NULL;
	cudaError_t error = cudaMalloc(&memory, bytes + sizeof(rvprof_device_pair));

	*device = rvprof_device_timers{timers, timers->cells, 0, 0};
	if (error != cudaSuccess)
		return error;
	device->cells.cells = (rvprof_timer_cell *)memory;
	error = cudaMemset(memory, 0, bytes);
	if (error == cudaSuccess)
		error = rvprof_device_timers_measure(device, (rvprof_device_pair *)((char *)memory + bytes));
	if (error != cudaSuccess)
		cudaFree(memory);
	return error;
}

static inline void rvprof_device_timers_tell(const rvprof_device_timers *device)
{
	const rvprof_timers *timers = device->timers;

	for (uint32_t region = 0; region < timers->cells.regions; region++)
		for (uint32_t slot = 0; slot < timers->cells.slots; slot++) {
			const rvprof_timer_cell *cell = rvprof_timer_cell_at(&timers->cells, region, slot);

			if (cell->count)
				rvprof_timer_tell(timers, RVPROF_TIMER_BLOCKS, region, slot,
						  (uint64_t)((double)cell->ticks * device->ns_per_tick),
						  (uint64_t)((int64_t)cell->begin + device->unix_less_global_ns));
		}
}

/* Copies the cells, tells of them, and empties those of the device. The host's copy stays until the next one. */
static inline cudaError_t rvprof_device_timers_collect(rvprof_device_timers *device, cudaStream_t stream)
{
	size_t bytes = rvprof_device_timers_bytes(device->timers);
	cudaError_t error = cudaMemcpyAsync(device->timers->cells.cells, device->cells.cells, bytes, cudaMemcpyDeviceToHost, stream);

	if (error == cudaSuccess)
		error = cudaMemsetAsync(device->cells.cells, 0, bytes, stream);
	if (error == cudaSuccess)
		error = cudaStreamSynchronize(stream);
	if (error != cudaSuccess)
		return error;
	rvprof_device_timers_tell(device);
	rvprof_timers_take_beyond(device->timers);
	return cudaSuccess;
}

static inline cudaError_t rvprof_device_timers_close(rvprof_device_timers *device)
{
	return cudaFree(device->cells.cells);
}

/* ---- operators by events ---- */

enum { RVPROF_CUDA_PROBES = 256 };

struct rvprof_cuda_probe {
	cudaEvent_t begin, end;
	const char *name, *category, *args; /* must live until they are collected */
	uint32_t slot;
};

/* Zero at first. Of one thread. */
struct rvprof_cuda_probes {
	rvprof_cuda_probe probes[RVPROF_CUDA_PROBES];
	cudaEvent_t base;
	uint64_t base_unix_ns;
	uint64_t step;
	uint32_t count, made;
	uint64_t dropped; /* that had no event */
};

/* Waits for the events, tells of them, each a step of its own, and begins anew. Times count from an event of this batch, since CUDA tells them as a float
 * of milliseconds. */
static inline cudaError_t rvprof_cuda_collect(rvprof_cuda_probes *probes)
{
	cudaError_t first = cudaSuccess;

	for (uint32_t i = 0; i < probes->count; i++) {
		const rvprof_cuda_probe *probe = &probes->probes[i];
		float since_ms = 0, ms = 0;
		cudaError_t error = cudaEventSynchronize(probe->end);

		if (error == cudaSuccess)
			error = cudaEventElapsedTime(&since_ms, probes->base, probe->begin);
		if (error == cudaSuccess)
			error = cudaEventElapsedTime(&ms, probe->begin, probe->end);
		if (error != cudaSuccess) {
			first = first == cudaSuccess ? error : first;
			probes->dropped++;
			continue;
		}
		const rvprof_timer_value value = {RVPROF_TIMER_EVENTS, probe->slot, 0, 0, probes->step++, 0, 1,
						  (uint64_t)((double)ms * 1e6),
						  probes->base_unix_ns + (uint64_t)((double)since_ms * 1e6),
						  probe->name, probe->category, probe->args};

		RVPROF_TELL_(timer(&value));
	}
	probes->count = 0;
	return first;
}

/* The base of a batch: an event that the stream has come to, and the host's clock then. */
static inline cudaError_t rvprof_cuda_base(rvprof_cuda_probes *probes, cudaStream_t stream)
{
	cudaError_t error = probes->base ? cudaSuccess : cudaEventCreate(&probes->base);

	if (error == cudaSuccess)
		error = cudaEventRecord(probes->base, stream);
	if (error == cudaSuccess)
		error = cudaEventSynchronize(probes->base);
	probes->base_unix_ns = rvprof_unix_ns();
	return error;
}

/* NULL: nothing is recorded, or there is no event. */
static inline rvprof_cuda_probe *rvprof_cuda_begin(rvprof_cuda_probes *probes, cudaStream_t stream, uint32_t slot,
						   const char *name, const char *category, const char *args)
{
	rvprof_cuda_probe *probe;
	cudaError_t error = cudaSuccess;

	if (!rvprof_active())
		return NULL;
	if (probes->count == RVPROF_CUDA_PROBES)
		rvprof_cuda_collect(probes);
	probe = &probes->probes[probes->count];
	if (!probes->count)
		error = rvprof_cuda_base(probes, stream);
	if (error == cudaSuccess && probes->count == probes->made) {
		error = cudaEventCreate(&probe->begin);
		if (error == cudaSuccess)
			error = cudaEventCreate(&probe->end);
		probes->made += error == cudaSuccess;
	}
	if (error == cudaSuccess)
		error = cudaEventRecord(probe->begin, stream);
	if (error != cudaSuccess) {
		probes->dropped++;
		return NULL;
	}
	probe->name = name;
	probe->category = category;
	probe->args = args;
	probe->slot = slot;
	return probe;
}

static inline void rvprof_cuda_end(rvprof_cuda_probes *probes, rvprof_cuda_probe *probe, cudaStream_t stream)
{
	if (!probe)
		return;
	if (cudaEventRecord(probe->end, stream) == cudaSuccess)
		probes->count++;
	else
		probes->dropped++;
}

/* RAF's WITH_CUDA_PROFILER: the code's work on `stream`, by a pair of events; it is told in rvprof_cuda_collect(probes), which waits,
 * or when RVPROF_CUDA_PROBES are there. Probes do not nest. */
#define RVPROF_WITH_CUDA_(number, probes, stream, name, category, args, ...)                                 \
	do {                                                                                                \
		rvprof_cuda_probe *RVPROF_JOIN_(rvprof_cuda_probe_, number) =                               \
		    rvprof_cuda_begin(probes, stream, 0, name, category, args);                             \
		__VA_ARGS__;                                                                                \
		rvprof_cuda_end(probes, RVPROF_JOIN_(rvprof_cuda_probe_, number), stream);                  \
	} while (0)
#define RVPROF_WITH_CUDA_AT_(number, ...) RVPROF_WITH_CUDA_(number, __VA_ARGS__)
#define RVPROF_WITH_CUDA_PROFILER(probes, stream, name, category, args, ...) \
	RVPROF_WITH_CUDA_AT_(__COUNTER__, probes, stream, name, category, args, __VA_ARGS__)

#endif
