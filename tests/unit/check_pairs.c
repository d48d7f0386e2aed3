/* SPDX-License-Identifier: MIT */
/* What bench/overhead makes of samples. */
#include "report/pairs.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <math.h>

START_TEST(the_median_needs_no_order)
{
	ck_assert_double_eq(rvp_pairs_median((double[]){3, 1, 2}, 3), 2);
	ck_assert_double_eq(rvp_pairs_median((double[]){4, 1, 2, 3}, 4), 2.5);
	ck_assert(isnan(rvp_pairs_median(NULL, 0)));
}
END_TEST

/* The ranks are those of the tables of the sign test: of 15 samples the 4th and the 12th, of 6 the first and
 * the last. */
START_TEST(the_band_is_between_ranks)
{
	double ratios[15];
	struct rvp_band band;

	for (int i = 0; i < 15; i++)
		ratios[i] = 0.93 + 0.01 * (double)((i * 7) % 15); /* 0.93 to 1.07 in some order */
	band = rvp_equal_band(ratios, 15);
	ck_assert_double_eq_tol(band.low, 0.96, 1e-9);
	ck_assert_double_eq_tol(band.high, 1.04, 1e-9);
	band = rvp_equal_band((double[]){0.9, 1.1, 1, 0.95, 1.05, 1.2}, 6);
	ck_assert_double_eq(band.low, 0.9);
	ck_assert_double_eq(band.high, 1.2);
	ck_assert(isinf(rvp_equal_band(ratios, 5).high));
}
END_TEST

START_TEST(a_constant_difference_is_in_the_band)
{
	double ratios[20];
	struct rvp_band band;

	for (int i = 0; i < 20; i++)
		ratios[i] = 1.08 + 0.001 * i;
	band = rvp_equal_band(ratios, 20);
	ck_assert_double_eq(band.low, 1);
	ck_assert_double_gt(band.high, 1.08);
}
END_TEST

START_TEST(a_bar_nearer_than_the_noise_is_not_judged)
{
	struct rvp_band band = {0.99, 1.02}; /* 0.03 wide: a bar 6 % away can just not be seen */

	ck_assert_int_eq(rvp_bar_judge(1.05, 1.1, 1.1, band, 15), RVP_BAR_MET);
	ck_assert_int_eq(rvp_bar_judge(1.15, 1.1, 1.1, band, 15), RVP_BAR_MISSED);
	ck_assert_int_eq(rvp_bar_judge(1.00, 1.05, 1.05, band, 15), RVP_BAR_NOT_RESOLVED);
	ck_assert_int_eq(rvp_bar_judge(9.00, 1.05, 1.05, band, 15), RVP_BAR_NOT_RESOLVED);
	ck_assert_int_eq(rvp_bar_judge(1.05, 1.1, 1.1, band, 14), RVP_BAR_NOT_RESOLVED);
	ck_assert_int_eq(rvp_bar_judge(NAN, 1.1, 1.1, band, 15), RVP_BAR_NOT_RESOLVED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pairs");
	TCase *cases = tcase_create("samples");

	tcase_add_test(cases, the_median_needs_no_order);
	tcase_add_test(cases, the_band_is_between_ranks);
	tcase_add_test(cases, a_constant_difference_is_in_the_band);
	tcase_add_test(cases, a_bar_nearer_than_the_noise_is_not_judged);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
