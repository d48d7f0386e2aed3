/* SPDX-License-Identifier: MIT */
/* check_trace_slices.c: scopes, operators and ranges in trace.json: whose they are, that slices nest whatever
 * crosses, and what the cap leaves out. The strict reader is trace_check. */
#include "report/analysis.h"
#include "report/finalize.h"
#include "report/write_trace.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define TEXT(words)                     \
	{                               \
		words, sizeof words - 1 \
	}

static struct maker maker;
static struct maker_thread *one, *two;
static char trace[1 << 20];

static void open_run(void)
{
	struct maker_process *process;

	maker = maker_open();
	process = maker_add(&maker, 100);
	one = &process->threads[0];
	two = maker_thread(process);
}

static void read_trace(const char *name)
{
	char command[512], path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", maker.folder, name);
	snprintf(command, sizeof command, "'%s' '%s' >/dev/null", TRACE_CHECK, path);
	ck_assert_msg(system(command) == 0, "%s", command);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	trace[fread(trace, 1, sizeof trace - 1, file)] = 0;
	fclose(file);
}

static void finalize(void)
{
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_finalize(maker.folder)));
	read_trace("trace.json");
}

static void has(const char *event)
{
	ck_assert_msg(strstr(trace, event) != NULL, "not in the trace: %s", event);
}

static unsigned count_of(const char *part)
{
	unsigned count = 0;

	for (const char *at = trace; (at = strstr(at, part)) != NULL; at++)
		count++;
	return count;
}

/* An end is three nanoseconds early, and one for each slice outside. */
START_TEST(scopes_and_operators)
{
	open_run();
	MAKE(one, SCOPE, 99, .stamp = 2000, .category = TEXT("kv_cache"), .name = TEXT("layer 3"));
	MAKE(one, SCOPE, 99, .stamp = 3000, .kind = RVP_SCOPE_OPERATOR_BEGIN, .category = TEXT("temp"),
	     .name = TEXT("matmul"), .args = TEXT("2x3"));
	MAKE(two, SCOPE, 99, .stamp = 3500, .source = RVP_SOURCE_NVTX, .name = TEXT("push"),
	     .args = TEXT("domain"));
	MAKE(one, SCOPE, 99, .stamp = 4000, .kind = RVP_SCOPE_OPERATOR_END);
	MAKE(one, SCOPE, 99, .stamp = 5000, .kind = RVP_SCOPE_END);
	MAKE(one, SCOPE, 99, .stamp = 6000, .kind = RVP_SCOPE_END); /* of nothing */
	MAKE(two, SCOPE, 99, .stamp = 9500, .source = RVP_SOURCE_NVTX, .kind = RVP_SCOPE_END,
	     .args = TEXT("domain"));
	finalize();
	has("{\"ph\":\"X\",\"cat\":\"scope\",\"name\":\"layer "
	    "3\",\"pid\":100,\"tid\":100,\"ts\":1.000,\"dur\":2.997,"
	    "\"args\":{\"category\":\"kv_cache\"}}");
	has("{\"ph\":\"X\",\"cat\":\"operator\",\"name\":\"matmul\",\"pid\":100,\"tid\":100,\"ts\":2.000,"
	    "\"dur\":0.996,"
	    "\"args\":{\"category\":\"temp\",\"args\":\"2x3\"}}");
	has("{\"ph\":\"X\",\"cat\":\"scope\",\"name\":\"push\",\"pid\":100,\"tid\":101,\"ts\":2.500,\"dur\":"
	    "5.997,"
	    "\"args\":{\"domain\":\"domain\"}}");
	ck_assert_uint_eq(count_of("\"ph\":\"X\""), 3);
	maker_remove(&maker);
}
END_TEST

START_TEST(a_range_ends_on_another_thread)
{
	open_run();
	MAKE(one, SCOPE, 99, .stamp = 2000, .kind = RVP_SCOPE_RANGE_BEGIN, .source = RVP_SOURCE_NVTX,
	     .name = TEXT("request 7"), .args = TEXT("1"));
	MAKE(one, SCOPE, 99, .stamp = 3000, .kind = RVP_SCOPE_RANGE_BEGIN, .source = RVP_SOURCE_NVTX,
	     .name = TEXT("request 8"), .args = TEXT("2"));
	MAKE(two, SCOPE, 99, .stamp = 4000, .kind = RVP_SCOPE_RANGE_END, .source = RVP_SOURCE_NVTX,
	     .args = TEXT("1"));
	MAKE(two, SCOPE, 99, .stamp = 4500, .kind = RVP_SCOPE_RANGE_END, .source = RVP_SOURCE_NVTX,
	     .args = TEXT("9"));
	finalize();
	has("{\"ph\":\"b\",\"cat\":\"range\",\"id\":\"0x1\",\"name\":\"request "
	    "7\",\"pid\":100,\"tid\":100,\"ts\":1.000,\"args\":{}},\n"
	    "{\"ph\":\"e\",\"cat\":\"range\",\"id\":\"0x1\",\"name\":\"request "
	    "7\",\"pid\":100,\"tid\":101,\"ts\":3.000}");
	has("\"id\":\"0x2\",\"name\":\"request "
	    "8\",\"pid\":100,\"tid\":100,\"ts\":2.000,\"args\":{\"open\":true}},\n"
	    "{\"ph\":\"e\",\"cat\":\"range\",\"id\":\"0x2\",\"name\":\"request "
	    "8\",\"pid\":100,\"tid\":100,\"ts\":9999");
	ck_assert_uint_eq(count_of("\"ph\":\"b\""), 2);
	maker_remove(&maker);
}
END_TEST

