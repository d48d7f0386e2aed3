/* SPDX-License-Identifier: MIT */
/* check_sim: the simulated CUDA by itself: a CUPTI client of its own sees what the description of each file
 * promises, and each fault of a scenario is the fault that it says. Each test is a process of its own with
 * its scenario. */
#include "cupti/abi.h"
#include "cupti/abi_callbacks.h"
#include "cupti/abi_driver.h"
#include "tests/fakes/driver.h"
#include "tests/fakes/runtime.h"

#include <check.h>
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { MOST = 4096, BUFFER_BYTES = 64 << 10 };

/* What the client sees. */
static struct rvp_cupti_kernel kernels[MOST];
static struct rvp_cupti_memory memories[MOST];
static struct rvp_cupti_graph_run graph_runs[MOST];
static unsigned int kernel_count, memory_count, graph_run_count, walk_end, stride, buffers_given;
static bool gives_null, calls_back;
static struct {
	uint32_t domain, cbid, site, correlation;
	uint64_t bytes, address;
} calls[MOST];
static unsigned int call_count;
static struct {
	uint64_t node, original;
	uint32_t cbid;
} nodes[MOST];
static unsigned int node_count;
static void *cuda, *cupti, *cudart;

#define CUPTI(name, ...)   ((uint32_t(*)(__VA_ARGS__))symbol(cupti, #name))
#define RUNTIME_CALL(name) ((__typeof__(&name))symbol(cudart, #name))
#define DRIVER_CALL(name)  ((__typeof__(&name))symbol(cuda, #name))

static void *symbol(void *library, const char *name)
{
	void *found = dlsym(library, name);

	ck_assert_msg(found != NULL, "no %s", name);
	return found;
}

static void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = NULL;
	*bytes = *most = 0;
	if (gives_null)
		return;
	*buffer = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*bytes = BUFFER_BYTES;
}

static void keep(const void *record)
{
	uint32_t kind = *(const uint32_t *)record, version = 0;

	CUPTI(cuptiGetVersion, uint32_t *)(&version);
	if (kind == RVP_CUPTI_CONCURRENT_KERNEL && kernel_count < MOST)
		memcpy(&kernels[kernel_count++], record,
		       version < RVP_CUPTI_13_0 ? offsetof(struct rvp_cupti_kernel, is_device_launched)
						: sizeof *kernels);
	if (kind == RVP_CUPTI_MEMORY2 && memory_count < MOST)
		memcpy(&memories[memory_count++], record, sizeof *memories);
	if (kind == RVP_CUPTI_GRAPH_TRACE && graph_run_count < MOST)
		memcpy(&graph_runs[graph_run_count++], record, sizeof *graph_runs);
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	void *record = NULL, *before = NULL;

	(void)context, (void)stream;
	buffers_given++;
	while ((walk_end = CUPTI(cuptiActivityGetNextRecord, uint8_t *, size_t, void **)(buffer, valid,
											 &record)) == 0) {
		keep(record);
		if (before)
			stride = (unsigned int)((uint8_t *)record - (uint8_t *)before);
		before = record;
	}
	if (calls_back)
		CUPTI(cuptiActivityFlushAll, uint32_t)(0);
	munmap(buffer, bytes);
}

static void called(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct rvp_cupti_api_data *api = data;
	const struct rvp_cupti_resource_data *resource = data;

	(void)user;
	if (domain == RVP_CUPTI_DOMAIN_RESOURCE) {
		const struct rvp_cupti_graph_data *graph = resource->descriptor;

		if (cbid == RVP_CUPTI_GRAPHNODE_CREATED || cbid == RVP_CUPTI_GRAPHNODE_CLONED) {
			nodes[node_count].cbid = cbid;
			CUPTI(cuptiGetGraphNodeId, void *, uint64_t *)(graph->node, &nodes[node_count].node);
			if (graph->original_node)
				CUPTI(cuptiGetGraphNodeId, void *, uint64_t *)
				(graph->original_node, &nodes[node_count].original);
			node_count++;
		}
		return;
	}
	calls[call_count].domain = domain, calls[call_count].cbid = cbid;
	calls[call_count].site = api->site, calls[call_count].correlation = api->correlation;
	if (domain == RVP_CUPTI_DOMAIN_DRIVER && cbid == RVP_CUPTI_cuMemAlloc_v2) {
		const struct rvp_cu_alloc *arguments = api->parameters;

		calls[call_count].bytes = arguments->bytes;
		if (api->site == RVP_CUPTI_EXIT)
			calls[call_count].address = *arguments->address;
	}
	call_count++;
}

