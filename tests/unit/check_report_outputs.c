/* SPDX-License-Identifier: MIT */
/* check_report_outputs.c: the files that finalize writes, for runs with known bytes. */
#include "record/log_writer.h"
#include "record/names.h"
#include "report/analysis.h"
#include "report/finalize.h"
#include "report/write_trace.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1048576, MS = 1000000 };
#define US(stamp) ((MAKER_EPOCH_NS + (stamp)) / 1000)

static struct maker maker;

static void finalize(void)
{
	struct rvp_status status = rvp_finalize(maker.folder);
	char line[600];

	ck_assert_msg(!rvp_failed(status), "%s", rvp_status_line(&status, line, sizeof line));
}

static char *text_of(const char *name)
{
	static char text[1 << 16];
	char path[256];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", maker.folder, name);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s", path);
	text[fread(text, 1, sizeof text - 1, file)] = 0;
	fclose(file);
	return text;
}

static json_t *json_of(const char *name)
{
	json_error_t error;
	json_t *json = json_loads(text_of(name), JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(json != NULL, "%s line %d: %s", name, error.line, error.text);
	return json;
}

static int64_t number(json_t *json, const char *one, const char *two)
{
	json_t *value = json_object_get(json_object_get(json, one), two);

	ck_assert_msg(json_is_integer(value), "%s.%s is no number", one, two);
	return json_integer_value(value);
}

static void check_trace(const char *path)
{
	char command[512];

	snprintf(command, sizeof command, "'%s' '%s' >/dev/null", TRACE_CHECK, path);
	ck_assert_msg(system(command) == 0, "%s", command);
}

static void put_alloc(struct maker_thread *thread, uint64_t stamp, uint64_t address, uint64_t bytes)
{
	MAKE(thread, ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes, .stack = 1);
}

START_TEST(rows_of_memory_csv)
{
	char expected[2000];

	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	struct maker_thread *thread = &process->threads[0];

	MAKE(thread, SNAPSHOT, 0, .stamp = 2000, .rss_anon_bytes = 5 * MIB);
	put_alloc(thread, 20 * MS, 0x1000, MIB);         /* not more than 1 MiB: no row */
	put_alloc(thread, 30 * MS, 0x2000, 2 * MIB);     /* a row */
	put_alloc(thread, 31 * MS, 0x3000, 4 * MIB);     /* within 10 ms: a row at 40 ms */
	put_alloc(thread, 50 * MS + 7, 0x4000, MIB / 2); /* no row */
	process->entry.end_realtime_ns = MAKER_EPOCH_NS + MAKER_END_NS;
	maker_close(&maker);
	finalize();
	/* The snapshot comes 1 us behind the first row: its move waits for the end of the first 10 ms. */
	snprintf(expected, sizeof expected,
		 "timestamp_us,peak_rss_bytes,kv_cache_bytes,activation_bytes,temp_buffer_bytes\n"
		 "%lu,,0,0,0\n%lu,5242880,0,0,0\n%lu,5242880,0,0,0\n%lu,5242880,0,0,0\n%lu,5242880,0,0,0\n",
		 US(1000), US(1000 + 10 * MS), US(30 * MS), US(40 * MS), US(MAKER_END_NS));
	ck_assert_str_eq(text_of("memory.csv"), expected);
	ck_assert_str_eq(text_of("latency.csv"), "sample_id,wall_time_us,kernel_time_us,seq_len\n");
	snprintf(expected, sizeof expected, "%lu,host,0,0,0,0,0,0,0,0,0,0,0,0,0,,,,%d\n", US(40 * MS), 7 * MIB);
	ck_assert_ptr_nonnull(strstr(text_of("categories.csv"), expected));
	maker_remove(&maker);
}
END_TEST

/* The watcher writes on when all are gone: there is no row of that. */
START_TEST(the_last_row_is_not_the_nothing_behind_the_end)
{
	struct rvp_log_writer writer;
	char path[128], expected[200];

	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);

	MAKE(&process->threads[0], SNAPSHOT, 0, .stamp = 2000, .rss_anon_bytes = 5 * MIB);
	put_alloc(&process->threads[0], 20 * MS, 0x1000, MIB);
	process->entry.end_realtime_ns = MAKER_EPOCH_NS + MAKER_END_NS;
	snprintf(path, sizeof path, "%s/" RVP_WATCH_FILE, maker.folder);
	ck_assert(!rvp_failed(rvp_log_writer_open(&writer, path, 99, 99)));
	RVP_WRITE(&writer, PROCESS, 8, .stamp = 900, .pid = 99, .clock = RVP_CLOCK_MONOTONIC);
	RVP_WRITE(&writer, ANCHOR, 0, .stamp = 900, .realtime_ns = MAKER_EPOCH_NS + 900, .boottime_ns = 977);
	RVP_WRITE(&writer, CGROUP, 0, .stamp = MAKER_END_NS + 12 * MS, .version = 2, .current_bytes = 1);
	ck_assert(!rvp_failed(rvp_log_writer_close(&writer)));
	maker_close(&maker);
	finalize();
	snprintf(expected, sizeof expected, "\n%lu,5242880,0,0,0\n", US(MAKER_END_NS));
	ck_assert_str_eq(text_of("memory.csv") + strlen(text_of("memory.csv")) - strlen(expected), expected);
	maker_remove(&maker);
}
END_TEST

