/* SPDX-License-Identifier: MIT */
/* check_sim: the simulated CUPTI by itself: calls, the timeline, buffers, graphs, versions, faults of its
 * own. */
#include "tests/fakes/sim_client.h"
#include "tests/unit/run_suite.h"

#include <signal.h>
#include <string.h>
#include <time.h>

START_TEST(a_call_and_what_it_calls_share_a_correlation)
{
	void *address = NULL;

	sim_open("", "13");
	FOLLOW(RVP_CUPTI_MEMORY2);
	sim_listen(RVP_CUPTI_DOMAIN_DRIVER, RVP_CUPTI_cuMemAlloc_v2);
	sim_listen(RVP_CUPTI_DOMAIN_RUNTIME, 20);
	ck_assert_uint_eq(RUNTIME_CALL(cudaMalloc)(&address, 1000), 0);
	ck_assert_uint_eq(RUNTIME_CALL(cudaMalloc)(&address, 3000), 0);
	ck_assert_uint_eq(seen.call_count, 8);
	for (unsigned int i = 0; i < 8; i++) { /* runtime enter, driver enter, driver exit, runtime exit */
		static const uint32_t domains[] = {2, 1, 1, 2}, sites[] = {0, 0, 1, 1};

		ck_assert_uint_eq(seen.calls[i].domain, domains[i % 4]);
		ck_assert_uint_eq(seen.calls[i].site, sites[i % 4]);
		ck_assert_uint_eq(seen.calls[i].correlation, seen.calls[i / 4 * 4].correlation);
	}
	ck_assert_uint_gt(seen.calls[4].correlation, seen.calls[0].correlation);
	ck_assert_uint_eq(seen.calls[1].bytes, 1000);
	ck_assert_uint_eq(seen.calls[6].bytes, 3000);
	ck_assert_uint_eq(seen.calls[6].address, (uintptr_t)address);
	sim_flush(0);
	ck_assert_uint_eq(seen.memory_count, 2);
	ck_assert_uint_eq(seen.memories[1].address, (uintptr_t)address);
	ck_assert_uint_eq(seen.memories[1].correlation, seen.calls[4].correlation);
}
END_TEST

