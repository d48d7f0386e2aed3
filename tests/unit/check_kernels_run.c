/* SPDX-License-Identifier: MIT */
/* check_kernels_run.c: device work of made runs, from the records to figures and files. made_kernels.h has the run and its
 * times; the figures here were worked out from it by hand:
 *
 *   - All work is 12-16, 21-24, 25-25.5, 27-28: busy 8.5 ms of the 16 ms from 12 to 28.
 *   - Kernels are 13-16, 21-24, 27-28: 7 ms. Copies and memsets are 12-13.25, 25-25.5: 1.75 ms. Both at once: 0.25 ms.
 *   - Gap 16-21: asked for at 19; no wait began before 16, no launch shortly before: nothing asked 3, latency 2.
 *   - Gap 24-25: asked for at 24.05; the host waited from 17 to 24.02: sync 0.05, latency 0.95.
 *   - Gap 25.5-27: nobody knows when it was asked for: 1.5.
 */
#include "report/finalize.h"
#include "report/kernels.h"
#include "report/run_source.h"
#include "tests/unit/made_kernels.h"
#include "tests/unit/run_suite.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct maker maker;
static struct rvp_run *run;
static struct rvp_steps steps;
static struct rvp_kernels kernels;

static void open_run(void)
{
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	ck_assert(!rvp_failed(rvp_steps_find(run, &steps)));
}

static void read_with(struct rvp_kernel_sink *sink)
{
	struct rvp_kernel_sink *sinks[] = {sink, NULL};

	ck_assert(!rvp_failed(rvp_kernels_read(&kernels, run,
				&(struct rvp_kernel_question){.steps = &steps, .sinks = sinks})));
}

static void close_run(void)
{
	rvp_kernels_free(&kernels);
	rvp_steps_free(&steps);
	rvp_run_close(run);
	maker_remove(&maker);
}

static const struct rvp_distribution *named(const char *name)
{
	for (uint32_t i = 0; i < kernels.name_count; i++)
		if (!strcmp(rvp_kernel_name_at(kernels.names, i)->text, name))
			return &kernels.by_name[i];
	ck_abort_msg("no kernel %s", name);
	return NULL;
}

START_TEST(figures_by_hand)
{
	maker = made_kernels();
	open_run();
	read_with(NULL);
	const struct rvp_kernel_device *device = &kernels.devices[0];

	ck_assert_uint_eq(kernels.kernels.count, 5);
	ck_assert_uint_eq(kernels.kernels.ns, 8000000);
	ck_assert_uint_eq(kernels.copies.count, 1);
	ck_assert_uint_eq(kernels.copies.bytes, 4096);
	ck_assert_uint_eq(kernels.sets.ns, 500000);
	ck_assert_uint_eq(kernels.device_count, 1);
	ck_assert_uint_eq(device->first_ns, MAKER_EPOCH_NS + 12 * KERNELS_MS);
	ck_assert_uint_eq(device->last_ns, MAKER_EPOCH_NS + 28 * KERNELS_MS);
	ck_assert_uint_eq(device->all.ns, 8500000);
	ck_assert_uint_eq(device->kernels.ns, 7000000);
	ck_assert_uint_eq(device->copies.ns, 1750000);
	ck_assert_uint_eq(rvp_kernel_overlap_ns(device), 250000);
	ck_assert_uint_eq(rvp_kernel_exposed_comm_ns(device), 0);
	ck_assert_uint_eq(device->gaps.count, 3);
	ck_assert_uint_eq(device->idle_ns[RVP_IDLE_NOTHING_ASKED], 3000000);
	ck_assert_uint_eq(device->idle_ns[RVP_IDLE_LATENCY], 2950000);
	ck_assert_uint_eq(device->idle_ns[RVP_IDLE_SYNC], 50000);
	ck_assert_uint_eq(device->idle_ns[RVP_IDLE_UNKNOWN], 1500000);
	ck_assert_uint_eq(rvp_kernel_device_idle_ns(device) + device->all.ns, 16000000);
	close_run();
}
END_TEST