/* Two speakers cross; a step is crossed; what nobody ended. */
START_TEST(what_crosses_is_a_pair)
{
	open_run();
	MAKE(one, SCOPE, 99, .stamp = 2000, .name = TEXT("outer"));
	MAKE(one, SCOPE, 99, .stamp = 3000, .source = RVP_SOURCE_PYTHON, .name = TEXT("crosses"));
	MAKE(one, SCOPE, 99, .stamp = 4000, .kind = RVP_SCOPE_END);
	MAKE(one, SCOPE, 99, .stamp = 5000, .source = RVP_SOURCE_PYTHON, .kind = RVP_SCOPE_END);
	MAKE(one, STEP, 99, .stamp = 6000, .kind = RVP_STEP_BEGIN, .name = TEXT("a step"));
	MAKE(one, SCOPE, 99, .stamp = 7000, .name = TEXT("across the end"));
	MAKE(one, STEP, 99, .stamp = 8000, .kind = RVP_STEP_END);
	MAKE(one, SCOPE, 99, .stamp = 9000, .kind = RVP_SCOPE_END);
	MAKE(one, SCOPE, 99, .stamp = 10000, .name = TEXT("left open"));
	finalize();
	has("{\"ph\":\"b\",\"cat\":\"scope\",\"id\":\"0x1\",\"name\":\"outer\",\"pid\":100,\"tid\":100,"
	    "\"ts\":1.000,");
	has("\"name\":\"crosses\",\"pid\":100,\"tid\":100,\"ts\":2.000,\"dur\":1.997,");
	has("{\"ph\":\"e\",\"cat\":\"scope\",\"id\":\"0x2\",\"name\":\"across the "
	    "end\",\"pid\":100,\"tid\":100,\"ts\":8.000}");
	has("\"name\":\"left open\",\"pid\":100,\"tid\":100,\"ts\":9.000,\"dur\":9999");
	has("\"args\":{\"open\":true}}");
	maker_remove(&maker);
}
END_TEST

/* Begins and ends in any order by three speakers, many at the same nanosecond, with steps between. */
static void storm(unsigned seed)
{
	uint64_t stamp = 2000;

	srand(seed);
	open_run();
	for (int i = 0; i < 1500; i++) {
		struct maker_thread *thread = rand() % 3 ? one : two;
		struct rvp_record_SCOPE scope = {.stamp = stamp += (uint64_t)(rand() % 4),
						 .kind = (uint64_t)(rand() % 4),
						 .source = (uint64_t)(rand() % 3)};

		if (rand() % 10 == 0)
			MAKE(one, STEP, 9, .stamp = stamp, .kind = (uint64_t)(rand() % 4),
			     .phase = (uint64_t)(rand() % RVP_STEP_PHASE_COUNT));
		MAKE(thread, SCOPE, 9, .stamp = scope.stamp, .kind = scope.kind, .source = scope.source,
		     .name = TEXT("storm"));
	}
	finalize();
	maker_remove(&maker);
}

START_TEST(slices_nest_whatever_comes)
{
	for (unsigned seed = 1; seed <= 20; seed++)
		storm(seed);
}
END_TEST

static void make_code(uint64_t number, const char *name, const char *file, uint64_t line)
{
	MAKE(one, CODE, 99, .code = number, .first_line = line, .version = 0x30b, .name = {name, strlen(name)},
	     .file = {file, strlen(file)});
}

static void call(struct maker_thread *thread, uint64_t stamp, uint64_t kind, uint64_t code)
{
	MAKE(thread, PYTHON_CALL, 0, .stamp = stamp, .kind = kind, .code = code);
}

/* What was entered before is drawn from the window's begin, what goes on behind it ends with it; outside of a window, and
 * of functions that are ours, there is nothing. */
