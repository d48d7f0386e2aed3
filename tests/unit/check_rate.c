/* SPDX-License-Identifier: MIT */
/* check_rate.c: which blocks of a kind are recorded each: all of a thread that is slow enough, none of one that is
 * faster until it slows down. The clock is the test's own. */
#include "preload/rate.h"
#include "preload/stamp.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>

static uint64_t now_ns = 1000000000;

uint64_t rvp_monotonic_ns(void)
{
	return now_ns;
}

/* How many of `count` requests, one each `apart_ns`, are wanted. */
static int wanted(struct rvp_rate *rate, int count, uint64_t apart_ns)
{
	int sum = 0;

	for (int i = 0; i < count; i++, now_ns += apart_ns)
		sum += rvp_rate_takes(rate);
	return sum;
}

START_TEST(families)
{
	ck_assert(rvp_family_is_aligned(RVP_FAMILY_POSIX_MEMALIGN) && rvp_family_is_aligned(RVP_FAMILY_MEMALIGN));
	ck_assert(rvp_family_is_aligned(RVP_FAMILY_ALIGNED_ALLOC) && rvp_family_is_aligned(RVP_FAMILY_PVALLOC));
	ck_assert(rvp_family_is_aligned(RVP_FAMILY_VALLOC));
	ck_assert(!rvp_family_is_aligned(RVP_FAMILY_MALLOC) && !rvp_family_is_aligned(RVP_FAMILY_REALLOCARRAY));
	ck_assert(!rvp_family_is_aligned(RVP_FAMILY_FREE) && !rvp_family_is_aligned(RVP_FAMILY_NEW));
}
END_TEST

static const uint64_t apart_ns = 1000000000 / RVP_RATE_A_SECOND;

START_TEST(a_slow_thread_has_each_recorded)
{
	struct rvp_rate *rate = calloc(1, sizeof *rate);

	ck_assert_int_eq(wanted(rate, 100000, apart_ns), 100000);
	free(rate);
}
END_TEST

START_TEST(a_fast_thread_is_sampled_until_it_slows_down)
{
	struct rvp_rate *rate = calloc(1, sizeof *rate);

	ck_assert_int_eq(wanted(rate, 10 * RVP_RATE_A_LOOK, apart_ns * 98 / 100), RVP_RATE_A_LOOK);
	ck_assert_int_eq(wanted(rate, 10 * RVP_RATE_A_LOOK, apart_ns), 9 * RVP_RATE_A_LOOK);
	free(rate);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rate");
	TCase *cases = tcase_create("rate");

	tcase_add_test(cases, families);
	tcase_add_test(cases, a_slow_thread_has_each_recorded);
	tcase_add_test(cases, a_fast_thread_is_sampled_until_it_slows_down);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