START_TEST(totals_of_summary)
{
	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];

	put_alloc(thread, 2000, 0x1000, 100);
	put_alloc(thread, 3000, 0x2000, 50);
	MAKE(thread, FREE, 0, .stamp = 4000, .address = 0x1000);
	MAKE(thread, SNAPSHOT, 0, .stamp = 5000, .rss_anon_bytes = 3 * MIB, .rss_file_bytes = MIB);
	MAKE(thread, REGION, 8, .stamp = 5001, .pid = 100, .category = RVP_CATEGORY_CODE,
	     .mapped_bytes = 2 * MIB, .rss_bytes = MIB, .name = {"/x", 2});
	MAKE(thread, REGION, 8, .stamp = 5001, .pid = 100, .category = RVP_CATEGORY_UNKNOWN,
	     .mapped_bytes = 9 * MIB, .rss_bytes = 2 * MIB, .name = {"[heap]", 6});
	maker_close(&maker);
	finalize();
	json_t *summary = json_of("summary.json");

	ck_assert_str_eq(json_string_value(json_object_get(summary, "schema")), "rvprof.summary/1");
	ck_assert_int_eq(number(summary, "totals", "alloc_count"), 2);
	ck_assert_int_eq(number(summary, "totals", "alloc_bytes"), 150);
	ck_assert_int_eq(number(summary, "totals", "free_bytes"), 100);
	ck_assert_int_eq(number(summary, "totals", "peak_live_bytes"), 150);
	ck_assert_int_eq(number(summary, "totals", "peak_unix_us"), (int64_t)US(3000));
	ck_assert_int_eq(number(summary, "totals", "end_live_bytes"), 50);
	ck_assert_int_eq(number(summary, "host", "peak_rss_bytes"), 4 * MIB);
	ck_assert_int_eq(number(summary, "lost", "records"), 0);
	ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(summary, "totals"), "exact")), 13);
	json_t *peak = json_array_get(json_object_get(json_object_get(summary, "host"), "ledger"), 0);

	ck_assert_str_eq(json_string_value(json_object_get(peak, "at")), "peak");
	ck_assert_int_eq(json_integer_value(json_object_get(peak, "rss_bytes")), 4 * MIB);
	ck_assert_int_eq(json_integer_value(json_object_get(peak, "unexplained_bytes")), MIB);
	ck_assert_uint_eq(json_array_size(json_object_get(peak, "rows")), 2);
	json_decref(summary);
	maker_remove(&maker);
}
END_TEST

/* 3 events of 100 ns beside 1,000 ns of the program's own; a process that timed nothing is not in it. */
START_TEST(overhead_is_what_the_timed_events_say)
{
	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];
	struct maker_thread *untimed = &maker_add(&maker, 101)->threads[0];

	put_alloc(thread, 2000, 0x1000, 100);
	put_alloc(thread, 3000, 0x2000, 50);
	MAKE(thread, FREE, 0, .stamp = 4000, .address = 0x1000);
	MAKE(thread, EVENT_COST, 0, .stamp = 6000, .timed_count = 2, .timed_ticks = 200, .cpu_ns = 1300);
	MAKE(thread, EVENT_COST, 0, .stamp = 5000, .timed_count = 1, .timed_ticks = 150, .cpu_ns = 900);
	put_alloc(untimed, 2000, 0x1000, 100);
	maker_close(&maker);
	finalize();
	json_t *summary = json_of("summary.json");
	json_t *percent = json_object_get(json_object_get(summary, "cost"), "estimated_overhead_percent");

	ck_assert_double_eq_tol(json_real_value(percent), 30, 0.001);
	json_decref(summary);
	maker_remove(&maker);
}
END_TEST

