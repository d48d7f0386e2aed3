/* SPDX-License-Identifier: MIT */
/* check_kernels_ranges.c: in which range of the host each kernel was launched, by a run made for it: durations are powers of
 * two, so that each sum says which kernels are in it. Times in ms; thread A is the first.
 *
 *     A: decode [10, 14), layer [12, 13) in it; io [16, 17) with layer [16.2, 16.8) in it, whose end comes behind io's
 *     B: io [12, 20)
 *     correlation  launched       runs   in
 *     1            A 12.5         1      decode > layer
 *     2            A 13.5         2      decode
 *     3            A 15           4      no range
 *     4            B 12.6         8      io
 *     5            by nobody      16     not known
 *     6            A 16.5         32     io > layer
 *     7            A 18           64     no range
 */
#include "report/finalize.h"
#include "report/kernels.h"
#include "tests/unit/made_kernels.h"
#include "tests/unit/run_suite.h"

#include <jansson.h>
#include <string.h>

static struct maker maker;
static struct rvp_run *run;
static struct rvp_kernels kernels;

static void put_scope(struct maker_thread *thread, uint64_t us, int kind, const char *name)
{
	MAKE(thread, SCOPE, 64, .stamp = us * 1000, .kind = (uint64_t)kind, .source = RVP_SOURCE_NVTX,
	     .name = {name, (uint32_t)strlen(name)});
}

static void put_launch(struct maker_thread *thread, uint64_t us, uint64_t correlation)
{
	MAKE(thread, LAUNCH, 0, .stamp = us * 1000, .correlation = correlation, .function = 1, .duration_ns = 5000,
	     .stands_for = correlation == 4 ? 10 : 1, .stack = 1, .python = correlation == 2 ? 1 : 0);
}

static void put_kernel(struct maker_thread *thread, uint64_t correlation)
{
	MAKE(thread, KERNEL, 0, .start_ns = KERNELS_AT(30000 + 1000 * correlation),
	     .duration_ns = KERNELS_MS << (correlation - 1), .correlation = correlation, .shape = 1, .stream = correlation);
}

static void make_run(void)
{
	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	struct maker_thread *a = &process->threads[0], *b = maker_thread(process);

	MAKE(a, NODE, 0, .node = 1, .pc = 0x400000);
	MAKE(a, CODE, 64, .code = 1, .name = {"forward", 7}, .file = {"/srv/model.py", 13}, .first_line = 42, .version = 0x30b);
	MAKE(a, PYTHON_NODE, 0, .node = 1, .code = 1);
	put_device(a);
	put_scope(a, 10000, RVP_SCOPE_BEGIN, "decode");
	put_scope(a, 12000, RVP_SCOPE_BEGIN, "layer");
	put_launch(a, 12500, 1);
	put_scope(a, 13000, RVP_SCOPE_END, "");
	put_launch(a, 13500, 2);
	put_scope(a, 14000, RVP_SCOPE_END, "");
	put_launch(a, 15000, 3);
	put_scope(a, 16000, RVP_SCOPE_BEGIN, "io");
	put_scope(a, 16200, RVP_SCOPE_OPERATOR_BEGIN, "layer");
	put_launch(a, 16500, 6);
	put_scope(a, 16800, RVP_SCOPE_END, "");
	put_scope(a, 17000, RVP_SCOPE_OPERATOR_END, "");
	put_launch(a, 18000, 7);
	put_scope(b, 12000, RVP_SCOPE_BEGIN, "io");
	put_launch(b, 12600, 4);
	put_scope(b, 20000, RVP_SCOPE_END, "");
	for (uint64_t i = 1; i <= 7; i++)
		put_kernel(a, i);
	maker_close(&maker);
}

static void read_run(void)
{
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	ck_assert(!rvp_failed(rvp_kernels_read(&kernels, run, &(struct rvp_kernel_question){.steps = NULL})));
}

static void close_run(void)
{
	rvp_kernels_free(&kernels);
	rvp_run_close(run);
	maker_remove(&maker);
}

