/* SPDX-License-Identifier: MIT */
/* check_text_times.c: the moments that people write. The made run lasts 10 s from MAKER_EPOCH_NS. */
#include "report/text_times.h"

#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <string.h>

static struct maker maker;
static struct rvp_run *run;

static void begin(void)
{
	struct maker_thread *first, *second;

	maker = maker_open();
	first = &maker_add(&maker, 100)->threads[0];
	second = &maker_add(&maker, 200)->threads[0];
	MAKE(first, MARK, 9, .stamp = 3000000000, .kind = RVP_MARK_LABEL, .label = {"loaded", 6});
	MAKE(first, STEP, 9, .stamp = 4000000000, .kind = RVP_STEP_NEXT);
	MAKE(first, STEP, 9, .stamp = 5000000000, .kind = RVP_STEP_NEXT);
	MAKE(first, MARK, 9, .stamp = 5500000000, .kind = RVP_MARK_METRIC, .value = 1, .label = {"speed", 5});
	MAKE(first, MARK, 9, .stamp = 6000000000, .kind = RVP_MARK_LABEL, .label = {"loaded", 6});
	MAKE(second, MARK, 9, .stamp = 7000000000, .kind = RVP_MARK_LABEL, .label = {"40%", 3});
	MAKE(second, MARK, 9, .stamp = 8000000000, .kind = RVP_MARK_LABEL, .label = {"warm\033[m", 7});
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
}

static void end(void)
{
	rvp_run_close(run);
	maker_remove(&maker);
}

/* The moment in ms since the start. */
static double ms_of(const char *text)
{
	uint64_t ns = 0;
	struct rvp_status status = rvp_time_of(run, text, run->begin_ns + 2500000000u, &ns);

	ck_assert_msg(!rvp_failed(status), "%s: %s", text, status.detail);
	return (double)(ns - run->begin_ns) / 1e6;
}

static const char *complaint_of(const char *text)
{
	static struct rvp_status status;
	uint64_t ns;

	status = rvp_time_of(run, text, RVP_NEVER, &ns);
	ck_assert_msg(rvp_failed(status), "%s is taken", text);
	return status.detail;
}

START_TEST(seconds_percent_peak_and_end)
{
	double length_ms = (double)(run->end_ns - run->begin_ns) / 1e6;

	ck_assert_double_ge(length_ms, 9999);
	ck_assert_double_eq_tol(ms_of("0s"), 0, 0.001);
	ck_assert_double_eq_tol(ms_of("2.5s"), 2500, 0.001);
	ck_assert_double_eq_tol(ms_of("40%"), 0.4 * length_ms, 0.001);
	ck_assert_double_eq_tol(ms_of("100%"), length_ms, 0.001);
	ck_assert_double_eq_tol(ms_of("peak"), 2500, 0.001);
	ck_assert_double_eq_tol(ms_of("end"), length_ms, 0.001);
}
END_TEST

START_TEST(marks_by_label_the_first_counts_and_steps_by_number)
{
	double start_ms = (double)(run->begin_ns - MAKER_EPOCH_NS) / 1e6;

	ck_assert_double_eq_tol(ms_of("loaded") + start_ms, 3000, 0.001);
	ck_assert_double_eq_tol(ms_of("step:0") + start_ms, 4000, 0.001);
	ck_assert_double_eq_tol(ms_of("step:1") + start_ms, 5000, 0.001);
}
END_TEST

START_TEST(what_is_no_moment_is_told_with_what_would_be_one)
{
	static const char *const wrong[] = {"",      "s",      "1",      "1m",    "-1s",  "1.s5",
					    "0x1s",  "inf",    "infs",   "nans",  "load", "speed",
					    "step:", "step:x", "1e400s"};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		ck_assert_ptr_nonnull(
		    strstr(complaint_of(wrong[i]), "12.5s, 40%, step:3, peak, end or a mark: loaded"));
	ck_assert_ptr_null(strchr(complaint_of("load"), '\033'));
	ck_assert_ptr_nonnull(strstr(complaint_of("1000s"), "the run is "));
	ck_assert_str_eq(complaint_of("step:2"), "the steps are 0 to 1");
	ck_assert_str_eq(complaint_of("101%"), "more than 100 %");
	ck_assert_str_eq(complaint_of("peak"), "no block was recorded");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text_times");
	TCase *tests = tcase_create("times");

	tcase_add_checked_fixture(tests, begin, end);
	tcase_add_test(tests, seconds_percent_peak_and_end);
	tcase_add_test(tests, marks_by_label_the_first_counts_and_steps_by_number);
	tcase_add_test(tests, what_is_no_moment_is_told_with_what_would_be_one);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
