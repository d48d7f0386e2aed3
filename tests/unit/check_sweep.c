/* SPDX-License-Identifier: MIT */
/* check_sweep.c: the arithmetic of a sweep against tables and worked examples that others printed, and the
 * words that a plan is made of. */
#include "sweep/growth.h"
#include "sweep/places.h"
#include "sweep/plan_words.h"
#include "sweep/student.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void is_near(double value, double expected, double within)
{
	ck_assert_msg(fabs(value - expected) <= within, "%.9g, expected %.9g", value, expected);
}

/* ---- Student's t ---- */

/* NIST/SEMATECH e-Handbook, table 1.3.6.7.2: upper critical values; 0.975 is two-sided 0.05, 0.995 is 0.01.
 */
static const struct {
	double freedom, t_05, t_01, t_10;
} t_table[] = {{1, 12.706, 63.657, 6.314}, {2, 4.303, 9.925, 2.920},  {3, 3.182, 5.841, 2.353},
	       {4, 2.776, 4.604, 2.132},   {5, 2.571, 4.032, 2.015},  {9, 2.262, 3.250, 1.833},
	       {14, 2.145, 2.977, 1.761},  {30, 2.042, 2.750, 1.697}, {60, 2.000, 2.660, 1.671},
	       {100, 1.984, 2.626, 1.660}};
enum { T_ROWS = sizeof t_table / sizeof *t_table };

START_TEST(quantiles_are_those_of_the_tables)
{
	for (int i = 0; i < T_ROWS; i++) {
		is_near(rvp_student_quantile(0.05, t_table[i].freedom), t_table[i].t_05, 0.0005);
		is_near(rvp_student_quantile(0.01, t_table[i].freedom), t_table[i].t_01, 0.0005);
		is_near(rvp_student_quantile(0.10, t_table[i].freedom), t_table[i].t_10, 0.0005);
	}
}
END_TEST

/* One degree of freedom is Cauchy's distribution, two have a closed form; many are the normal distribution.
 */
START_TEST(tails_are_those_of_closed_forms)
{
	for (double t = 0; t < 50; t = t * 1.7 + 0.01) {
		is_near(rvp_student_two_sided(t, 1), 1 - 2 / M_PI * atan(t), 1e-12);
		is_near(rvp_student_two_sided(t, 2), 1 - t / sqrt(2 + t * t), 1e-12);
		is_near(rvp_student_two_sided(-t, 2), rvp_student_two_sided(t, 2), 0);
		is_near(rvp_student_two_sided(t, 1e7), erfc(t / sqrt(2)), 1e-6);
	}
	is_near(rvp_student_two_sided(NAN, 5), 1, 0);
	is_near(rvp_student_two_sided(INFINITY, 5), 0, 0);
}
END_TEST

/* Student's own data (1908): hours of sleep gained by ten patients, by the second drug over the first. */
START_TEST(a_mean_of_few_is_students)
{
	static const double gained[] = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};
	struct rvp_mean_test test = rvp_mean_test(gained, 10, 0.05);

	is_near(test.mean, 1.58, 1e-12);
	is_near(test.p, 0.00283289, 1e-8); /* t = 4.0621 with 9 degrees of freedom */
	is_near(test.mean - test.half, 0.7001142, 1e-6);
	is_near(test.mean + test.half, 2.4598858, 1e-6);
}
END_TEST

START_TEST(too_few_say_nothing)
{
	static const double one[] = {3}, equal[] = {2, 2, 2}, zeros[] = {0, 0};

	ck_assert(isnan(rvp_mean_test(NULL, 0, 0.05).mean));
	is_near(rvp_mean_test(one, 1, 0.05).p, 1, 0);
	ck_assert(isinf(rvp_mean_test(one, 1, 0.05).half));
	is_near(rvp_mean_test(equal, 3, 0.05).p, 0, 0);
	is_near(rvp_mean_test(zeros, 2, 0.05).p, 1, 0);
}
END_TEST

/* ---- Holm ---- */

/* Holm's way by hand: 4 x 0.005, 3 x 0.01, 2 x 0.03, 1 x 0.04 which may not be below the one before. */
START_TEST(holms_correction_is_the_worked_example)
{
	double p[] = {0.01, 0.04, 0.03, 0.005}, equal[] = {0.5, 0.5, 0.5}, one[] = {0.04};

	rvp_holm(p, 4);
	is_near(p[0], 0.03, 1e-15);
	is_near(p[1], 0.06, 1e-15);
	is_near(p[2], 0.06, 1e-15);
	is_near(p[3], 0.02, 1e-15);
	rvp_holm(equal, 3);
	for (int i = 0; i < 3; i++)
		is_near(equal[i], 1, 0);
	rvp_holm(one, 1);
	is_near(one[0], 0.04, 0);
	rvp_holm(NULL, 0);
}
END_TEST