START_TEST(sums_by_name_class_stream_and_step)
{
	uint64_t ns = 0, count = 0;

	maker = made_kernels();
	open_run();
	read_with(NULL);
	ck_assert_uint_eq(named("void sgemm<128>(float const*, float*)")->sum, 3000000);
	ck_assert_uint_eq(named("softmax,\"quoted\"")->count, 2);
	ck_assert_uint_eq(named("layer_norm")->most, 1000000);
	ck_assert_uint_eq(kernels.by_class[RVP_KERNEL_CLASS_GEMM].ns, 3000000);
	ck_assert_uint_eq(kernels.by_class[RVP_KERNEL_CLASS_SOFTMAX].ns, 4000000);
	ck_assert_uint_eq(kernels.by_class[RVP_KERNEL_CLASS_NORM].ns, 1000000);
	ck_assert_uint_eq(kernels.by_class[RVP_KERNEL_CLASS_COPY].ns, 1250000);
	ck_assert_uint_eq(kernels.by_class[RVP_KERNEL_CLASS_MEMSET].count, 1);
	ck_assert_uint_eq(kernels.stream_count, 3);
	for (size_t i = 0; i < kernels.stream_count; i++) {
		ns += kernels.streams[i].kernels.ns + kernels.streams[i].copies.ns;
		count += kernels.streams[i].kernels.count;
	}
	ck_assert_uint_eq(ns, 9750000); /* (KN2) */
	ck_assert_uint_eq(count, 5);
	ck_assert_uint_eq(kernels.step_count, 2);
	ck_assert_uint_eq(kernels.steps[0].kernels.count, 4);
	ck_assert_uint_eq(kernels.steps[0].kernels.ns, 7000000);
	ck_assert_uint_eq(kernels.steps[0].kernel_busy.ns, 6000000);
	ck_assert_uint_eq(kernels.steps[0].busy.ns, 7000000);
	ck_assert_uint_eq(kernels.steps[1].kernels.count, 1);
	ck_assert_uint_eq(kernels.steps[1].busy.ns, 1500000);
	ck_assert_uint_eq(kernels.step_by_launch, 6);
	ck_assert_uint_eq(kernels.step_by_time, 1);
	close_run();
}
END_TEST

/* The innermost address of a site's path; 0: it has none. */
static uint64_t pc_of(const struct rvp_kernel_site *site)
{
	return site->stack ? rvp_node_at(&run->processes[site->process], site->stack)->pc : 0;
}

static const struct rvp_kernel_site *site_at(uint64_t pc)
{
	for (size_t i = 0; i < kernels.site_count; i++)
		if (pc_of(&kernels.sites[i]) == pc)
			return &kernels.sites[i];
	ck_abort_msg("no site %lx", pc);
	return NULL;
}

START_TEST(launches_paths_and_latency)
{
	maker = made_kernels();
	open_run();
	read_with(NULL);
	ck_assert_uint_eq(kernels.launches.count, 5);
	ck_assert_uint_eq(kernels.without_launch, 1);
	ck_assert_uint_eq(kernels.without_path, 1);
	ck_assert_uint_eq(kernels.latency.count, 3); /* of the graph's two kernels the first alone */
	ck_assert_uint_eq(kernels.latency.least, 500000);
	ck_assert_uint_eq(kernels.latency.most, 2000000);
	ck_assert_uint_eq(kernels.latency.sum, 3900000);
	ck_assert_uint_eq(site_at(0x400000 + 2 * 64)->kernels.ns, 2000000);
	ck_assert_uint_eq(site_at(0x400000 + 4 * 64)->kernels.ns,
			  1000000); /* where the graph's node was captured */
	ck_assert_uint_eq(site_at(0x400000 + 1 * 64)->kernels.ns,
			  2000000); /* a node that nobody saw: the graph's launch */
	ck_assert_uint_eq(site_at(0)->kernels.count, 1);
	ck_assert_uint_eq(kernels.flaws[RVP_DEVICE_FLAW_ZERO_TIME], 1);
	ck_assert_uint_eq(kernels.flaws[RVP_DEVICE_FLAW_BACKWARD], 1);
	ck_assert_uint_eq(kernels.flawed_kernels, 2);
	ck_assert(kernels.clock.is_tied);
	ck_assert_uint_eq(kernels.clock.error_ns, 200);
	ck_assert_uint_eq(kernels.clock.beyond, 0);
	close_run();
}
END_TEST