START_TEST(what_was_not_measured_is_absent)
{
	maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);

	process->entry.state = RVP_ENTRY_RUNNING; /* and no such process: killed */
	maker_close(&maker);
	finalize();
	json_t *summary = json_of("summary.json"), *host = json_object_get(summary, "host");

	ck_assert_ptr_null(json_object_get(host, "peak_rss_bytes"));
	ck_assert_ptr_null(json_object_get(host, "cgroup"));
	ck_assert_ptr_null(json_object_get(json_object_get(summary, "run"), "exit"));
	ck_assert_ptr_null(json_object_get(summary, "kernels"));
	ck_assert_ptr_null(json_object_get(json_object_get(summary, "cost"), "estimated_overhead_percent"));
	ck_assert(json_is_true(json_object_get(json_object_get(summary, "run"), "complete")));
	json_decref(summary);
	maker_remove(&maker);
}
END_TEST

START_TEST(trace_is_what_perfetto_takes)
{
	char path[256];

	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];

	MAKE(thread, THREAD_NAME, 16, .stamp = 1500, .tid = 100, .name = {"we\x01ird\xff\"\\", 9});
	MAKE(thread, NODE, 0, .node = 1, .pc = 0x1234);
	put_alloc(thread, 2000, 0x1000, 3 * MIB);
	maker_close(&maker);
	finalize();
	snprintf(path, sizeof path, "%s/trace.json", maker.folder);
	check_trace(path);
	const char *trace = text_of("trace.json");

	ck_assert_ptr_nonnull(
	    strstr(trace, "\"name\":\"alloc 3.0 MiB\",\"pid\":100,\"tid\":100,\"ts\":1.000"));
	ck_assert_ptr_nonnull(strstr(trace, "\"stack\":[\"0x1233\"]"));
	ck_assert_ptr_nonnull(strstr(trace, "\"name\":\"live by category\",\"pid\":100,\"ts\":"));
	ck_assert_ptr_nonnull(strstr(trace, "\"args\":{\"unknown\":3145728}}"));
	ck_assert_ptr_nonnull(strstr(trace, "we\\u0001ird\\ufffd\\\"\\\\"));
	maker_remove(&maker);
}
END_TEST

START_TEST(a_long_trace_is_cut_and_says_so)
{
	char path[256];
	struct rvp_run *run;
	struct rvp_trace trace;
	struct rvp_analysis answer;

	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];

	for (uint64_t i = 1; i <= 2000; i++)
		put_alloc(thread, 2000 + i, i * 0x1000, MIB);
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	snprintf(path, sizeof path, "%s/cut.json", maker.folder);
	FILE *out = fopen(path, "w");
	struct rvp_observer *observers[] = {&trace.observer, NULL};

	ck_assert(rvp_trace_open(&trace, run, out, 100000));
	ck_assert(!rvp_failed(rvp_analyse(run, &(struct rvp_question){.observers = observers}, &answer)));
	rvp_trace_close(&trace);
	fclose(out);
	rvp_analysis_free(&answer);
	rvp_run_close(run);
	check_trace(path);
	struct stat file;

	ck_assert(stat(path, &file) == 0 && file.st_size < 100000);
	ck_assert_ptr_nonnull(strstr(text_of("cut.json"), "trace is cut here"));
	maker_remove(&maker);
}
END_TEST

START_TEST(finalize_again_gives_the_same)
{
	maker = maker_open();
	put_alloc(&maker_add(&maker, 100)->threads[0], 2000, 0x1000, 100);
	maker_close(&maker);
	finalize();
	char *first = strdup(text_of("summary.json"));

	finalize();
	ck_assert_str_eq(first, text_of("summary.json"));
	ck_assert(!rvp_failed(rvp_finalize_if_stale(maker.folder)));
	free(first);
	maker_remove(&maker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_outputs");
	TCase *cases = tcase_create("outputs");

	suite_add_tcase(suite, cases);
	tcase_add_test(cases, rows_of_memory_csv);
	tcase_add_test(cases, the_last_row_is_not_the_nothing_behind_the_end);
	tcase_add_test(cases, totals_of_summary);
	tcase_add_test(cases, overhead_is_what_the_timed_events_say);
	tcase_add_test(cases, what_was_not_measured_is_absent);
	tcase_add_test(cases, trace_is_what_perfetto_takes);
	tcase_add_test(cases, a_long_trace_is_cut_and_says_so);
	tcase_add_test(cases, finalize_again_gives_the_same);
	return run_suite(suite);
}