/* Of families of equal things one in twenty shows anything at all. 8 tests each; p of nothing is even from 0
 * to 1. */
START_TEST(a_family_errs_once_in_twenty)
{
	enum { FAMILIES = 20000, TESTS = 8 };
	int wrong = 0;

	srand48(8);
	for (int i = 0; i < FAMILIES; i++) {
		double p[TESTS], least = 1;

		for (int k = 0; k < TESTS; k++)
			p[k] = drand48();
		rvp_holm(p, TESTS);
		for (int k = 0; k < TESTS; k++)
			least = fmin(least, p[k]);
		wrong += least < 0.05;
	}
	is_near((double)wrong / FAMILIES, 1 - pow(1 - 0.05 / TESTS, TESTS), 0.005);
}
END_TEST

/* ---- growth ---- */

START_TEST(an_exact_power_law_has_its_exponent)
{
	for (double exponent = -1; exponent < 3.1; exponent += 0.5) {
		struct rvp_growth_point points[6];
		struct rvp_growth growth;

		for (int i = 0; i < 6; i++)
			points[i] =
			    (struct rvp_growth_point){.x = 64 << i, .y = 3.5 * pow(64 << i, exponent)};
		growth = rvp_growth_of(points, 6);
		is_near(growth.exponent, exponent, 1e-12);
		is_near(growth.half, 0, 1e-6);
		ck_assert_uint_eq(growth.points, 6);
		ck_assert_uint_eq(growth.groups, 1);
	}
}
END_TEST

/* Each combination of the other axes has a factor of its own: without groups the slope would be another one.
 */
START_TEST(groups_share_the_exponent_alone)
{
	struct rvp_growth_point points[9], no_groups[9];

	for (size_t i = 0; i < 9; i++) {
		double x = (double)(1 << (i % 3 + i / 3));

		points[i] =
		    (struct rvp_growth_point){.x = x, .y = pow(100, (double)(i / 3)) * x * x, .group = i / 3};
		no_groups[i] = points[i];
		no_groups[i].group = 0;
	}
	is_near(rvp_growth_of(points, 9).exponent, 2, 1e-12);
	ck_assert(fabs(rvp_growth_of(no_groups, 9).exponent - 2) > 0.5);
}
END_TEST

/* NIST's reference data set Norris is a straight line with certified values; here as exponents of what its
 * logarithms are: slope 1.00211681802045, its standard error 0.429796848199937E-03, 36 points. y, x. */
static const double norris[][2] = {
    {0.1, 0.2},     {338.8, 337.4}, {118.1, 118.2}, {888.0, 884.6}, {9.2, 10.1},    {228.1, 226.5},
    {668.5, 666.3}, {998.5, 996.3}, {449.1, 448.6}, {778.9, 777.0}, {559.2, 558.2}, {0.3, 0.4},
    {0.1, 0.6},     {778.1, 775.5}, {668.8, 666.9}, {339.3, 338.0}, {448.9, 447.5}, {10.8, 11.6},
    {557.7, 556.0}, {228.3, 228.1}, {998.0, 995.8}, {888.8, 887.6}, {119.6, 120.2}, {0.3, 0.3},
    {0.6, 0.3},     {557.6, 556.8}, {339.3, 339.1}, {888.0, 887.2}, {998.5, 999.0}, {778.9, 779.0},
    {10.2, 11.1},   {117.6, 118.3}, {228.9, 229.2}, {668.4, 669.1}, {449.2, 448.9}, {0.2, 0.5}};

START_TEST(a_noisy_line_has_the_certified_error)
{
	enum { COUNT = sizeof norris / sizeof *norris };
	struct rvp_growth_point points[COUNT];
	struct rvp_growth growth;

	for (int i = 0; i < COUNT; i++) /* / 100: exp() of 999 is beyond a double */
		points[i] =
		    (struct rvp_growth_point){.x = exp(norris[i][1] / 100), .y = exp(norris[i][0] / 100)};
	growth = rvp_growth_of(points, COUNT);
	is_near(growth.exponent, 1.00211681802045, 1e-12);
	is_near(growth.error, 0.000429796848199937, 1e-12);
	is_near(growth.fit, 0.999993745883712, 1e-12);
	is_near(growth.half, 2.0322445 * 0.000429796848199937, 1e-9); /* t of 34 degrees of freedom */
}
END_TEST