/* ---- files ---- */

static char *text_of(const char *name)
{
	static char text[1 << 18];
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", maker.folder, name);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s", path);
	text[fread(text, 1, sizeof text - 1, file)] = 0;
	fclose(file);
	return text;
}

static void finalize(void)
{
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_finalize(maker.folder)));
}

START_TEST(kernels_csv)
{
	maker = made_kernels();
	finalize();
	ck_assert_str_eq(
	    text_of("kernels.csv"),
	    "kernel_id,name,device,stream,correlation,start_us,duration_ns,launch_latency_ns,grid,block,"
	    "registers,"
	    "shared_bytes,graph_id,step,class\n"
	    "0,\"void sgemm<128>(float const*, "
	    "float*)\",cuda:0,7,2,1700000000013000.000,2000000,500000,8x4x1,256x1x1,128,"
	    "17408,,0,gemm\n"
	    "1,\"softmax,\"\"quoted\"\"\",cuda:0,8,3,1700000000014000.000,2000000,1400000,32x1x1,128x1x1,32,"
	    "0,,0,softmax\n"
	    "2,\"void sgemm<128>(float const*, "
	    "float*)\",cuda:0,7,4,1700000000021000.000,1000000,2000000,8x4x1,256x1x1,128,"
	    "17408,5,0,gemm\n"
	    "3,\"softmax,\"\"quoted\"\"\",cuda:0,7,4,1700000000022000.000,2000000,,32x1x1,128x1x1,32,0,5,0,"
	    "softmax\n"
	    "4,\"layer_norm\",cuda:0,7,6,1700000000027000.000,1000000,,1x1x1,64x1x1,16,0,,1,norm\n"
	    "5,\"softmax,\"\"quoted\"\"\",cuda:0,8,8,1700000000029000.000,,,32x1x1,128x1x1,32,0,,1,softmax\n"
	    "6,\"softmax,\"\"quoted\"\"\",cuda:0,8,7,,,,32x1x1,128x1x1,32,0,,,softmax\n");
	ck_assert_str_eq(text_of("latency.csv"), "sample_id,wall_time_us,kernel_time_us,seq_len\n"
						 "0,10000,6000,\n1,10000,1000,\n");
	maker_remove(&maker);
}
END_TEST

