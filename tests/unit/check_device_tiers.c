/* SPDX-License-Identifier: MIT */
/* How much is followed of the device, by what it costs. */
#include "cupti/tiers.h"
#include "tests/unit/run_suite.h"

#include <string.h>

enum { SECOND = 1000000000 };

static char reason[RVP_TIERS_REASON_BYTES];

static struct rvp_tiers begin(uint32_t budget_milli)
{
	reason[0] = '\0';
	return (struct rvp_tiers){
	    .tier = RVP_DEVICE_TIER_MEMORY, .ceiling = RVP_DEVICE_TIER_LAUNCHES, .budget_milli = budget_milli};
}

static enum rvp_device_tier after(struct rvp_tiers *tiers, struct rvp_tier_window window, int times)
{
	window.ns = window.ns ? window.ns : SECOND;
	for (int i = 0; i < times; i++)
		rvp_tiers_decide(tiers, &window, reason);
	return tiers->tier;
}

START_TEST(few_launches_are_followed_whole)
{
	struct rvp_tiers tiers = begin(30);

	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 1000}, 1), RVP_DEVICE_TIER_GRAPHS);
	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 1000}, 1), RVP_DEVICE_TIER_KERNELS);
	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 1000}, 1), RVP_DEVICE_TIER_LAUNCHES);
	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 1000}, 9), RVP_DEVICE_TIER_LAUNCHES);
}
END_TEST

/* 15,000 a second at 1,500 ns are 2.25 % of the time: three quarters of the budget, and no more. */
START_TEST(a_tier_is_entered_at_three_quarters_of_the_budget)
{
	struct rvp_tiers tiers = begin(30), other = begin(30);

	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 15000}, 9), RVP_DEVICE_TIER_KERNELS);
	ck_assert_int_eq(after(&other, (struct rvp_tier_window){.launches = 15400}, 9), RVP_DEVICE_TIER_GRAPHS);
	ck_assert_str_eq(reason, "within the budget: 15400 launches/s at 250 ns are 0.3 %, the budget is 3.0 %");
}
END_TEST

START_TEST(a_decode_loop_stays_low)
{
	struct rvp_tiers tiers = begin(30);

	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 200000}, 9), RVP_DEVICE_TIER_MEMORY);
}
END_TEST

START_TEST(a_tier_over_the_budget_twice_is_left)
{
	struct rvp_tiers tiers = begin(30);

	after(&tiers, (struct rvp_tier_window){.launches = 1000}, 3);
	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 19000}, 1), RVP_DEVICE_TIER_LAUNCHES);
	/* One that was not over lies between. */
	after(&tiers, (struct rvp_tier_window){.launches = 1000}, 1);
	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 19000}, 1), RVP_DEVICE_TIER_LAUNCHES);
	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 19000}, 1), RVP_DEVICE_TIER_KERNELS);
	ck_assert_str_eq(reason, "over the budget: 19000 launches/s at 3000 ns are 5.7 %, the budget is 3.0 %");
	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 1000000}, 2), RVP_DEVICE_TIER_MEMORY);
}
END_TEST

/* The base is 2,000 ns at the lowest tier; 9,000 at KERNELS is a cost of 7,000 and the floor of 150. */
START_TEST(what_is_measured_counts_and_not_what_is_assumed)
{
	struct rvp_tiers tiers = begin(30);

	after(&tiers, (struct rvp_tier_window){.launches = 5000, .launch_ns = 2500}, 1);
	ck_assert_uint_eq(tiers.base_ns, 2500);
	tiers.tier = RVP_DEVICE_TIER_MEMORY;
	after(&tiers, (struct rvp_tier_window){.launches = 5000, .launch_ns = 2000}, 1);
	ck_assert_uint_eq(tiers.base_ns, 2000);
	after(&tiers, (struct rvp_tier_window){.launches = 5000, .launch_ns = 2000}, 1);
	ck_assert_int_eq(tiers.tier, RVP_DEVICE_TIER_KERNELS);
	after(&tiers, (struct rvp_tier_window){.launches = 5000, .launch_ns = 9000, .walk_ns = 5000000}, 1);
	ck_assert_uint_eq(rvp_tiers_cost_ns(&tiers, RVP_DEVICE_TIER_KERNELS), 7000 + 150 + 1000);
	ck_assert_int_eq(tiers.tier, RVP_DEVICE_TIER_KERNELS);
	after(&tiers, (struct rvp_tier_window){.launches = 5000, .launch_ns = 9000, .walk_ns = 5000000}, 1);
	ck_assert_int_eq(tiers.tier, RVP_DEVICE_TIER_GRAPHS);
	/* It is remembered, so the tier is not entered again at once. */
	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 5000, .launch_ns = 2000}, 9),
			 RVP_DEVICE_TIER_GRAPHS);
}
END_TEST

START_TEST(too_good_a_measurement_is_not_believed)
{
	struct rvp_tiers tiers = begin(30);

	after(&tiers, (struct rvp_tier_window){.launches = 1000, .launch_ns = 9000}, 2);
	after(&tiers, (struct rvp_tier_window){.launches = 1000, .launch_ns = 1000}, 1);
	tiers.tier = RVP_DEVICE_TIER_KERNELS;
	after(&tiers, (struct rvp_tier_window){.launches = 1000, .launch_ns = 1000}, 1);
	ck_assert_uint_eq(rvp_tiers_cost_ns(&tiers, RVP_DEVICE_TIER_KERNELS), 1500 / 4);
}
END_TEST

START_TEST(graphs_cost_by_their_nodes)
{
	struct rvp_tiers tiers = begin(30);

	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 500, .graph_nodes = 500 * 100}, 9),
			 RVP_DEVICE_TIER_GRAPHS);
}
END_TEST

START_TEST(kernels_without_times_are_given_up_for_good)
{
	struct rvp_tiers tiers = begin(30);

	after(&tiers, (struct rvp_tier_window){.launches = 100}, 3);
	after(&tiers, (struct rvp_tier_window){.launches = 100, .records = 2000, .flawed = 200}, 1);
	ck_assert_int_eq(tiers.tier, RVP_DEVICE_TIER_LAUNCHES);
	after(&tiers, (struct rvp_tier_window){.launches = 100, .records = 2000, .flawed = 201}, 1);
	ck_assert_int_eq(tiers.tier, RVP_DEVICE_TIER_GRAPHS);
	ck_assert_ptr_nonnull(strstr(reason, "201 of 2000 records came without times"));
	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 100}, 9), RVP_DEVICE_TIER_GRAPHS);
}
END_TEST

START_TEST(without_a_budget_nothing_is_entered)
{
	struct rvp_tiers tiers = begin(0);

	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 0}, 9), RVP_DEVICE_TIER_MEMORY);
	ck_assert_int_eq(after(&tiers, (struct rvp_tier_window){.launches = 10000}, 9), RVP_DEVICE_TIER_MEMORY);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("device_tiers");
	TCase *cases = tcase_create("all");

	tcase_add_test(cases, few_launches_are_followed_whole);
	tcase_add_test(cases, a_tier_is_entered_at_three_quarters_of_the_budget);
	tcase_add_test(cases, a_decode_loop_stays_low);
	tcase_add_test(cases, a_tier_over_the_budget_twice_is_left);
	tcase_add_test(cases, what_is_measured_counts_and_not_what_is_assumed);
	tcase_add_test(cases, too_good_a_measurement_is_not_believed);
	tcase_add_test(cases, graphs_cost_by_their_nodes);
	tcase_add_test(cases, kernels_without_times_are_given_up_for_good);
	tcase_add_test(cases, without_a_budget_nothing_is_entered);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
