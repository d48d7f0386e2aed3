/* SPDX-License-Identifier: MIT */
/* check_kernels_files.c: kernels.csv beyond its bound, and where there is no room for it; runs of two processes. */
#include "report/export_csv.h"
#include "report/finalize.h"
#include "report/text_kernels.h"
#include "report/write_kernels.h"
#include "tests/unit/made_kernels.h"
#include "tests/unit/run_suite.h"

#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { KERNELS = 5000 };

static struct maker maker;
static struct rvp_run *run;

/* One after the other on one stream, a microsecond each, launched by nobody. */
static void make_many(void)
{
	maker = maker_open();
	struct maker_thread *thread = &maker_add(&maker, 100)->threads[0];

	put_device(thread);
	for (uint64_t i = 0; i < KERNELS; i++)
		MAKE(thread, KERNEL, 0, .start_ns = KERNELS_AT(1000 + 2 * i), .duration_ns = 1000, .correlation = 1 + i,
		     .shape = 1 + i % 3, .stream = 7);
	maker_close(&maker);
}

static char *whole(size_t *bytes)
{
	char *text;
	FILE *file = open_memstream(&text, bytes);

	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	ck_assert(!rvp_failed(rvp_export_csv(run, file)));
	fclose(file);
	rvp_run_close(run);
	return text;
}

/* The run stays open for `kernels`: done() closes it. */
static char *bounded(uint64_t max_bytes, struct rvp_kernel_csv *csv, struct rvp_kernels *kernels)
{
	struct rvp_kernel_sink *sinks[] = {&csv->sink, NULL};
	size_t bytes;
	char *text;
	FILE *file = open_memstream(&text, &bytes);

	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	rvp_kernel_csv_open(csv, run, file, max_bytes);
	ck_assert(!rvp_failed(rvp_kernels_read(kernels, run, &(struct rvp_kernel_question){.sinks = sinks})));
	fclose(file);
	ck_assert_uint_eq(bytes, csv->bytes);
	return text;
}

static void done(struct rvp_kernels *kernels, char *text)
{
	rvp_kernels_free(kernels);
	rvp_run_close(run);
	free(text);
}

static uint64_t lines_in(const char *text)
{
	uint64_t lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

/* Whole rows up to the bound, a byte more or less than one takes; the rest counted; all sums as without it. */
START_TEST(rows_up_to_the_bound)
{
	struct rvp_kernel_csv csv;
	struct rvp_kernels kernels;
	size_t bytes;
	char *all, *text, *third;

	make_many();
	all = whole(&bytes);
	ck_assert_uint_eq(lines_in(all), KERNELS + 1);
	third = all;
	for (int i = 0; i < 4; i++)
		third = strchr(third, '\n') + 1;
	for (int less = 0; less < 2; less++) {
		text = bounded((uint64_t)(third - all - less), &csv, &kernels);
		ck_assert_uint_eq(lines_in(text), (uint64_t)(4 - less));
		ck_assert_int_eq(strncmp(text, all, strlen(text)), 0);
		ck_assert_uint_eq(csv.rows, (uint64_t)(3 - less));
		ck_assert_uint_eq(csv.cut_rows, KERNELS - csv.rows);
		ck_assert_uint_eq(kernels.kernels.count, KERNELS);
		ck_assert_uint_eq(kernels.kernels.ns, KERNELS * 1000);
		done(&kernels, text);
	}
	text = bounded(bytes, &csv, &kernels);
	ck_assert_str_eq(text, all);
	ck_assert_uint_eq(csv.cut_rows, 0);
	done(&kernels, text);
	free(all);
	maker_remove(&maker);
}
END_TEST

/* The report says so, and where the rest is. */
START_TEST(the_report_says_what_is_cut)
{
	struct rvp_view view = {0};
	struct rvp_kernel_csv csv;
	struct rvp_kernels kernels;
	char *text, *rows;
	size_t bytes;

	make_many();
	rows = bounded(10000, &csv, &kernels);
	kernels.csv_rows = csv.rows;
	for (int is_cut = 0; is_cut < 2; is_cut++) {
		char wanted[120];

		kernels.csv_cut_rows = is_cut ? csv.cut_rows : 0;
		view.out = open_memstream(&text, &bytes);
		rvp_text_kernels_section(&view, &kernels);
		fclose(view.out);
		snprintf(wanted, sizeof wanted, "kernels.csv has the first %lu of 5,000: rvprof export csv writes all\n",
			 csv.rows);
		ck_assert_int_eq(strstr(text, wanted) != NULL, is_cut);
		free(text);
	}
	done(&kernels, rows);
	maker_remove(&maker);
}
END_TEST

static json_t *summary(void)
{
	char path[128];
	json_t *json;

	snprintf(path, sizeof path, "%s/summary.json", maker.folder);
	json = json_load_file(path, 0, NULL);
	ck_assert_ptr_nonnull(json);
	return json;
}

static bool is_there(const char *name)
{
	char path[128];

	snprintf(path, sizeof path, "%s/%s", maker.folder, name);
	return access(path, F_OK) == 0;
}

/* A file may have 256 KiB: kernels.csv and the trace want more. Nothing else is touched by it. */
START_TEST(what_cannot_be_written_leaves_the_rest)
{
	struct rlimit old, few;
	struct rvp_status status;
	char line[600];
	json_t *json;

	make_many();
	getrlimit(RLIMIT_FSIZE, &old);
	few = (struct rlimit){256 << 10, old.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &few);
	status = rvp_finalize(maker.folder);
	setrlimit(RLIMIT_FSIZE, &old);
	ck_assert(rvp_failed(status));
	ck_assert_str_eq(rvp_status_line(&status, line, sizeof line),
			 "cannot write kernels.csv and trace.json: File too large; the other outputs are written");
	ck_assert(is_there("memory.csv") && is_there("categories.csv") && is_there("latency.csv"));
	ck_assert(!is_there("kernels.csv") && !is_there("trace.json"));
	ck_assert(!is_there(".kernels.csv.new") && !is_there(".trace.json.new"));
	json = summary();
	ck_assert_uint_eq(json_array_size(json_object_get(json, "not_written")), 2);
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(json, "kernels"), "count")), KERNELS);
	json_decref(json);
	ck_assert(!rvp_failed(rvp_finalize(maker.folder)));
	ck_assert(is_there("kernels.csv") && is_there("trace.json"));
	json = summary();
	ck_assert_ptr_null(json_object_get(json, "not_written"));
	json_decref(json);
	maker_remove(&maker);
}
END_TEST