START_TEST(what_says_nothing_of_growth_is_left_out)
{
	struct rvp_growth_point two[] = {{1, 5, 0}, {2, 10, 0}}, same_x[] = {{4, 1, 0}, {4, 2, 0}, {4, 3, 0}},
				holes[] = {{1, 2, 0},   {2, 0, 0}, {0, 7, 0},  {2, NAN, 0},
					   {NAN, 1, 0}, {4, 8, 0}, {8, 16, 0}, {3, 9, 1}},
				flat[] = {{1, 5, 0}, {2, 5, 0}, {4, 5, 0}};
	struct rvp_growth growth = rvp_growth_of(two, 2);

	is_near(growth.exponent, 1, 1e-12);
	ck_assert(isinf(growth.half));
	growth = rvp_growth_of(same_x, 3);
	ck_assert(isnan(growth.exponent) && isnan(growth.half) && growth.points == 0);
	ck_assert(rvp_growth_of(NULL, 0).points == 0);
	growth = rvp_growth_of(holes, 8);
	is_near(growth.exponent, 1, 1e-12);
	ck_assert_uint_eq(growth.points, 3);
	growth = rvp_growth_of(flat, 3);
	is_near(growth.exponent, 0, 1e-12);
	ck_assert(isnan(growth.fit));
}
END_TEST

/* Two axes: settings are numbered with the last axis turning fastest. */
START_TEST(an_axis_grows_by_itself)
{
	struct rvp_plan plan;
	struct rvp_sweep sweep = {.plan = &plan};
	struct rvp_outcomes outcomes = {.rows = calloc(8, sizeof *outcomes.rows)};
	struct rvp_growth growth;

	rvp_plan_begin(&plan);
	ck_assert(!rvp_failed(rvp_plan_add_axis(&plan, "n=64,128,256")));
	ck_assert(!rvp_failed(rvp_plan_add_axis(&plan, "type=f16,q8_0")));
	outcomes.rows[outcomes.count++] =
	    (struct rvp_outcome){.setting = RVP_BASELINE, .is_recorded = true, .peak_bytes = 1};
	for (size_t i = 0; i < 6; i++) {
		double n = 64 << i / 2, factor = i % 2 ? 17.0 / 32 : 1;

		outcomes.rows[outcomes.count++] =
		    (struct rvp_outcome){.setting = i,
					 .is_recorded = true,
					 .peak_bytes = n * n * factor,
					 .kv_cache_bytes = NAN,
					 .p95_us = sqrt(n),
					 .metrics = json_pack("{s:f}", "flops", n * n * n)};
	}
	ck_assert(rvp_growth_of_axis(&growth, &sweep, &outcomes, 0, RVP_GROWN_PEAK));
	is_near(growth.exponent, 2, 1e-12);
	ck_assert_uint_eq(growth.points, 6);
	ck_assert_uint_eq(growth.groups, 2);
	ck_assert(rvp_growth_of_axis(&growth, &sweep, &outcomes, 0, RVP_GROWN_P95));
	is_near(growth.exponent, 0.5, 1e-12);
	ck_assert(rvp_growth_of_axis(&growth, &sweep, &outcomes, 0, RVP_GROWN_KV_CACHE) &&
		  growth.points == 0);
	ck_assert(rvp_growth_of_axis(&growth, &sweep, &outcomes, 1, RVP_GROWN_PEAK) && growth.points == 0);
	ck_assert(rvp_growth_of_metric(&growth, &sweep, &outcomes, 0, "flops"));
	is_near(growth.exponent, 3, 1e-12);
	ck_assert(rvp_growth_of_metric(&growth, &sweep, &outcomes, 0, "other") && growth.points == 0);
	for (size_t i = 0; i < outcomes.count; i++)
		json_decref(outcomes.rows[i].metrics);
	rvp_plan_free(&plan);
	free(outcomes.rows);
}
END_TEST

/* ---- texts with places ---- */

static const char *find(void *context, const char *name, size_t length)
{
	(*(int *)context)++;
	if (length == 6 && strncmp(name, "lambda", 6) == 0)
		return "0.5";
	return length == 4 && strncmp(name, "seed", 4) == 0 ? "{lambda}" : NULL;
}

static void fills(const char *text, const char *expected)
{
	const char *wrong;
	int asked = 0;
	char *filled = rvp_places_fill(text, find, &asked, &wrong);

	ck_assert_msg(filled && strcmp(filled, expected) == 0, "'%s': '%s'", text,
		      filled ? filled : "nothing");
	free(filled);
}

