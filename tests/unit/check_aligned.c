/* SPDX-License-Identifier: MIT */
/* check_aligned.c: which aligned requests are recorded each: all of a thread that is slow enough, none of one that is
 * faster until it slows down. The clock is the test's own. */
#include "preload/aligned.h"
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
static int wanted(struct rvp_thread *thread, int count, uint64_t apart_ns)
{
	int sum = 0;

	for (int i = 0; i < count; i++, now_ns += apart_ns)
		sum += rvp_aligned_is_wanted(thread);
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

static const uint64_t apart_ns = 1000000000 / RVP_ALIGNED_A_SECOND;

START_TEST(a_slow_thread_has_each_recorded)
{
	struct rvp_thread *thread = calloc(1, sizeof *thread);

	ck_assert_int_eq(wanted(thread, 100000, apart_ns), 100000);
	free(thread);
}
END_TEST

START_TEST(a_fast_thread_is_sampled_until_it_slows_down)
{
	struct rvp_thread *thread = calloc(1, sizeof *thread);

	ck_assert_int_eq(wanted(thread, 10 * RVP_ALIGNED_A_LOOK, apart_ns * 98 / 100), RVP_ALIGNED_A_LOOK);
	ck_assert_int_eq(wanted(thread, 10 * RVP_ALIGNED_A_LOOK, apart_ns), 9 * RVP_ALIGNED_A_LOOK);
	free(thread);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aligned");
	TCase *cases = tcase_create("aligned");

	tcase_add_test(cases, families);
	tcase_add_test(cases, a_slow_thread_has_each_recorded);
	tcase_add_test(cases, a_fast_thread_is_sampled_until_it_slows_down);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
