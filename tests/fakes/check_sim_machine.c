/* SPDX-License-Identifier: MIT */
/* check_sim_machine: the simulated machine by itself: memory, clock, driver, NVML, and the language of
 * scenarios. */
#include "tests/fakes/sim_client.h"
#include "tests/unit/run_suite.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

START_TEST(memory_is_counted_in_pages_and_comes_back)
{
	size_t at_first, with_one, with_two, total, at_last;
	void *a, *b;

	sim_open("memory 1GiB; others 100MiB; context 100MiB", "13");
	RUNTIME_CALL(cudaMemGetInfo)(&at_first, &total);
	ck_assert_uint_eq(total, 1 << 30);
	ck_assert_uint_eq(at_first, (1 << 30) - (200 << 20));
	RUNTIME_CALL(cudaMalloc)(&a, 100);
	RUNTIME_CALL(cudaMemGetInfo)(&with_one, &total);
	RUNTIME_CALL(cudaMalloc)(&b, 100);
	RUNTIME_CALL(cudaMemGetInfo)(&with_two, &total);
	ck_assert_uint_eq(at_first - with_one, 2 << 20);
	ck_assert_uint_eq(with_two, with_one);
	ck_assert_uint_eq((uintptr_t)a % 256, 0);
	RUNTIME_CALL(cudaFree)(a);
	RUNTIME_CALL(cudaFree)(b);
	RUNTIME_CALL(cudaMemGetInfo)(&at_last, &total);
	ck_assert_uint_eq(at_last, at_first);
	ck_assert_uint_eq(RUNTIME_CALL(cudaMalloc)(&a, at_last + 1), CUDA_ERROR_OUT_OF_MEMORY);
	ck_assert_uint_eq(RUNTIME_CALL(cudaFree)((void *)8), CUDA_ERROR_INVALID_VALUE);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGetLastError)(), CUDA_ERROR_INVALID_VALUE);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGetLastError)(), 0);
}
END_TEST

START_TEST(memory_is_refused_where_the_scenario_says)
{
	static const char *const scenarios[] = {"fault out-of-memory at 2", "fault out-of-memory every 2",
						"fault out-of-memory above 1MiB"};
	static const cudaError_t expected[3][4] = {{0, 2, 0, 0}, {0, 2, 0, 2}, {0, 0, 2, 0}};
	static const size_t bytes[] = {100, 1 << 20, (1 << 20) + 1, 200};

	sim_open(scenarios[_i], "13");
	for (int i = 0; i < 4; i++) {
		void *address;

		ck_assert_uint_eq(RUNTIME_CALL(cudaMalloc)(&address, bytes[i]), expected[_i][i]);
	}
}
END_TEST

START_TEST(nobody_reads_device_memory)
{
	volatile char *address = NULL;

	sim_open("", "13");
	RUNTIME_CALL(cudaMalloc)((void **)&address, 100);
	*address = 1;
}
END_TEST

START_TEST(a_pool_keeps_up_to_its_threshold)
{
	CUmemoryPool pool;
	CUstream stream;
	void *address;
	unsigned long long reserved = 0, keep = _i == 0 ? 0 : 1 << 30;

	sim_open("", "13");
	RUNTIME_CALL(cudaStreamCreate)(&stream);
	RUNTIME_CALL(cudaDeviceGetDefaultMemPool)(&pool, 0);
	RUNTIME_CALL(cudaMemPoolSetAttribute)(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);
	ck_assert_uint_eq(RUNTIME_CALL(cudaMallocAsync)(&address, 5000, stream), 0);
	RUNTIME_CALL(cudaMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved);
	ck_assert_uint_eq(reserved, 32 << 20);
	ck_assert_uint_eq(RUNTIME_CALL(cudaFreeAsync)(address, stream), 0);
	RUNTIME_CALL(cudaStreamSynchronize)(stream);
	RUNTIME_CALL(cudaMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved);
	ck_assert_uint_eq(reserved, _i == 0 ? 0 : 32 << 20);
	RUNTIME_CALL(cudaMemPoolTrimTo)(pool, 0);
	RUNTIME_CALL(cudaMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved);
	ck_assert_uint_eq(reserved, 0);
}
END_TEST