START_TEST(places_are_names_in_braces)
{
	fills("", "");
	fills("--lambda {lambda}", "--lambda 0.5");
	fills("{lambda}{lambda}", "0.50.5");
	fills("{seed}", "{lambda}"); /* what was filled in is not looked at again */
	fills("awk '{ print $1 }' {\"a\": 1} {}", "awk '{ print $1 }' {\"a\": 1} {}");
	fills("{{lambda}} {{other}}", "{lambda} {other}");
	fills("{{{lambda}}}", "{{lambda}}");
	fills("{1} {lambda", "{1} {lambda");
	fills("a{", "a{");
}
END_TEST

START_TEST(a_place_that_nothing_fills_is_pointed_at)
{
	static const char text[] = "a {lambda} {other} {third}";
	const char *wrong;
	int asked = 0;

	ck_assert_ptr_null(rvp_places_fill(text, find, &asked, &wrong));
	ck_assert_ptr_eq(wrong, strstr(text, "{other}"));
	ck_assert(rvp_places_has(text, "third") && rvp_places_has(text, "lambda"));
	ck_assert(!rvp_places_has(text, "lamb") && !rvp_places_has("{{lambda}}", "lambda"));
}
END_TEST

/* ---- words of a plan ---- */

static const char *refused(struct rvp_plan *plan, const char *name, const char *value)
{
	static char detail[256];
	struct rvp_status status = rvp_plan_take_word(plan, name, value);

	snprintf(detail, sizeof detail, "%s", rvp_failed(status) ? status.detail : "");
	return detail;
}

START_TEST(words_of_a_plan_are_taken_or_refused)
{
	struct rvp_plan plan;

	rvp_plan_begin(&plan);
	ck_assert_str_eq(refused(&plan, "samples", "1000"), "");
	ck_assert_uint_eq(plan.samples, 1000);
	ck_assert_str_eq(refused(&plan, "repeats", "3"), "");
	ck_assert(plan.least_repeats == 3 && plan.most_repeats == 3);
	ck_assert_str_eq(refused(&plan, "repeats", "3:20"), "");
	ck_assert(plan.least_repeats == 3 && plan.most_repeats == 20);
	ck_assert_str_eq(refused(&plan, "precision", "1.5"), "");
	is_near(plan.precision_percent, 1.5, 0);
	ck_assert_str_eq(refused(&plan, "name", "a{b}"), "");
	ck_assert_str_eq(refused(&plan, "name", "c"), "");
	ck_assert_str_eq(plan.name, "c");
	rvp_plan_free(&plan);
}
END_TEST

START_TEST(words_that_are_none_are_refused)
{
	static const char *const wrong[][2] = {{"samples", "-1"},
					       {"samples", "1e3"},
					       {"samples", ""},
					       {"samples", "1 "},
					       {"repeats", "3:"},
					       {"repeats", ":3"},
					       {"repeats", "3:x"},
					       {"precision", "0"},
					       {"precision", "nan"},
					       {"budget", "inf"},
					       {"timeout", "-1"},
					       {"timeout", "5s"},
					       {"samples", "99999999999999999999"}};
	struct rvp_plan plan;

	rvp_plan_begin(&plan);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		ck_assert_msg(strstr(refused(&plan, wrong[i][0], wrong[i][1]), "is not"), "%s = %s",
			      wrong[i][0], wrong[i][1]);
	ck_assert_str_eq(refused(&plan, "nothing", "1"), "there is no such option");
	for (const char *const *name = rvp_plan_word_names; *name; name++)
		ck_assert_msg(!strstr(refused(&plan, *name, "3"), "no such"), "%s", *name);
	rvp_plan_free(&plan);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sweep");
	TCase *tests = tcase_create("arithmetic and words");

	tcase_add_test(tests, quantiles_are_those_of_the_tables);
	tcase_add_test(tests, tails_are_those_of_closed_forms);
	tcase_add_test(tests, a_mean_of_few_is_students);
	tcase_add_test(tests, too_few_say_nothing);
	tcase_add_test(tests, holms_correction_is_the_worked_example);
	tcase_add_test(tests, a_family_errs_once_in_twenty);
	tcase_add_test(tests, an_exact_power_law_has_its_exponent);
	tcase_add_test(tests, groups_share_the_exponent_alone);
	tcase_add_test(tests, a_noisy_line_has_the_certified_error);
	tcase_add_test(tests, what_says_nothing_of_growth_is_left_out);
	tcase_add_test(tests, an_axis_grows_by_itself);
	tcase_add_test(tests, places_are_names_in_braces);
	tcase_add_test(tests, a_place_that_nothing_fills_is_pointed_at);
	tcase_add_test(tests, words_of_a_plan_are_taken_or_refused);
	tcase_add_test(tests, words_that_are_none_are_refused);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
