/* SPDX-License-Identifier: MIT */
/* check_shortest.c: the least digits, in the layouts of formats that others read.
 *
 * Expected texts: Rust's `{}` and serde_json by their documentation; numbers are judged by strtof and strtod.
 */
#include "report/shortest.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char text[RVP_SHORTEST_TEXT_BYTES];

static const char *plain(double value)
{
	struct rvp_shortest shortest = rvp_shortest_double(value);

	return rvp_shortest_plain(&shortest, text);
}

static const char *json_float(float value)
{
	struct rvp_shortest shortest = rvp_shortest_float(value);

	return rvp_shortest_json(&shortest, text);
}

START_TEST(plain_has_no_exponent)
{
	ck_assert_str_eq(plain(0), "0");
	ck_assert_str_eq(plain(-0.0), "-0");
	ck_assert_str_eq(plain(0.25), "0.25");
	ck_assert_str_eq(plain(-0.003), "-0.003");
	ck_assert_str_eq(plain(1e-7), "0.0000001");
	ck_assert_str_eq(plain(1e21), "1000000000000000000000");
	ck_assert_str_eq(plain(1200), "1200");
	ck_assert_str_eq(plain(0.1 + 0.2), "0.30000000000000004");
	ck_assert_str_eq(plain(NAN), "NaN");
	ck_assert_str_eq(plain(INFINITY), "inf");
	ck_assert_str_eq(plain(-INFINITY), "-inf");
	ck_assert_uint_eq(strlen(plain(-5e-324)), 327);
}
END_TEST

START_TEST(json_has_a_point_or_an_exponent)
{
	ck_assert_str_eq(json_float(0.5f), "0.5");
	ck_assert_str_eq(json_float(0.01f), "0.01");
	ck_assert_str_eq(json_float(1), "1.0");
	ck_assert_str_eq(json_float(0), "0.0");
	ck_assert_str_eq(json_float(-0.0f), "-0.0");
	ck_assert_str_eq(json_float(0.3f), "0.3");
	ck_assert_str_eq(json_float(1e6f), "1000000.0");
	ck_assert_str_eq(json_float(123456.789f), "123456.79");
	ck_assert_str_eq(json_float(1e-4f), "0.0001");
	ck_assert_str_eq(json_float(1e-6f), "1e-6");
	ck_assert_str_eq(json_float(1.5e-7f), "1.5e-7");
	ck_assert_str_eq(json_float(2e16f), "2e16");
	ck_assert_str_eq(json_float(NAN), "null");
}
END_TEST

START_TEST(every_text_reads_back)
{
	uint64_t seed = 88172645463325252u;

	for (int i = 0; i < 200000; i++) {
		struct rvp_shortest shortest;
		double wide;
		float narrow;

		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		memcpy(&wide, &seed, sizeof wide);
		memcpy(&narrow, &seed, sizeof narrow);
		if (isfinite(narrow)) {
			shortest = rvp_shortest_float(narrow);
			ck_assert(strtof(rvp_shortest_json(&shortest, text), NULL) == narrow);
			ck_assert(strtof(rvp_shortest_plain(&shortest, text), NULL) == narrow);
			ck_assert_int_le(shortest.count, 9);
		}
		if (isfinite(wide) && i % 16 == 0) {
			shortest = rvp_shortest_double(wide);
			ck_assert(strtod(rvp_shortest_json(&shortest, text), NULL) == wide);
			ck_assert(strtod(rvp_shortest_plain(&shortest, text), NULL) == wide);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shortest");
	TCase *tests = tcase_create("digits");

	tcase_add_test(tests, plain_has_no_exponent);
	tcase_add_test(tests, json_has_a_point_or_an_exponent);
	tcase_add_test(tests, every_text_reads_back);
	tcase_set_timeout(tests, 60);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