static json_t *json_of(const char *name)
{
	json_error_t error;
	json_t *json = json_loads(text_of(name), JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(json != NULL, "%s line %d: %s", name, error.line, error.text);
	return json;
}

static double figure(json_t *json, const char *path)
{
	char copy[128], *rest = copy;

	snprintf(copy, sizeof copy, "%s", path);
	for (char *key; (key = strsep(&rest, "/"));)
		json = json_is_array(json) ? json_array_get(json, (size_t)atoi(key))
					   : json_object_get(json, key);
	ck_assert_msg(json_is_number(json), "%s", path);
	return json_number_value(json);
}

START_TEST(summary_has_kernels)
{
	maker = made_kernels();
	finalize();
	json_t *summary = json_of("summary.json"), *of = json_object_get(summary, "kernels");

	ck_assert_double_eq(figure(of, "count"), 5);
	ck_assert_double_eq(figure(of, "total_us"), 8000);
	ck_assert_double_eq(figure(of, "copies/bytes"), 4096);
	ck_assert_double_eq(figure(of, "by_class/softmax/total_us"), 4000);
	ck_assert_str_eq(json_string_value(json_object_get(of, "step_by")), "launch and time");
	ck_assert_double_eq(figure(of, "launch_latency/median_ns"), 1400000);
	ck_assert_double_eq(figure(of, "devices/0/busy_us"), 8500);
	ck_assert_double_eq(figure(of, "devices/0/idle/nothing_asked"), 3000);
	ck_assert_double_eq(figure(of, "tracer_overhead_us/Buffer Flush"), 100);
	ck_assert_double_eq(figure(of, "flawed/kernels"), 2);
	ck_assert_double_eq(figure(of, "clock/error_us"), 0.2);
	ck_assert_double_eq(figure(of, "host_waits/count"), 1);
	json_decref(summary);
	maker_remove(&maker);
}
END_TEST

static size_t count_events(json_t *trace, const char *ph, const char *category)
{
	json_t *event;
	size_t i, count = 0;

	json_array_foreach(json_object_get(trace, "traceEvents"), i, event)
	{
		const char *its = json_string_value(json_object_get(event, "cat"));

		count += its && !strcmp(its, category) &&
			 !strcmp(json_string_value(json_object_get(event, "ph")), ph);
	}
	return count;
}

static json_t *event_of(json_t *trace, const char *category, int64_t correlation)
{
	json_t *event;
	size_t i;

	json_array_foreach(json_object_get(trace, "traceEvents"), i, event)
	{
		const char *its = json_string_value(json_object_get(event, "cat"));

		if (its && !strcmp(its, category) &&
		    json_integer_value(json_object_get(json_object_get(event, "args"), "correlation")) ==
			correlation)
			return event;
	}
	ck_abort_msg("no %s %ld", category, correlation);
	return NULL;
}

static void check_trace(void)
{
	char command[512];

	snprintf(command, sizeof command, "'%s' '%s/trace.json' >/dev/null", TRACE_CHECK, maker.folder);
	ck_assert_msg(system(command) == 0, "%s", command);
}

START_TEST(trace_has_what_kineto_has)
{
	maker = made_kernels();
	finalize();
	check_trace();
	json_t *trace = json_of("trace.json"), *kernel = event_of(trace, "kernel", 2);

	ck_assert_uint_eq(count_events(trace, "X", "kernel"), 5);
	ck_assert_uint_eq(count_events(trace, "X", "gpu_memcpy"), 1);
	ck_assert_uint_eq(count_events(trace, "X", "gpu_memset"), 1);
	ck_assert_uint_eq(count_events(trace, "X", "cuda_sync"), 1);
	ck_assert_uint_eq(count_events(trace, "X", "overhead"), 1);
	ck_assert_uint_eq(count_events(trace, "X", "cuda_runtime"), 4);
	ck_assert_uint_eq(count_events(trace, "X", "cuda_driver"), 1);
	ck_assert_uint_eq(count_events(trace, "s", "ac2g"), 5);         /* one a launch, */
	ck_assert_uint_eq(count_events(trace, "f", "ac2g"), 6);         /* and one a piece of its work */
	ck_assert_double_eq_tol(figure(kernel, "ts"), 13000 - 1, 1e-6); /* the run began at 1 us */
	ck_assert_double_eq(figure(kernel, "dur"), 2000);
	ck_assert_double_eq(figure(kernel, "pid"), 0);
	ck_assert_double_eq(figure(kernel, "tid"), 7);
	ck_assert_double_eq(figure(kernel, "args/registers per thread"), 128);
	ck_assert_double_eq(figure(kernel, "args/est. achieved occupancy %"), 25);
	ck_assert_double_eq(figure(kernel, "args/grid/1"), 4);
	ck_assert_str_eq(json_string_value(json_object_get(event_of(trace, "gpu_memcpy", 1), "name")),
			 "Memcpy HtoD (Pageable -> Device)");
	ck_assert_str_eq(json_string_value(json_object_get(event_of(trace, "cuda_runtime", 2), "name")),
			 "cudaLaunchKernel");
	ck_assert_double_eq(figure(trace, "deviceProperties/0/numSms"), 4);
	ck_assert_double_eq(figure(trace, "baseTimeNanoseconds"), (double)(MAKER_EPOCH_NS + 1000));
	ck_assert_double_eq(figure(trace, "metadata/untimed_device_work"), 2);
	json_decref(trace);
	maker_remove(&maker);
}
END_TEST

/* ---- order ---- */

enum { MANY = 300000 }; /* four windows and more */

struct order_check {
	struct rvp_kernel_sink sink;
	uint64_t last_ns, count, timeless, out_of_order;
	unsigned char seen[MANY];
};
static struct order_check order;

static void see_order(struct rvp_kernel_sink *sink, const struct rvp_work *work,
		      const struct rvp_kernel_names *names)
{
	const struct rvp_activity *activity = work->activity;

	(void)sink;
	(void)names;
	order.seen[activity->correlation]++;
	order.count++;
	order.timeless += !activity->has_start;
	order.out_of_order += activity->has_start && (order.timeless || activity->start_ns < order.last_ns);
	order.last_ns = activity->has_start ? activity->start_ns : order.last_ns;
}

/* Each piece once, in order, whatever the order of the log; a hundredth has no time. 0: as it comes, some
 * late; 1: every chunk has some of all times, so that windows are picked; 2: backwards; 3: all at one time.
 */
START_TEST(any_order_becomes_order)
{
	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];

	put_device(thread);
	for (uint64_t i = 0; i < MANY; i++) {
		uint64_t turn = _i == 0 ? (i ^ 64) : _i == 1 ? i * 7919 % MANY : _i == 2 ? MANY - i : 5;

		MAKE(thread, KERNEL, 0, .start_ns = i % 100 == 3 ? 0 : KERNELS_AT(10 + turn),
		     .duration_ns = 100, .correlation = i, .shape = 1, .stream = 7,
		     .flaw = i % 100 == 3 ? RVP_DEVICE_FLAW_ZERO_TIME : 0);
	}
	order = (struct order_check){.sink.see = see_order};
	open_run();
	read_with(&order.sink);
	ck_assert_uint_eq(order.count, MANY);
	ck_assert_uint_eq(order.timeless, MANY / 100);
	ck_assert_uint_eq(order.out_of_order, 0);
	for (int i = 0; i < MANY; i++)
		ck_assert_int_eq(order.seen[i], 1);
	ck_assert_uint_eq(kernels.kernels.count, MANY - MANY / 100);
	close_run();
}
END_TEST