/* The libraries, with a scenario; the driver is initialized. */
static void begin(const char *scenario, const char *version)
{
	char name[32] = "libcupti.so.";

	setenv("SIMCUDA", scenario, 1);
	unsetenv("CUDA_INJECTION64_PATH");
	cuda = dlopen("libcuda.so.1", RTLD_NOW);
	cudart = dlopen("libcudart.so.13", RTLD_NOW);
	cupti = dlopen(strcat(name, version), RTLD_NOW);
	ck_assert_msg(cuda && cudart && cupti, "%s", dlerror());
	ck_assert_uint_eq(DRIVER_CALL(cuInit)(0), CUDA_SUCCESS);
}

static void *subscriber;

static void follow(const uint32_t *kinds, size_t count)
{
	ck_assert_uint_eq(
	    CUPTI(cuptiSubscribe, void **, rvp_cupti_callback, void *)(&subscriber, called, NULL), 0);
	ck_assert_uint_eq(
	    CUPTI(cuptiActivityRegisterCallbacks, rvp_cupti_request, rvp_cupti_complete)(request, complete),
	    0);
	for (size_t i = 0; i < count; i++)
		ck_assert_uint_eq(CUPTI(cuptiActivityEnable, uint32_t)(kinds[i]), 0);
}
#define FOLLOW(...) \
	follow((const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void listen_to(uint32_t domain, uint32_t cbid)
{
	ck_assert_uint_eq(
	    CUPTI(cuptiEnableCallback, uint32_t, void *, uint32_t, uint32_t)(1, subscriber, domain, cbid), 0);
}

static void flush(uint32_t flag)
{
	ck_assert_uint_eq(CUPTI(cuptiActivityFlushAll, uint32_t)(flag), 0);
}

static uint64_t stamp(void)
{
	uint64_t now = 0;

	CUPTI(cuptiGetTimestamp, uint64_t *)(&now);
	return now;
}

static void launch(const char *name, CUstream stream)
{
	static char hosts[16];
	static const char *known[16];
	unsigned int i = 0;

	while (known[i] && strcmp(known[i], name) != 0)
		i++;
	if (!known[i]) {
		known[i] = name;
		RUNTIME_CALL(__cudaRegisterFunction)
		(NULL, &hosts[i], NULL, name, -1, NULL, NULL, NULL, NULL, NULL);
	}
	ck_assert_uint_eq(
	    RUNTIME_CALL(cudaLaunchKernel)(&hosts[i], (dim3){3, 2, 1}, (dim3){64, 1, 1}, NULL, 512, stream),
	    0);
}

START_TEST(a_call_and_what_it_calls_share_a_correlation)
{
	void *address = NULL;

	begin("", "13");
	FOLLOW(RVP_CUPTI_MEMORY2);
	listen_to(RVP_CUPTI_DOMAIN_DRIVER, RVP_CUPTI_cuMemAlloc_v2);
	listen_to(RVP_CUPTI_DOMAIN_RUNTIME, 20);
	ck_assert_uint_eq(RUNTIME_CALL(cudaMalloc)(&address, 1000), 0);
	ck_assert_uint_eq(RUNTIME_CALL(cudaMalloc)(&address, 3000), 0);
	ck_assert_uint_eq(call_count, 8);
	for (unsigned int i = 0; i < 8; i++) { /* runtime enter, driver enter, driver exit, runtime exit */
		static const uint32_t domains[] = {2, 1, 1, 2}, sites[] = {0, 0, 1, 1};

		ck_assert_uint_eq(calls[i].domain, domains[i % 4]);
		ck_assert_uint_eq(calls[i].site, sites[i % 4]);
		ck_assert_uint_eq(calls[i].correlation, calls[i / 4 * 4].correlation);
	}
	ck_assert_uint_gt(calls[4].correlation, calls[0].correlation);
	ck_assert_uint_eq(calls[1].bytes, 1000);
	ck_assert_uint_eq(calls[6].bytes, 3000);
	ck_assert_uint_eq(calls[6].address, (uintptr_t)address);
	flush(0);
	ck_assert_uint_eq(memory_count, 2);
	ck_assert_uint_eq(memories[1].address, (uintptr_t)address);
	ck_assert_uint_eq(memories[1].correlation, calls[4].correlation);
}
END_TEST

START_TEST(kernels_run_one_after_the_other_on_a_stream_and_beside_those_of_another)
{
	CUstream a, b;
	uint64_t before;

	begin("latency 100us; kernel long 2ms; kernel * 1ms", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	RUNTIME_CALL(cudaStreamCreateWithFlags)(&a, 1);
	RUNTIME_CALL(cudaStreamCreateWithFlags)(&b, 1);
	launch("first", a); /* the module is loaded by it */
	RUNTIME_CALL(cudaStreamSynchronize)(a);
	before = stamp();
	launch("long", a);
	launch("short", a);
	launch("other", b);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	ck_assert_uint_ge(stamp(), kernels[2].end);
	flush(0);
	ck_assert_uint_eq(kernel_count, 4);
	ck_assert_str_eq(kernels[1].name, "long");
	ck_assert_uint_eq(kernels[1].end - kernels[1].start, 2000000);
	ck_assert_uint_ge(kernels[1].start, before + 100000);
	ck_assert_uint_eq(kernels[2].start, kernels[1].end);
	ck_assert_uint_eq(kernels[2].end - kernels[2].start, 1000000);
	ck_assert_uint_lt(kernels[3].start, kernels[1].end);
	ck_assert_int_eq(kernels[1].grid_x, 3);
	ck_assert_int_eq(kernels[1].grid_y, 2);
	ck_assert_int_eq(kernels[1].block_x, 64);
	ck_assert_int_eq(kernels[1].dynamic_shared, 512);
	ck_assert_uint_ne(kernels[1].stream, kernels[3].stream);
}
END_TEST

START_TEST(the_default_stream_waits_for_all_and_they_for_it)
{
	CUstream a;

	begin("kernel * 1ms", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	RUNTIME_CALL(cudaStreamCreate)(&a);
	launch("on_a", a);
	launch("on_default", NULL);
	launch("on_a", a);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	flush(0);
	ck_assert_uint_ge(kernels[1].start, kernels[0].end);
	ck_assert_uint_ge(kernels[2].start, kernels[1].end);
	ck_assert_uint_eq(kernels[1].stream, 7);
}
END_TEST

START_TEST(a_flush_keeps_what_runs_and_a_forced_one_cuts_it_for_good)
{
	begin("kernel * 300ms", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	launch("slow", NULL);
	flush(0);
	ck_assert_uint_eq(kernel_count, 0);
	flush(1);
	ck_assert_uint_eq(kernel_count, 1);
	ck_assert_uint_eq(kernels[0].end, 0);
	ck_assert_uint_ne(kernels[0].start, 0);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	flush(1);
	ck_assert_uint_eq(kernel_count, 1);
}
END_TEST

START_TEST(full_buffers_come_by_themselves)
{
	begin("kernel * 1us", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	for (unsigned int i = 0; i < 3 * BUFFER_BYTES / 216; i++)
		launch("many", NULL);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	for (int i = 0; i < 200 && __atomic_load_n(&buffers_given, __ATOMIC_ACQUIRE) < 2; i++)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	ck_assert_uint_ge(__atomic_load_n(&buffers_given, __ATOMIC_ACQUIRE), 2);
	flush(1);
	ck_assert_uint_eq(kernel_count, 3 * BUFFER_BYTES / 216);
}
END_TEST

static void replay(void)
{
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;

	listen_to(RVP_CUPTI_DOMAIN_RESOURCE, RVP_CUPTI_GRAPHNODE_CREATED);
	listen_to(RVP_CUPTI_DOMAIN_RESOURCE, RVP_CUPTI_GRAPHNODE_CLONED);
	RUNTIME_CALL(cudaStreamCreateWithFlags)(&stream, 1);
	ck_assert_uint_eq(RUNTIME_CALL(cudaStreamBeginCapture)(stream, 0), 0);
	launch("one", stream);
	launch("two", stream);
	ck_assert_uint_eq(RUNTIME_CALL(cudaStreamEndCapture)(stream, &graph), 0);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGraphInstantiate)(&exec, graph, 0), 0);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGraphLaunch)(exec, stream), 0);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGraphLaunch)(exec, stream), 0);
	RUNTIME_CALL(cudaStreamSynchronize)(stream);
	flush(0);
}