START_TEST(python_rows)
{
	open_run();
	make_code(1, "main", "/home/a/train.py", 10);
	make_code(2, "Linear.forward", "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", 113);
	make_code(3, "step_begin", "/home/a/rvprof.py", 3);
	make_code(4, "dumps", "/usr/lib/python3.11/json/__init__.py", 183);
	call(one, 1500, RVP_PYTHON_CALL_BEGIN, 2); /* no window */
	MAKE(one, ROWS, 99, .stamp = 2000, .kinds = RVP_ROWS_PYTHON, .wanted = RVP_ROWS_PYTHON);
	call(one, 2500, RVP_PYTHON_CALL_OPEN, 1);
	call(one, 3000, RVP_PYTHON_CALL_BEGIN, 2);
	call(one, 3500, RVP_PYTHON_CALL_BEGIN, 3);
	MAKE(one, SCOPE, 99, .stamp = 3600, .name = TEXT("layer 3"));
	call(one, 3700, RVP_PYTHON_CALL_END, 0);
	call(one, 4000, RVP_PYTHON_CALL_BEGIN, 3);
	MAKE(one, SCOPE, 99, .stamp = 4100, .kind = RVP_SCOPE_END);
	call(one, 4200, RVP_PYTHON_CALL_END, 0);
	call(one, 5000, RVP_PYTHON_CALL_END, 0);
	call(two, 5500, RVP_PYTHON_CALL_BEGIN, 4);
	MAKE(one, ROWS, 99, .stamp = 6000);
	call(one, 6500, RVP_PYTHON_CALL_END, 0);
	call(one, 7000, RVP_PYTHON_CALL_BEGIN, 1);
	finalize();
	has("{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"/home/a/train.py(10): main\",\"pid\":100,\"tid\":100,"
	    "\"ts\":1.000,\"dur\":3.997,\"args\":{\"open\":true}}");
	has("\"cat\":\"python_function\",\"name\":\"torch/nn/modules/linear.py(113): Linear.forward\",\"pid\":100,"
	    "\"tid\":100,\"ts\":2.000,\"dur\":1.996,\"args\":{}}");
	has("\"cat\":\"python_function\",\"name\":\"json/__init__.py(183): dumps\",\"pid\":100,\"tid\":101,\"ts\":4.500,");
	has("{\"ph\":\"X\",\"cat\":\"scope\",\"name\":\"layer 3\",");
	ck_assert_uint_eq(count_of("python_function"), 3);
	maker_remove(&maker);
}
END_TEST

/* Greenlets: two stacks of one thread take turns, and functions are left in another order than they were entered. */
START_TEST(python_rows_that_take_turns)
{
	open_run();
	make_code(1, "f", "a.py", 1);
	make_code(2, "g", "a.py", 2);
	MAKE(one, ROWS, 99, .stamp = 2000, .kinds = RVP_ROWS_PYTHON, .wanted = RVP_ROWS_PYTHON);
	call(one, 3000, RVP_PYTHON_CALL_BEGIN, 1);
	call(one, 4000, RVP_PYTHON_CALL_BEGIN, 2);
	call(one, 5000, RVP_PYTHON_CALL_END, 1);
	call(one, 6000, RVP_PYTHON_CALL_END, 2);
	finalize();
	has("{\"ph\":\"b\",\"cat\":\"python_function\",\"id\":\"0x1\",\"name\":\"a.py(1): f\",\"pid\":100,\"tid\":100,\"ts\":2.000,");
	has("\"name\":\"a.py(2): g\",\"pid\":100,\"tid\":100,\"ts\":3.000,\"dur\":1.997,");
	maker_remove(&maker);
}
END_TEST

START_TEST(framework_operators_and_blas)
{
	open_run();
	MAKE(one, SCOPE, 99, .stamp = 2000, .kind = RVP_SCOPE_OPERATOR_BEGIN, .source = RVP_SOURCE_ADAPTER,
	     .name = TEXT("aten::mm"), .args = TEXT("[[2,3],[3,4],[]] [\"float\",\"float\",\"\"]"));
	MAKE(one, BLAS_CALL, 99, .stamp = 4000, .ticks = 1500, .function = 11, .m = 4, .n = 2, .k = 3, .count = 1);
	MAKE(one, SCOPE, 99, .stamp = 5000, .kind = RVP_SCOPE_OPERATOR_END, .source = RVP_SOURCE_ADAPTER);
	MAKE(one, SCOPE, 99, .stamp = 6000, .kind = RVP_SCOPE_OPERATOR_BEGIN, .source = RVP_SOURCE_ADAPTER,
	     .name = TEXT("cut"), .args = TEXT("[[2,3],[3"));
	MAKE(one, SCOPE, 99, .stamp = 7000, .kind = RVP_SCOPE_OPERATOR_END, .source = RVP_SOURCE_ADAPTER);
	MAKE(two, BLAS_CALL, 99, .stamp = 8000, .ticks = 1000, .function = 999, .m = 1, .n = 1, .k = 1, .count = 1);
	finalize();
	has("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":100,\"tid\":100,\"ts\":1.000,\"dur\":2.997,"
	    "\"args\":{\"Input Dims\":[[2,3],[3,4],[]],\"Input type\":[\"float\",\"float\",\"\"]}}");
	has("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"sgemm_\",\"pid\":100,\"tid\":100,\"ts\":1.500,\"dur\":1.496,"
	    "\"args\":{\"m\":4,\"n\":2,\"k\":3,\"type\":\"f32\",\"flops\":48}}");
	has("\"name\":\"cut\",\"pid\":100,\"tid\":100,\"ts\":5.000,\"dur\":0.997,\"args\":{\"args\":\"[[2,3],[3\"}}");
	has("\"name\":\"BLAS\"");
	maker_remove(&maker);
}
END_TEST