/* ---- what may be missing ---- */

static struct maker_thread *plain_run(void)
{
	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];

	MAKE(thread, DEVICE_NAME, 8, .number = 2, .text = {"k", 1});
	MAKE(thread, KERNEL_SHAPE, 0, .shape = 1, .name = 2, .grid_x = 1, .grid_y = 1, .grid_z = 1,
	     .block_x = 32, .block_y = 1, .block_z = 1);
	return thread;
}

static void put_one(struct maker_thread *thread, uint64_t device_ns, uint64_t correlation)
{
	MAKE(thread, KERNEL, 0, .start_ns = device_ns, .duration_ns = 1000, .correlation = correlation,
	     .shape = 1, .stream = 7);
}

/* Without brackets times count from the run's begin; a launch is found all the same, a latency is not made
 * up. */
START_TEST(a_clock_that_is_not_tied)
{
	struct maker_thread *thread = plain_run();

	MAKE(thread, LAUNCH, 0, .stamp = 5000, .correlation = 1, .function = 2, .stands_for = 1);
	put_one(thread, 77000000, 1);
	put_one(thread, 77000000 + 4000, 2);
	open_run();
	read_with(NULL);
	ck_assert(!kernels.clock.is_tied);
	ck_assert_uint_eq(kernels.devices[0].first_ns, run->begin_ns);
	ck_assert_uint_eq(kernels.devices[0].idle_ns[RVP_IDLE_UNKNOWN], 3000);
	ck_assert_uint_eq(kernels.without_launch, 1);
	ck_assert_uint_eq(kernels.latency.count, 0);
	close_run();
}
END_TEST

/* The kernel starts before its launch: clocks disagree, and nobody makes a latency of it. */
START_TEST(a_start_before_the_launch)
{
	struct maker_thread *thread = plain_run();

	MAKE(thread, DEVICE_CLOCK, 0, .stamp = 2000, .device_ns = MAKER_EPOCH_NS + 2000, .width_ns = 100);
	put_one(thread, MAKER_EPOCH_NS + 900000, 1);
	MAKE(thread, LAUNCH, 0, .stamp = 950000, .correlation = 1, .function = 2, .stands_for = 3);
	open_run();
	read_with(NULL);
	ck_assert_uint_eq(kernels.clock_conflicts, 1);
	ck_assert_uint_eq(kernels.latency.count, 0);
	ck_assert_uint_eq(kernels.without_launch, 0);
	ck_assert_uint_eq(kernels.clock.beyond, 1);
	ck_assert_uint_eq(kernels.launches_meant, 3);
	ck_assert_uint_eq(kernels.sites[0].estimated_ns, 3000);
	close_run();
}
END_TEST