START_TEST(nodes_of_a_launch_share_its_correlation_and_have_numbers)
{
	begin("", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	replay();
	ck_assert_uint_eq(kernel_count, 4); /* none while it was captured */
	ck_assert_uint_eq(kernels[0].correlation, kernels[1].correlation);
	ck_assert_uint_ne(kernels[0].correlation, kernels[2].correlation);
	ck_assert_uint_ne(kernels[0].graph_node, kernels[1].graph_node);
	ck_assert_uint_eq(kernels[0].graph_node, kernels[2].graph_node);
	ck_assert_uint_ne(kernels[0].graph, 0);
	ck_assert_uint_eq(node_count, 4);
	ck_assert_uint_eq(nodes[2].cbid, RVP_CUPTI_GRAPHNODE_CLONED);
	ck_assert_uint_eq(nodes[2].original, nodes[0].node);
	ck_assert_uint_eq(nodes[2].node, kernels[0].graph_node);
}
END_TEST

START_TEST(a_graph_as_a_whole_is_one_record_a_launch)
{
	begin("kernel * 1ms", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL, RVP_CUPTI_GRAPH_TRACE);
	replay();
	ck_assert_uint_eq(kernel_count, 0);
	ck_assert_uint_eq(graph_run_count, 2);
	ck_assert_uint_eq(graph_runs[0].end - graph_runs[0].start, 2000000);
	ck_assert_uint_ge(graph_runs[1].start, graph_runs[0].end);
}
END_TEST

static void strides(const char *scenario, const char *version, unsigned int expected)
{
	begin(scenario, version);
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	launch("a", NULL);
	launch("b", NULL);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	flush(1);
	ck_assert_uint_eq(kernel_count, 2);
	ck_assert_uint_eq(stride, expected);
	ck_assert_uint_eq(walk_end, RVP_CUPTI_MAX_LIMIT_REACHED);
	ck_assert_str_eq(kernels[1].name, "b");
	ck_assert_uint_eq(kernels[1].channel, 1);
}

START_TEST(records_are_as_long_as_the_version_has_them)
{
	static const struct {
		const char *scenario, *version;
		unsigned int bytes;
	} rows[] = {{"", "12", 208}, {"", "13", 216}, {"cupti 130300", "13", 232}, {"cupti 17", "12", 176}};

	strides(rows[_i].scenario, rows[_i].version, rows[_i].bytes);
}
END_TEST

START_TEST(an_unknown_kind_hides_what_is_behind_it)
{
	begin("fault unknown-kind after 2", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	for (int i = 0; i < 5; i++)
		launch("a", NULL);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	flush(1);
	ck_assert_uint_eq(kernel_count, 2);
	ck_assert_uint_eq(walk_end, RVP_CUPTI_INVALID_KIND);
}
END_TEST

START_TEST(times_can_be_zero_or_run_backward)
{
	begin(_i == 0 ? "fault zero-times after 1" : "fault backward after 1", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	launch("a", NULL);
	launch("a", NULL);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	flush(1);
	ck_assert_uint_eq(kernel_count, 2);
	ck_assert_uint_gt(kernels[0].end, kernels[0].start);
	if (_i == 0)
		ck_assert_uint_eq(kernels[1].start | kernels[1].end, 0);
	else
		ck_assert_uint_lt(kernels[1].end, kernels[1].start);
}
END_TEST

START_TEST(without_a_buffer_a_record_is_dropped_and_counted)
{
	size_t dropped = 0;

	begin("fault dropped 5", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	gives_null = true;
	launch("a", NULL);
	launch("a", NULL);
	CUPTI(cuptiActivityGetNumDroppedRecords, void *, uint32_t, size_t *)(NULL, 0, &dropped);
	ck_assert_uint_eq(dropped, 7);
	CUPTI(cuptiActivityGetNumDroppedRecords, void *, uint32_t, size_t *)(NULL, 0, &dropped);
	ck_assert_uint_eq(dropped, 0);
}
END_TEST

START_TEST(an_old_version_does_not_survive_it)
{
	begin("cupti 26", "12");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	gives_null = true;
	launch("a", NULL);
}
END_TEST

START_TEST(a_call_under_the_buffer_lock_is_found_out)
{
	begin("", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	calls_back = true;
	launch("a", NULL);
	flush(1);
}
END_TEST

START_TEST(there_is_one_subscriber)
{
	char old[64] = "";
	struct rvp_cupti_subscriber names = {sizeof names, "us", old, sizeof old};
	void *mine = NULL;

	begin(_i == 0 ? "fault subscriber \"nsys\"" : "", "13");
	if (_i == 1)
		ck_assert_uint_eq(CUPTI(cuptiSubscribe_v2, void **, rvp_cupti_callback, void *,
					void *)(&mine, called, NULL, &names),
				  0);
	names.name = "another";
	ck_assert_uint_eq(CUPTI(cuptiSubscribe_v2, void **, rvp_cupti_callback, void *, void *)(&mine, called,
												NULL, &names),
			  RVP_CUPTI_MULTIPLE_SUBSCRIBERS);
	ck_assert_str_eq(old, _i == 0 ? "nsys" : "us");
}
END_TEST

START_TEST(errors_of_cupti_are_what_the_scenario_says)
{
	static const struct {
		const char *scenario;
		uint32_t subscribe, enable;
	} rows[] = {{"fault unusable", 999, 999},
		    {"fault subscribe 41", 41, 0},
		    {"fault enable 10 35", 0, 35},
		    {"fault enable all 43", 0, 43}};

	begin(rows[_i].scenario, "13");
	ck_assert_uint_eq(
	    CUPTI(cuptiSubscribe, void **, rvp_cupti_callback, void *)(&subscriber, called, NULL),
	    rows[_i].subscribe);
	ck_assert_uint_eq(CUPTI(cuptiActivityEnable, uint32_t)(RVP_CUPTI_CONCURRENT_KERNEL), rows[_i].enable);
}
END_TEST

START_TEST(memory_is_counted_in_pages_and_comes_back)
{
	size_t at_first, with_one, with_two, total, at_last;
	void *a, *b;

	begin("memory 1GiB; others 100MiB; context 100MiB", "13");
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

	begin(scenarios[_i], "13");
	for (int i = 0; i < 4; i++) {
		void *address;

		ck_assert_uint_eq(RUNTIME_CALL(cudaMalloc)(&address, bytes[i]), expected[_i][i]);
	}
}
END_TEST

START_TEST(nobody_reads_device_memory)
{
	volatile char *address = NULL;

	begin("", "13");
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

	begin("", "13");
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

	begin("", "13");
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

	begin("clock 10s; fault clock-step -1s after 2", "13");
	clock_gettime(CLOCK_REALTIME, &host);
	ahead = (int64_t)stamp() - (int64_t)host.tv_sec * 1000000000 - host.tv_nsec;
	ck_assert_int_ge(ahead, 9900000000);
	ck_assert_int_le(ahead, 10900000000);
	launch("a", NULL);
	launch("a", NULL);
	clock_gettime(CLOCK_REALTIME, &host);
	stepped = (int64_t)stamp() - (int64_t)host.tv_sec * 1000000000 - host.tv_nsec;
	ck_assert_int_ge(ahead - stepped, 900000000);
	ck_assert_int_le(ahead - stepped, 1100000000);
}
END_TEST

START_TEST(a_lost_device_stays_lost)
{
	CUfunction kernel = NULL;
	static char host;
	void *address;

	begin("fault lost 719 after 3", "13");
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
	cudart = dlopen("libcudart.so.13", RTLD_NOW);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGetDeviceCount)(&count), CUDA_ERROR_NO_DEVICE);
	ck_assert_uint_eq(RUNTIME_CALL(cudaMalloc)(&address, 1), CUDA_ERROR_NO_DEVICE);
}
END_TEST

START_TEST(functions_are_found_by_name_version_and_flags)
{
	void *found = NULL;
	CUdriverProcAddressQueryResult result;

	begin("driver 12000", "13");
	ck_assert_uint_eq(DRIVER_CALL(cuGetProcAddress_v2)("cuMemAlloc", &found, 3020, 0, &result), 0);
	ck_assert_ptr_eq(found, symbol(cuda, "cuMemAlloc_v2"));
	ck_assert_uint_eq(DRIVER_CALL(cuGetProcAddress_v2)("cuLaunchKernel", &found, 7000, 2, &result), 0);
	ck_assert_ptr_eq(found, symbol(cuda, "cuLaunchKernel_ptsz"));
	ck_assert_uint_eq(DRIVER_CALL(cuGetProcAddress_v2)("cuLaunchKernel", &found, 7000, 0, &result), 0);
	ck_assert_ptr_eq(found, symbol(cuda, "cuLaunchKernel"));
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

	begin(_i == 0 ? "others 1GiB" : "others 1GiB; nvml container", "13");
	RUNTIME_CALL(cudaMalloc)(&address, 10 << 20);
	nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
	ck_assert_int_eq(((int (*)(void))symbol(nvml, "nvmlInit_v2"))(), 0);
	ck_assert_int_eq(
	    ((int (*)(unsigned int, void **))symbol(nvml, "nvmlDeviceGetHandleByIndex_v2"))(0, &device), 0);
	ck_assert_int_eq(((int (*)(void *, unsigned int *, void *))symbol(
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
	    {"nvml maybe", "scenario x:1: expected plain, absent, container or no-processes, met \"maybe\""},
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
	Suite *suite = suite_create("sim");
	TCase *all = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_test(all, a_call_and_what_it_calls_share_a_correlation);
	tcase_add_test(all, kernels_run_one_after_the_other_on_a_stream_and_beside_those_of_another);
	tcase_add_test(all, the_default_stream_waits_for_all_and_they_for_it);
	tcase_add_test(all, a_flush_keeps_what_runs_and_a_forced_one_cuts_it_for_good);
	tcase_add_test(all, full_buffers_come_by_themselves);
	tcase_add_test(all, nodes_of_a_launch_share_its_correlation_and_have_numbers);
	tcase_add_test(all, a_graph_as_a_whole_is_one_record_a_launch);
	tcase_add_loop_test(all, records_are_as_long_as_the_version_has_them, 0, 4);
	tcase_add_test(all, an_unknown_kind_hides_what_is_behind_it);
	tcase_add_loop_test(all, times_can_be_zero_or_run_backward, 0, 2);
	tcase_add_test(all, without_a_buffer_a_record_is_dropped_and_counted);
	tcase_add_test_raise_signal(all, an_old_version_does_not_survive_it, SIGABRT);
	tcase_add_test_raise_signal(all, a_call_under_the_buffer_lock_is_found_out, SIGABRT);
	tcase_add_loop_test(all, there_is_one_subscriber, 0, 2);
	tcase_add_loop_test(all, errors_of_cupti_are_what_the_scenario_says, 0, 4);
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
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