/* Functions, scopes, operators and products in any order, in a window that opens and closes. */
static void row_storm(unsigned seed)
{
	uint64_t stamp = 2000;

	srand(seed);
	open_run();
	make_code(1, "f", "a.py", 1);
	make_code(2, "g", "/x/rvprof.py", 1);
	for (int i = 0; i < 1500; i++) {
		struct maker_thread *thread = rand() % 3 ? one : two;

		stamp += (uint64_t)(rand() % 4);
		if (rand() % 50 == 0)
			MAKE(one, ROWS, 99, .stamp = stamp, .kinds = (uint64_t)(rand() % 4));
		else if (rand() % 3)
			call(thread, stamp, (uint64_t)(rand() % 3), (uint64_t)(rand() % 4));
		else if (rand() % 3)
			MAKE(thread, SCOPE, 9, .stamp = stamp, .kind = (uint64_t)(rand() % 4),
			     .source = (uint64_t)(rand() % 4), .name = TEXT("storm"));
		else if (rand() % 2)
			MAKE(thread, BLAS_CALL, 9, .stamp = stamp, .ticks = (uint64_t)(rand() % 8), .m = 1, .n = 1,
			     .k = 1, .count = 1);
		else
			MAKE(one, STEP, 9, .stamp = stamp, .kind = (uint64_t)(rand() % 4));
	}
	finalize();
	maker_remove(&maker);
}

START_TEST(rows_nest_whatever_comes)
{
	for (unsigned seed = 1; seed <= 20; seed++)
		row_storm(seed);
}
END_TEST

START_TEST(slices_leave_room)
{
	char path[256];
	struct rvp_run *run;
	struct rvp_trace writer;
	struct rvp_analysis answer;
	struct rvp_observer *observers[] = {&writer.observer, NULL};
	struct stat file;

	open_run();
	for (uint64_t i = 0; i < 2000; i++) {
		MAKE(one, SCOPE, 9, .stamp = 2000 + 10 * i, .kind = RVP_SCOPE_OPERATOR_BEGIN,
		     .name = TEXT("add"));
		MAKE(one, SCOPE, 9, .stamp = 2005 + 10 * i, .kind = RVP_SCOPE_OPERATOR_END);
	}
	MAKE(one, ALLOC, 0, .stamp = 50000, .address = 0x1000, .bytes = 3 << 20, .stack = 1);
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	snprintf(path, sizeof path, "%s/cut.json", maker.folder);
	FILE *out = fopen(path, "w");

	ck_assert(rvp_trace_open(&writer, run, out, 150000));
	ck_assert(!rvp_failed(rvp_analyse(run, &(struct rvp_question){.observers = observers}, &answer)));
	rvp_trace_close(&writer);
	fclose(out);
	rvp_analysis_free(&answer);
	rvp_run_close(run);
	read_trace("cut.json");
	ck_assert(stat(path, &file) == 0 && file.st_size < 150000);
	has("scopes, operators and ranges did not fit");
	has("alloc 3.0 MiB");
	has("\"cut_events\":0,");
	ck_assert_uint_eq(count_of("\"name\":\"add\"") + writer.cut_slices, 2000);
	maker_remove(&maker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_slices");
	TCase *cases = tcase_create("trace_slices");

	suite_add_tcase(suite, cases);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, scopes_and_operators);
	tcase_add_test(cases, a_range_ends_on_another_thread);
	tcase_add_test(cases, what_crosses_is_a_pair);
	tcase_add_test(cases, slices_nest_whatever_comes);
	tcase_add_test(cases, python_rows);
	tcase_add_test(cases, python_rows_that_take_turns);
	tcase_add_test(cases, framework_operators_and_blas);
	tcase_add_test(cases, rows_nest_whatever_comes);
	tcase_add_test(cases, slices_leave_room);
	return run_suite(suite);
}