/* The runtime's call and the driver's within it are one; so is the launch of the same correlation. */
START_TEST(calls_of_one_correlation_are_one)
{
	struct maker_thread *thread = plain_run();

	MAKE(thread, DEVICE_CLOCK, 0, .stamp = 2000, .device_ns = MAKER_EPOCH_NS + 2000, .width_ns = 100);
	MAKE(thread, DEVICE_CALL, 0, .start_ns = MAKER_EPOCH_NS + 10200, .duration_ns = 500, .correlation = 1,
	     .function = 2, .tid = 100);
	MAKE(thread, DEVICE_CALL, 0, .start_ns = MAKER_EPOCH_NS + 10000, .duration_ns = 900, .correlation = 1,
	     .function = 2, .tid = 100);
	MAKE(thread, LAUNCH, 0, .stamp = 10050, .correlation = 1, .function = 2, .stands_for = 1,
	     .duration_ns = 800);
	put_one(thread, MAKER_EPOCH_NS + 20050, 1);
	open_run();
	read_with(NULL);
	ck_assert_uint_eq(kernels.calls.count, 1);
	ck_assert_uint_eq(kernels.calls.ns, 900);
	ck_assert_uint_eq(kernels.latency.sum, 10000);
	close_run();
}
END_TEST

/* Two processes with a device and a correlation of the same number each. */
START_TEST(processes_are_apart)
{
	struct maker_thread *thread = plain_run();

	MAKE(thread, DEVICE_CLOCK, 0, .stamp = 2000, .device_ns = MAKER_EPOCH_NS + 2000, .width_ns = 100);
	MAKE(thread, DEVICE, 32, .stamp = 2500, .uuid = {"aaaaaaaaaaaaaaaa", 16});
	MAKE(thread, LAUNCH, 0, .stamp = 5000, .correlation = 1, .function = 2, .stands_for = 1);
	put_one(thread, MAKER_EPOCH_NS + 10000, 1);
	thread = &maker_add(&maker, 200)->threads[0];
	MAKE(thread, DEVICE_NAME, 8, .number = 1, .text = {"k", 1});
	MAKE(thread, KERNEL_SHAPE, 0, .shape = 1, .name = 1);
	MAKE(thread, DEVICE_CLOCK, 0, .stamp = 2000, .device_ns = 2000, .width_ns = 100);
	MAKE(thread, DEVICE, 32, .stamp = 2500, .uuid = {"bbbbbbbbbbbbbbbb", 16}); /* 0 of its own */
	put_one(thread, 10000, 1);
	open_run();
	read_with(NULL);
	ck_assert_uint_eq(kernels.device_count, 2);
	ck_assert_uint_eq(kernels.kernels.count, 2);
	ck_assert_uint_eq(kernels.without_launch, 1);
	ck_assert_uint_eq(named("k")->count, 2);
	ck_assert_uint_eq(kernels.devices[1].first_ns, kernels.devices[0].first_ns);
	ck_assert_uint_eq(kernels.devices[0].called, 0);
	ck_assert_uint_eq(kernels.devices[1].called, 1); /* as in memory.csv and categories.csv */
	close_run();
}
END_TEST

/* What the tracer did not record is empty, not 0: it began to in the second step. */
START_TEST(kernel_time_that_was_not_measured)
{
	struct maker_thread *thread = plain_run();

	MAKE(thread, DEVICE_CLOCK, 0, .stamp = 2000, .device_ns = MAKER_EPOCH_NS + 2000, .width_ns = 100);
	for (uint64_t ms = 10; ms < 40; ms += 10) {
		MAKE(thread, STEP, 16, .stamp = ms * KERNELS_MS, .kind = RVP_STEP_BEGIN);
		if (ms == 20)
			MAKE(thread, DEVICE_TRACER, 8, .stamp = 25 * KERNELS_MS,
			     .tier = RVP_DEVICE_TIER_KERNELS, .kinds = 1 << RVP_DEVICE_BIT_KERNEL);
		MAKE(thread, STEP, 16, .stamp = (ms + 10) * KERNELS_MS, .kind = RVP_STEP_END);
	}
	put_one(thread, MAKER_EPOCH_NS + 26 * KERNELS_MS, 1);
	finalize();
	ck_assert_str_eq(text_of("latency.csv"), "sample_id,wall_time_us,kernel_time_us,seq_len\n"
						 "0,10000,,\n1,10000,,\n2,10000,0,\n");
	maker_remove(&maker);
}
END_TEST