START_TEST(kernels_run_one_after_the_other_on_a_stream_and_beside_those_of_another)
{
	CUstream a, b;
	uint64_t before;

	sim_open("latency 100us; kernel long 2ms; kernel * 1ms", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	RUNTIME_CALL(cudaStreamCreateWithFlags)(&a, 1);
	RUNTIME_CALL(cudaStreamCreateWithFlags)(&b, 1);
	sim_launch("first", a); /* the module is loaded by it */
	RUNTIME_CALL(cudaStreamSynchronize)(a);
	before = sim_stamp();
	sim_launch("long", a);
	sim_launch("short", a);
	sim_launch("other", b);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	ck_assert_uint_ge(sim_stamp(), seen.kernels[2].end);
	sim_flush(0);
	ck_assert_uint_eq(seen.kernel_count, 4);
	ck_assert_str_eq(seen.kernels[1].name, "long");
	ck_assert_uint_eq(seen.kernels[1].end - seen.kernels[1].start, 2000000);
	ck_assert_uint_ge(seen.kernels[1].start, before + 100000);
	ck_assert_uint_eq(seen.kernels[2].start, seen.kernels[1].end);
	ck_assert_uint_eq(seen.kernels[2].end - seen.kernels[2].start, 1000000);
	ck_assert_uint_lt(seen.kernels[3].start, seen.kernels[1].end);
	ck_assert_int_eq(seen.kernels[1].grid_x, 3);
	ck_assert_int_eq(seen.kernels[1].grid_y, 2);
	ck_assert_int_eq(seen.kernels[1].block_x, 64);
	ck_assert_int_eq(seen.kernels[1].dynamic_shared, 512);
	ck_assert_uint_ne(seen.kernels[1].stream, seen.kernels[3].stream);
}
END_TEST

START_TEST(the_default_stream_waits_for_all_and_they_for_it)
{
	CUstream a;

	sim_open("kernel * 1ms", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	RUNTIME_CALL(cudaStreamCreate)(&a);
	sim_launch("on_a", a);
	sim_launch("on_default", NULL);
	sim_launch("on_a", a);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	sim_flush(0);
	ck_assert_uint_ge(seen.kernels[1].start, seen.kernels[0].end);
	ck_assert_uint_ge(seen.kernels[2].start, seen.kernels[1].end);
	ck_assert_uint_eq(seen.kernels[1].stream, 7);
}
END_TEST

START_TEST(a_flush_keeps_what_runs_and_a_forced_one_cuts_it_for_good)
{
	sim_open("kernel * 300ms", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	sim_launch("slow", NULL);
	sim_flush(0);
	ck_assert_uint_eq(seen.kernel_count, 0);
	sim_flush(1);
	ck_assert_uint_eq(seen.kernel_count, 1);
	ck_assert_uint_eq(seen.kernels[0].end, 0);
	ck_assert_uint_ne(seen.kernels[0].start, 0);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	sim_flush(1);
	ck_assert_uint_eq(seen.kernel_count, 1);
}
END_TEST

START_TEST(full_buffers_come_by_themselves)
{
	sim_open("kernel * 1us", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	for (unsigned int i = 0; i < 3 * SEEN_BUFFER_BYTES / 216; i++)
		sim_launch("many", NULL);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	for (int i = 0; i < 200 && __atomic_load_n(&seen.buffers, __ATOMIC_ACQUIRE) < 2; i++)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	ck_assert_uint_ge(__atomic_load_n(&seen.buffers, __ATOMIC_ACQUIRE), 2);
	sim_flush(1);
	ck_assert_uint_eq(seen.kernel_count, 3 * SEEN_BUFFER_BYTES / 216);
}
END_TEST

static void replay(void)
{
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;

	sim_listen(RVP_CUPTI_DOMAIN_RESOURCE, RVP_CUPTI_GRAPHNODE_CREATED);
	sim_listen(RVP_CUPTI_DOMAIN_RESOURCE, RVP_CUPTI_GRAPHNODE_CLONED);
	RUNTIME_CALL(cudaStreamCreateWithFlags)(&stream, 1);
	ck_assert_uint_eq(RUNTIME_CALL(cudaStreamBeginCapture)(stream, 0), 0);
	sim_launch("one", stream);
	sim_launch("two", stream);
	ck_assert_uint_eq(RUNTIME_CALL(cudaStreamEndCapture)(stream, &graph), 0);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGraphInstantiate)(&exec, graph, 0), 0);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGraphLaunch)(exec, stream), 0);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGraphLaunch)(exec, stream), 0);
	RUNTIME_CALL(cudaStreamSynchronize)(stream);
	sim_flush(0);
}

