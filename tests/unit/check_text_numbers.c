/* SPDX-License-Identifier: MIT */
/* check_text_numbers.c: numbers as people read them. */
#include "report/text_numbers.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <time.h>

static char text[RVP_NUMBER_TEXT_BYTES];

START_TEST(bytes_have_a_unit_and_a_tenth)
{
	ck_assert_str_eq(rvp_text_bytes(0, text), "0 B");
	ck_assert_str_eq(rvp_text_bytes(1023, text), "1023 B");
	ck_assert_str_eq(rvp_text_bytes(1024, text), "1.0 KiB");
	ck_assert_str_eq(rvp_text_bytes(1536, text), "1.5 KiB");
	ck_assert_str_eq(rvp_text_bytes(96 << 20, text), "96.0 MiB");
	ck_assert_str_eq(rvp_text_bytes((3ull << 30) + (1ull << 29), text), "3.5 GiB");
	ck_assert_str_eq(rvp_text_bytes(UINT64_MAX, text), "16.0 EiB");
}
END_TEST

START_TEST(bytes_just_below_a_unit_do_not_read_as_1024)
{
	ck_assert_str_eq(rvp_text_bytes((1 << 20) - 1, text), "1023.9 KiB");
	ck_assert_str_eq(rvp_text_bytes((1ull << 30) - 1, text), "1023.9 MiB");
}
END_TEST

START_TEST(changes_have_a_sign)
{
	ck_assert_str_eq(rvp_text_change(1536, text), "+1.5 KiB");
	ck_assert_str_eq(rvp_text_change(-3, text), "-3 B");
	ck_assert_str_eq(rvp_text_change(0, text), "0 B");
	ck_assert_str_eq(rvp_text_change(INT64_MIN, text), "-8.0 EiB");
}
END_TEST

START_TEST(counts_are_exact_and_grouped)
{
	ck_assert_str_eq(rvp_text_count(0, text), "0");
	ck_assert_str_eq(rvp_text_count(999, text), "999");
	ck_assert_str_eq(rvp_text_count(1000, text), "1,000");
	ck_assert_str_eq(rvp_text_count(1234567, text), "1,234,567");
	ck_assert_str_eq(rvp_text_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
}
END_TEST

START_TEST(shares_never_read_as_nothing_when_there_is_something)
{
	ck_assert_str_eq(rvp_text_share(1, 3, text), "33.3 %");
	ck_assert_str_eq(rvp_text_share(1, 100000, text), "<0.1 %");
	ck_assert_str_eq(rvp_text_share(0, 100000, text), "0.0 %");
	ck_assert_str_eq(rvp_text_share(5, 0, text), "-");
}
END_TEST

START_TEST(durations_and_times)
{
	setenv("TZ", "UTC", 1);
	tzset();
	ck_assert_str_eq(rvp_text_duration(850000000, text), "850 ms");
	ck_assert_str_eq(rvp_text_duration(12345678901, text), "12.345 s");
	ck_assert_str_eq(rvp_text_duration(184000000000, text), "3 min 04 s");
	ck_assert_str_eq(rvp_text_duration(7384000000000, text), "2 h 03 min 04 s");
	/* date -u -d @1795266184 */
	ck_assert_str_eq(rvp_text_date(1795266184000000000, text), "2026-11-21 13:03:04");
	ck_assert_str_eq(rvp_text_clock(1795266184000000000, text), "13:03:04");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text_numbers");
	TCase *tests = tcase_create("numbers");

	tcase_add_test(tests, bytes_have_a_unit_and_a_tenth);
	tcase_add_test(tests, bytes_just_below_a_unit_do_not_read_as_1024);
	tcase_add_test(tests, changes_have_a_sign);
	tcase_add_test(tests, counts_are_exact_and_grouped);
	tcase_add_test(tests, shares_never_read_as_nothing_when_there_is_something);
	tcase_add_test(tests, durations_and_times);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