/* Two processes, a device 0 each: the second's kernel runs during a step of the first. */
static void make_two(void)
{
	maker = maker_open();
	struct maker_thread *a = &maker_add(&maker, 100)->threads[0], *b = &maker_add(&maker, 200)->threads[0];

	for (int i = 0; i < 2; i++) {
		struct maker_thread *thread = i ? b : a;

		put_device(thread);
		MAKE(thread, KERNEL, 0, .start_ns = KERNELS_AT(12000 + 1000 * i), .duration_ns = 1000, .correlation = 1,
		     .shape = 1, .stream = 7);
	}
	MAKE(a, STEP, 16, .stamp = 10 * KERNELS_MS, .kind = RVP_STEP_BEGIN, .source = RVP_SOURCE_API);
	MAKE(a, STEP, 16, .stamp = 20 * KERNELS_MS, .kind = RVP_STEP_END, .source = RVP_SOURCE_API);
	maker_close(&maker);
}

START_TEST(processes_have_devices_and_steps_of_their_own)
{
	json_int_t ids[2], pids[2];
	char path[128];
	json_t *json, *event;
	size_t i, kernels = 0;

	make_two();
	ck_assert(!rvp_failed(rvp_finalize(maker.folder)));
	json = summary();
	ck_assert_int_eq(json_integer_value(json_object_get(json_object_get(json, "kernels"), "in_steps_of_other_processes")), 1);
	json_decref(json);
	snprintf(path, sizeof path, "%s/trace.json", maker.folder);
	json = json_load_file(path, 0, NULL);
	ck_assert_uint_eq(json_array_size(json_object_get(json, "deviceProperties")), 2);
	for (i = 0; i < 2; i++)
		ids[i] = json_integer_value(
		    json_object_get(json_array_get(json_object_get(json, "deviceProperties"), i), "id"));
	json_array_foreach(json_object_get(json, "traceEvents"), i, event)
		if (!strcmp(json_string_value(json_object_get(event, "cat")) ?: "", "kernel") && kernels < 2)
			pids[kernels++] = json_integer_value(json_object_get(event, "pid"));
	ck_assert_uint_eq(kernels, 2);
	ck_assert_int_ne(ids[0], ids[1]);
	for (i = 0; i < 2; i++)
		ck_assert_int_eq(ids[i], pids[i]);
	json_decref(json);
	maker_remove(&maker);
}
END_TEST

START_TEST(no_device_no_file)
{
	maker = maker_open();
	maker_add(&maker, 100);
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_finalize(maker.folder)));
	ck_assert(is_there("trace.json") && !is_there("kernels.csv"));
	maker_remove(&maker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernels_files");
	TCase *test = tcase_create("files");

	tcase_add_test(test, rows_up_to_the_bound);
	tcase_add_test(test, the_report_says_what_is_cut);
	tcase_add_test(test, processes_have_devices_and_steps_of_their_own);
	tcase_add_test(test, no_device_no_file);
	tcase_add_test(test, what_cannot_be_written_leaves_the_rest);
	tcase_set_timeout(test, 60);
	suite_add_tcase(suite, test);
	return run_suite(suite);
}