START_TEST(nodes_of_a_launch_share_its_correlation_and_have_numbers)
{
	sim_open("", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	replay();
	ck_assert_uint_eq(seen.kernel_count, 4); /* none while it was captured */
	ck_assert_uint_eq(seen.kernels[0].correlation, seen.kernels[1].correlation);
	ck_assert_uint_ne(seen.kernels[0].correlation, seen.kernels[2].correlation);
	ck_assert_uint_ne(seen.kernels[0].graph_node, seen.kernels[1].graph_node);
	ck_assert_uint_eq(seen.kernels[0].graph_node, seen.kernels[2].graph_node);
	ck_assert_uint_ne(seen.kernels[0].graph, 0);
	ck_assert_uint_eq(seen.node_count, 4);
	ck_assert_uint_eq(seen.nodes[2].cbid, RVP_CUPTI_GRAPHNODE_CLONED);
	ck_assert_uint_eq(seen.nodes[2].original, seen.nodes[0].node);
	ck_assert_uint_eq(seen.nodes[2].node, seen.kernels[0].graph_node);
}
END_TEST

START_TEST(a_stream_that_waits_for_a_capture_joins_it)
{
	CUstream first, second;
	CUevent forked, joined;
	CUgraph graph;
	CUgraphExec exec;
	size_t count = 0;

	sim_open("", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	RUNTIME_CALL(cudaStreamCreateWithFlags)(&first, 1);
	RUNTIME_CALL(cudaStreamCreateWithFlags)(&second, 1);
	RUNTIME_CALL(cudaEventCreate)(&forked);
	RUNTIME_CALL(cudaEventCreate)(&joined);
	ck_assert_uint_eq(RUNTIME_CALL(cudaStreamBeginCapture)(first, 0), 0);
	RUNTIME_CALL(cudaEventRecord)(forked, first);
	RUNTIME_CALL(cudaStreamWaitEvent)(second, forked, 0);
	sim_launch("one", first);
	sim_launch("two", second);
	RUNTIME_CALL(cudaEventRecord)(joined, second);
	RUNTIME_CALL(cudaStreamWaitEvent)(first, joined, 0);
	ck_assert_uint_eq(RUNTIME_CALL(cudaStreamEndCapture)(first, &graph), 0);
	RUNTIME_CALL(cudaGraphGetNodes)(graph, NULL, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGraphInstantiate)(&exec, graph, 0), 0);
	ck_assert_uint_eq(RUNTIME_CALL(cudaGraphLaunch)(exec, first), 0);
	sim_launch("three", second); /* captured no more */
	RUNTIME_CALL(cudaDeviceSynchronize)();
	sim_flush(0);
	ck_assert_uint_eq(seen.kernel_count, 3);
	ck_assert_uint_eq(seen.kernels[2].graph, 0);
}
END_TEST

START_TEST(a_graph_as_a_whole_is_one_record_a_launch)
{
	sim_open("kernel * 1ms", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL, RVP_CUPTI_GRAPH_TRACE);
	replay();
	ck_assert_uint_eq(seen.kernel_count, 0);
	ck_assert_uint_eq(seen.graph_run_count, 2);
	ck_assert_uint_eq(seen.graph_runs[0].end - seen.graph_runs[0].start, 2000000);
	ck_assert_uint_ge(seen.graph_runs[1].start, seen.graph_runs[0].end);
}
END_TEST

static void strides(const char *scenario, const char *version, unsigned int expected)
{
	sim_open(scenario, version);
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	sim_launch("a", NULL);
	sim_launch("b", NULL);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	sim_flush(1);
	ck_assert_uint_eq(seen.kernel_count, 2);
	ck_assert_uint_eq(seen.stride, expected);
	ck_assert_uint_eq(seen.walk_end, RVP_CUPTI_MAX_LIMIT_REACHED);
	ck_assert_str_eq(seen.kernels[1].name, "b");
	ck_assert_uint_eq(seen.kernels[1].channel, 1);
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
	sim_open("fault unknown-kind after 2", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	for (int i = 0; i < 5; i++)
		sim_launch("a", NULL);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	sim_flush(1);
	ck_assert_uint_eq(seen.kernel_count, 2);
	ck_assert_uint_eq(seen.walk_end, RVP_CUPTI_INVALID_KIND);
}
END_TEST

START_TEST(times_can_be_zero_or_run_backward)
{
	sim_open(_i == 0 ? "fault zero-times after 1" : "fault backward after 1", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	sim_launch("a", NULL);
	sim_launch("a", NULL);
	RUNTIME_CALL(cudaDeviceSynchronize)();
	sim_flush(1);
	ck_assert_uint_eq(seen.kernel_count, 2);
	ck_assert_uint_gt(seen.kernels[0].end, seen.kernels[0].start);
	if (_i == 0)
		ck_assert_uint_eq(seen.kernels[1].start | seen.kernels[1].end, 0);
	else
		ck_assert_uint_lt(seen.kernels[1].end, seen.kernels[1].start);
}
END_TEST

START_TEST(without_a_buffer_a_record_is_dropped_and_counted)
{
	size_t dropped = 0;

	sim_open("fault dropped 5", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	seen.gives_null = true;
	sim_launch("a", NULL);
	sim_launch("a", NULL);
	CUPTI(cuptiActivityGetNumDroppedRecords, void *, uint32_t, size_t *)(NULL, 0, &dropped);
	ck_assert_uint_eq(dropped, 7);
	CUPTI(cuptiActivityGetNumDroppedRecords, void *, uint32_t, size_t *)(NULL, 0, &dropped);
	ck_assert_uint_eq(dropped, 0);
}
END_TEST

START_TEST(an_old_version_does_not_survive_it)
{
	sim_open("cupti 26", "12");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	seen.gives_null = true;
	sim_launch("a", NULL);
}
END_TEST

START_TEST(a_call_under_the_buffer_lock_is_found_out)
{
	sim_open("", "13");
	FOLLOW(RVP_CUPTI_CONCURRENT_KERNEL);
	seen.calls_back = true;
	sim_launch("a", NULL);
	sim_flush(1);
}
END_TEST

START_TEST(there_is_one_subscriber)
{
	char old[64] = "";
	struct rvp_cupti_subscriber names = {sizeof names, "us", old, sizeof old};
	void *mine = NULL;

	sim_open(_i == 0 ? "fault subscriber \"nsys\"" : "", "13");
	if (_i == 1)
		ck_assert_uint_eq(CUPTI(cuptiSubscribe_v2, void **, rvp_cupti_callback, void *,
					void *)(&mine, sim_callback, NULL, &names),
				  0);
	names.name = "another";
	ck_assert_uint_eq(CUPTI(cuptiSubscribe_v2, void **, rvp_cupti_callback, void *,
				void *)(&mine, sim_callback, NULL, &names),
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

	sim_open(rows[_i].scenario, "13");
	ck_assert_uint_eq(
	    CUPTI(cuptiSubscribe, void **, rvp_cupti_callback, void *)(&sim_subscriber, sim_callback, NULL),
	    rows[_i].subscribe);
	ck_assert_uint_eq(CUPTI(cuptiActivityEnable, uint32_t)(RVP_CUPTI_CONCURRENT_KERNEL), rows[_i].enable);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim");
	TCase *all = tcase_create("all");

	tcase_add_test(all, a_call_and_what_it_calls_share_a_correlation);
	tcase_add_test(all, kernels_run_one_after_the_other_on_a_stream_and_beside_those_of_another);
	tcase_add_test(all, the_default_stream_waits_for_all_and_they_for_it);
	tcase_add_test(all, a_flush_keeps_what_runs_and_a_forced_one_cuts_it_for_good);
	tcase_add_test(all, full_buffers_come_by_themselves);
	tcase_add_test(all, nodes_of_a_launch_share_its_correlation_and_have_numbers);
	tcase_add_test(all, a_stream_that_waits_for_a_capture_joins_it);
	tcase_add_test(all, a_graph_as_a_whole_is_one_record_a_launch);
	tcase_add_loop_test(all, records_are_as_long_as_the_version_has_them, 0, 4);
	tcase_add_test(all, an_unknown_kind_hides_what_is_behind_it);
	tcase_add_loop_test(all, times_can_be_zero_or_run_backward, 0, 2);
	tcase_add_test(all, without_a_buffer_a_record_is_dropped_and_counted);
	tcase_add_test_raise_signal(all, an_old_version_does_not_survive_it, SIGABRT);
	tcase_add_test_raise_signal(all, a_call_under_the_buffer_lock_is_found_out, SIGABRT);
	tcase_add_loop_test(all, there_is_one_subscriber, 0, 2);
	tcase_add_loop_test(all, errors_of_cupti_are_what_the_scenario_says, 0, 4);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