START_TEST(physical_memory_lives_while_it_is_mapped)
{
	CUmemAllocationProp properties = {.type = 1, .location = {CU_LOCATION_DEVICE, 0}};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr base;
	size_t before, with, mapped, after, total;

	sim_open("", "13");
	RUNTIME_CALL(cudaMemGetInfo)(&before, &total);
	ck_assert_uint_eq(DRIVER_CALL(cuMemAddressReserve)(&base, 8 << 20, 0, 0, 0), 0);
	ck_assert_uint_eq(DRIVER_CALL(cuMemCreate)(&handle, 4 << 20, &properties, 0), 0);
	RUNTIME_CALL(cudaMemGetInfo)(&with, &total);
	ck_assert_uint_eq(before - with, 4 << 20);
	ck_assert_uint_eq(DRIVER_CALL(cuMemMap)(base, 4 << 20, 0, handle, 0), 0);
	ck_assert_uint_eq(DRIVER_CALL(cuMemRelease)(handle), 0);
	RUNTIME_CALL(cudaMemGetInfo)(&mapped, &total);
	ck_assert_uint_eq(mapped, with);
	ck_assert_uint_eq(DRIVER_CALL(cuMemUnmap)(base, 4 << 20), 0);
	RUNTIME_CALL(cudaMemGetInfo)(&after, &total);
	ck_assert_uint_eq(after, before);
}
END_TEST

START_TEST(the_clock_is_ahead_and_steps)
{
	struct timespec host;
	int64_t ahead, stepped;

	sim_open("clock 10s; fault clock-step -1s after 2", "13");
	clock_gettime(CLOCK_REALTIME, &host);
	ahead = (int64_t)sim_stamp() - (int64_t)host.tv_sec * 1000000000 - host.tv_nsec;
	ck_assert_int_ge(ahead, 9900000000);
	ck_assert_int_le(ahead, 10900000000);
	sim_launch("a", NULL);
	sim_launch("a", NULL);
	clock_gettime(CLOCK_REALTIME, &host);
	stepped = (int64_t)sim_stamp() - (int64_t)host.tv_sec * 1000000000 - host.tv_nsec;
	ck_assert_int_ge(ahead - stepped, 900000000);
	ck_assert_int_le(ahead - stepped, 1100000000);
}
END_TEST

START_TEST(a_lost_device_stays_lost)
{
	CUfunction kernel = NULL;
	static char host;
	void *address;

	sim_open("fault lost 719 after 3", "13");
	RUNTIME_CALL(__cudaRegisterFunction)(NULL, &host, NULL, "k", -1, NULL, NULL, NULL, NULL, NULL);
	ck_assert_uint_eq(RUNTIME_CALL(__cudaGetKernel)(&kernel, &host), 0);
	for (int i = 0; i < 4; i++)
		ck_assert_uint_eq(
		    RUNTIME_CALL(__cudaLaunchKernel)(kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL),
		    i < 2 ? 0 : 719);
	ck_assert_uint_eq(RUNTIME_CALL(cudaMalloc)(&address, 1), 719);
	ck_assert_uint_eq(RUNTIME_CALL(cudaDeviceSynchronize)(), 719);
}
END_TEST

START_TEST(without_a_gpu_every_call_says_so)
{
	int count;
	void *address;

	setenv("SIMCUDA", "fault init 100", 1);
	sim_cudart = dlopen("libcudart.so.13", RTLD_NOW);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGetDeviceCount)(&count), CUDA_ERROR_NO_DEVICE);
	ck_assert_uint_eq(RUNTIME_CALL(cudaMalloc)(&address, 1), CUDA_ERROR_NO_DEVICE);
}
END_TEST

START_TEST(functions_are_found_by_name_version_and_flags)
{
	void *found = NULL;
	CUdriverProcAddressQueryResult result;

	sim_open("driver 12000", "13");
	ck_assert_uint_eq(DRIVER_CALL(cuGetProcAddress_v2)("cuMemAlloc", &found, 3020, 0, &result), 0);
	ck_assert_ptr_eq(found, sim_symbol(sim_cuda, "cuMemAlloc_v2"));
	ck_assert_uint_eq(DRIVER_CALL(cuGetProcAddress_v2)("cuLaunchKernel", &found, 7000, 2, &result), 0);
	ck_assert_ptr_eq(found, sim_symbol(sim_cuda, "cuLaunchKernel_ptsz"));
	ck_assert_uint_eq(DRIVER_CALL(cuGetProcAddress_v2)("cuLaunchKernel", &found, 7000, 0, &result), 0);
	ck_assert_ptr_eq(found, sim_symbol(sim_cuda, "cuLaunchKernel"));
	ck_assert_uint_eq(DRIVER_CALL(cuGetProcAddress_v2)("cuFuncGetName", &found, 13000, 0, &result),
			  CUDA_ERROR_NOT_FOUND);
	ck_assert_uint_eq(result, 2); /* the driver is too old */
	ck_assert_uint_eq(DRIVER_CALL(cuGetProcAddress_v2)("cuNothing", &found, 13000, 0, &result),
			  CUDA_ERROR_NOT_FOUND);
	ck_assert_uint_eq(result, 1);
}
END_TEST