/* Pieces that touch on the tracer's clock, which is slower by a thousandth, touch on ours: no gap, no overlap, one row. */
START_TEST(what_touches_stays_touching)
{
	struct maker_thread *thread = plain_run();

	MAKE(thread, DEVICE_CLOCK, 0, .stamp = 10 * KERNELS_MS, .device_ns = 1000 * KERNELS_MS, .width_ns = 100);
	for (uint64_t i = 0; i < 500; i++)
		MAKE(thread, KERNEL, 0, .start_ns = 1001 * KERNELS_MS + i * 7777, .duration_ns = 7777, .correlation = 1 + i,
		     .shape = 1, .stream = 7);
	MAKE(thread, DEVICE_CLOCK, 0, .stamp = 1010 * KERNELS_MS, .device_ns = 1999 * KERNELS_MS, .width_ns = 100);
	open_run();
	read_with(NULL);
	ck_assert_uint_eq(kernels.kernels.ns, 500 * 7777);
	ck_assert_uint_eq(kernels.devices[0].gaps.count, 0);
	ck_assert_uint_eq(kernels.devices[0].all.ns, 3888500 + 3892); /* 3,888,500 * 1000 / 999 */
	ck_assert(!rvp_failed(rvp_finalize(maker.folder)));
	check_trace();
	ck_assert_ptr_null(strstr(text_of("trace.json"), "overlap"));
	close_run();
}
END_TEST

/* Two pieces of one stream that overlap: neither is cut, each has a row. Pids of devices keep clear of small real ones. */
START_TEST(what_overlaps_has_rows_of_its_own)
{
	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 3)->threads[0];

	put_device(thread);
	for (uint64_t i = 0; i < 3; i++)
		MAKE(thread, KERNEL, 0, .start_ns = KERNELS_AT(1000 + i * 600), .duration_ns = KERNELS_MS,
		     .correlation = 1 + i, .shape = 1, .stream = 7);
	finalize();
	check_trace();
	json_t *trace = json_of("trace.json"), *second = event_of(trace, "kernel", 2);

	ck_assert_double_eq(figure(event_of(trace, "kernel", 1), "tid"), 7);
	ck_assert_double_ne(figure(second, "tid"), 7);
	ck_assert_double_eq(figure(event_of(trace, "kernel", 3), "tid"), 7);
	ck_assert_double_eq(figure(second, "dur"), 1000);
	ck_assert_double_eq(figure(second, "args/stream"), 7);
	ck_assert_double_ge(figure(second, "pid"), 1 << 22);
	ck_assert_ptr_nonnull(strstr(text_of("trace.json"), "stream 7 (overlap 1)"));
	json_decref(trace);
	maker_remove(&maker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernels_run");
	TCase *test = tcase_create("runs");

	tcase_add_test(test, figures_by_hand);
	tcase_add_test(test, sums_by_name_class_stream_and_step);
	tcase_add_test(test, launches_paths_and_latency);
	tcase_add_test(test, kernels_csv);
	tcase_add_test(test, summary_has_kernels);
	tcase_add_test(test, trace_has_what_kineto_has);
	tcase_add_loop_test(test, any_order_becomes_order, 0, 4);
	tcase_add_test(test, a_clock_that_is_not_tied);
	tcase_add_test(test, a_start_before_the_launch);
	tcase_add_test(test, calls_of_one_correlation_are_one);
	tcase_add_test(test, processes_are_apart);
	tcase_add_test(test, kernel_time_that_was_not_measured);
	tcase_add_test(test, what_touches_stays_touching);
	tcase_add_test(test, what_overlaps_has_rows_of_its_own);
	tcase_set_timeout(test, 60);
	suite_add_tcase(suite, test);
	return run_suite(suite);
}