static const struct rvp_kernel_range_sum *named(const char *wanted)
{
	char text[100];

	for (uint32_t i = RVP_RANGE_FIRST; i < kernels.range_count; i++)
		if (!strcmp(rvp_kernel_range_text(kernels.ranges, i, text, sizeof text), wanted))
			return &kernels.by_range[i];
	ck_abort_msg("no range '%s'", wanted);
	return NULL;
}

START_TEST(launches_are_in_ranges)
{
	make_run();
	read_run();
	ck_assert_uint_eq(named("decode > layer")->kernels.ns, 1 * KERNELS_MS);
	ck_assert_uint_eq(named("decode")->kernels.ns, 2 * KERNELS_MS);
	ck_assert_uint_eq(named("decode")->with_inner_ns, 3 * KERNELS_MS);
	ck_assert_uint_eq(named("io")->kernels.ns, 8 * KERNELS_MS);
	ck_assert_uint_eq(named("io")->estimated_ns, 80 * KERNELS_MS);
	ck_assert_uint_eq(named("io")->with_inner_ns, 40 * KERNELS_MS);
	ck_assert_uint_eq(named("io > layer")->kernels.ns, 32 * KERNELS_MS);
	ck_assert_uint_eq(kernels.by_range[RVP_RANGE_NONE].kernels.ns, (4 + 64) * KERNELS_MS);
	ck_assert_uint_eq(kernels.by_range[RVP_RANGE_UNKNOWN].kernels.ns, 16 * KERNELS_MS);
	ck_assert_uint_eq(rvp_kernel_ranges_cut(kernels.ranges), 0);
	close_run();
}
END_TEST

START_TEST(long_names_lose_their_outer_part)
{
	char text[16];

	make_run();
	read_run();
	rvp_kernel_range_text(kernels.ranges, RVP_RANGE_FIRST + 1, text, 12);
	ck_assert_str_eq(text, "... > layer");
	close_run();
}
END_TEST

static const char *argument(const json_t *trace, int correlation, const char *key)
{
	size_t i;
	json_t *event;

	json_array_foreach(json_object_get(trace, "traceEvents"), i, event)
	{
		const json_t *arguments = json_object_get(event, "args");
		const char *category = json_string_value(json_object_get(event, "cat"));

		if (category && !strcmp(category, "kernel") &&
		    json_integer_value(json_object_get(arguments, "correlation")) == correlation)
			return json_string_value(json_object_get(arguments, key)) ?: "";
	}
	ck_abort_msg("no kernel %d", correlation);
	return NULL;
}

START_TEST(the_trace_has_them)
{
	char path[128];
	json_t *trace;

	make_run();
	ck_assert(!rvp_failed(rvp_finalize(maker.folder)));
	snprintf(path, sizeof path, "%s/trace.json", maker.folder);
	trace = json_load_file(path, 0, NULL);
	ck_assert_ptr_nonnull(trace);
	ck_assert_str_eq(argument(trace, 1, "range"), "decode > layer");
	ck_assert_str_eq(argument(trace, 2, "range"), "decode");
	ck_assert_str_eq(argument(trace, 2, "python_function"), "/srv/model.py(42): forward");
	ck_assert_str_eq(argument(trace, 3, "range"), "");
	ck_assert_str_eq(argument(trace, 3, "python_function"), "");
	ck_assert_str_eq(argument(trace, 4, "range"), "io");
	ck_assert_str_eq(argument(trace, 5, "range"), "");
	ck_assert_str_eq(argument(trace, 6, "range"), "io > layer");
	json_decref(trace);
	maker_remove(&maker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernels_ranges");
	TCase *test = tcase_create("ranges");

	tcase_add_test(test, launches_are_in_ranges);
	tcase_add_test(test, long_names_lose_their_outer_part);
	tcase_add_test(test, the_trace_has_them);
	suite_add_tcase(suite, test);
	return run_suite(suite);
}