START_TEST(nvml_tells_this_process_and_others)
{
	struct {
		unsigned int pid;
		unsigned long long bytes;
		unsigned int unused[2];
	} rows[4];
	unsigned int count = 4;
	void *nvml, *device, *address;

	sim_open(_i == 0 ? "others 1GiB" : "others 1GiB; nvml container", "13");
	RUNTIME_CALL(cudaMalloc)(&address, 10 << 20);
	nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	ck_assert_int_eq(((int (*)(void))sim_symbol(nvml, "nvmlInit_v2"))(), 0);
	ck_assert_int_eq(
	    ((int (*)(unsigned int, void **))sim_symbol(nvml, "nvmlDeviceGetHandleByIndex_v2"))(0, &device),
	    0);
	ck_assert_int_eq(((int (*)(void *, unsigned int *, void *))sim_symbol(
			     nvml, "nvmlDeviceGetComputeRunningProcesses_v3"))(device, &count, rows),
			 0);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(rows[0].pid == (unsigned int)getpid(), _i == 0);
	ck_assert_uint_eq(rows[0].bytes, (256 << 20) + (10 << 20));
	ck_assert_uint_eq(rows[1].bytes, 1 << 30);
}
END_TEST

START_TEST(a_scenario_that_cannot_be_read_says_where)
{
	static const struct {
		const char *text, *complaint;
	} rows[] = {
	    {"devices 2\nmemory big\n", "scenario x:2: expected a size (8GiB, 512MiB, ..), met \"big\""},
	    {"devices 9", "scenario x:1: expected 1 to 8 devices, met \"9\""},
	    {"\n\nseed", "scenario x:3: expected a number, met \"the end of the line\""},
	    {"kernel a 5us..1us",
	     "scenario x:1: expected a span whose end is not before its begin, met \"1us\""},
	    {"fault zero-times 5", "scenario x:1: expected `after`, met \"5\""},
	    {"latency 5us 6us", "scenario x:1: expected the end of the statement, met \"6us\""},
	    {"nvml maybe", "scenario x:1: expected plain, absent, container, no-processes, no-energy or no-power, met \"maybe\""},
	};
	struct sim_scenario scenario;
	char complaint[512] = "";

	ck_assert(!sim_scenario_read(&scenario, "x", rows[_i].text, complaint, sizeof complaint));
	ck_assert_str_eq(complaint, rows[_i].complaint);
}
END_TEST

START_TEST(a_scenario_is_read)
{
	struct sim_scenario scenario;
	char complaint[512] = "";

	ck_assert_msg(
	    sim_scenario_read(
		&scenario, "x",
		"# a machine\ndevices 2; memory 2GiB # each\nmodel \"A GPU\"\nkernel gemm* 3us..4us\n"
		"clock -250ms\nfault lost 719 after 7\nfault subscriber nsys\n",
		complaint, sizeof complaint),
	    "%s", complaint);
	ck_assert_uint_eq(scenario.devices, 2);
	ck_assert_uint_eq(scenario.memory_bytes, 2ULL << 30);
	ck_assert_str_eq(scenario.model, "A GPU");
	ck_assert_str_eq(scenario.rules[0].pattern, "gemm*");
	ck_assert_uint_eq(scenario.rules[0].most_ns, 4000);
	ck_assert_int_eq(scenario.clock_offset_ns, -250000000);
	ck_assert_uint_eq(scenario.lost_error, 719);
	ck_assert_uint_eq(scenario.lost_after, 7);
	ck_assert_str_eq(scenario.subscriber, "nsys");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_machine");
	TCase *all = tcase_create("all");

	tcase_add_test(all, memory_is_counted_in_pages_and_comes_back);
	tcase_add_loop_test(all, memory_is_refused_where_the_scenario_says, 0, 3);
	tcase_add_test_raise_signal(all, nobody_reads_device_memory, SIGSEGV);
	tcase_add_loop_test(all, a_pool_keeps_up_to_its_threshold, 0, 2);
	tcase_add_test(all, physical_memory_lives_while_it_is_mapped);
	tcase_add_test(all, the_clock_is_ahead_and_steps);
	tcase_add_test(all, a_lost_device_stays_lost);
	tcase_add_test(all, without_a_gpu_every_call_says_so);
	tcase_add_test(all, functions_are_found_by_name_version_and_flags);
	tcase_add_loop_test(all, nvml_tells_this_process_and_others, 0, 2);
	tcase_add_loop_test(all, a_scenario_that_cannot_be_read_says_where, 0, 7);
	tcase_add_test(all, a_scenario_is_read);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
