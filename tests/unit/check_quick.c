/* SPDX-License-Identifier: MIT */
/* check_quick.c: the short way of the hooks: what goes it is counted to the byte, and what may not go it goes the long
 * way. The hooks are compiled under other names over libc's allocator (hooks_renamed.c). Each case is a process. */
#include "preload/bootstrap.h"
#include "preload/quick.h"
#include "tests/unit/hooks_renamed.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static struct rvp_counters counters, expected;

static void open_way(void)
{
	reals_are_known = true;
	atomic_store(rvp_alive, 1);
	rvp_local.quick = &counters;
	rvp_local.is_quick = true;
	rvp_local.sample_left = 1 << 30;
	rvp_local.frees_left = 1 << 30;
}

static void *expect_alloc(void *block, uint64_t bytes)
{
	ck_assert_ptr_nonnull(block);
	expected.alloc_count++;
	expected.alloc_bytes += bytes;
	expected.alloc_usable_bytes += malloc_usable_size(block);
	return block;
}

static void *expect_free(void *block)
{
	expected.free_count++;
	expected.free_usable_bytes += malloc_usable_size(block);
	return block;
}

static void check_counters(void)
{
	ck_assert_mem_eq(&counters, &expected, sizeof counters);
}

START_TEST(counts_are_exact)
{
	void *blocks[100];

	open_way();
	for (int round = 0; round < 50; round++) {
		for (size_t i = 0; i < 100; i++) {
			size_t bytes = i * 150 + (size_t)round; /* with the fence below 16 KiB */

			blocks[i] = i % 3 == 0   ? renamed_malloc(bytes)
				    : i % 3 == 1 ? renamed_calloc(bytes, 1)
						 : renamed_realloc(NULL, bytes);
			expect_alloc(blocks[i], bytes);
		}
		for (size_t i = 0; i < 100; i += 3) {
			expect_free(blocks[i]);
			blocks[i] = expect_alloc(renamed_realloc(blocks[i], i * 90 + 1), i * 90 + 1);
		}
		for (size_t i = 0; i < 100; i++)
			renamed_free(expect_free(blocks[i]));
	}
	check_counters();
	ck_assert_uint_eq(long_ways, 0);
	ck_assert_int_eq(rvp_local.sample_left, (1 << 30) - (int64_t)counters.alloc_bytes);
}
END_TEST

START_TEST(what_fails_is_not_counted)
{
	char *block;

	open_way();
	block = expect_alloc(renamed_malloc(100), 100);
	strcpy(block, "kept");
	reals_fail = true;
	errno = 0;
	ck_assert_ptr_null(renamed_malloc(100));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_null(renamed_realloc(block, 200));
	ck_assert_str_eq(block, "kept");
	check_counters();
	ck_assert_uint_eq(long_ways, 0);
	reals_fail = false;
	renamed_free(block);
}
END_TEST

/* One after another, each with its reason to go the long way; then the short way is still there. */
START_TEST(reasons_for_the_long_way)
{
	void *block = NULL;
	uint64_t taken;

	open_way();
	free(renamed_malloc(RVP_THRESHOLD_BYTES));
	ck_assert_uint_eq(long_ways, 1);
	free(renamed_calloc(SIZE_MAX, 2));
	free(renamed_calloc(RVP_THRESHOLD_BYTES / 8, 8));
	ck_assert_uint_eq(long_ways, 3);
	renamed_free(malloc(RVP_THRESHOLD_BYTES));
	ck_assert_uint_eq(long_ways, 4);

	block = expect_alloc(renamed_malloc(64), 64);
	rvp_blocks_filter[rvp_blocks_place((uint64_t)block)] = 1;
	block = renamed_realloc(block, 65);
	ck_assert_uint_eq(long_ways, 5);
	memset(rvp_blocks_filter, 1, sizeof rvp_blocks_filter);
	renamed_free(block);
	ck_assert_uint_eq(long_ways, 6);
	memset(rvp_blocks_filter, 0, sizeof rvp_blocks_filter);

	atomic_store(rvp_alive, 0);
	renamed_free(renamed_realloc(renamed_malloc(10), 20));
	ck_assert_uint_eq(long_ways, 9);
	atomic_store(rvp_alive, 1);

	taken = counters.alloc_count;
	block = expect_alloc(renamed_malloc(64), 64);
	ck_assert_uint_eq(counters.alloc_count, taken + 1);
	renamed_free(expect_free(block));
	check_counters();
	ck_assert_uint_eq(long_ways, 9);
}
END_TEST

START_TEST(a_sample_point_is_for_the_long_way)
{
	open_way();
	rvp_local.sample_left = 1000;
	for (int i = 0; i < 9; i++)
		free(renamed_malloc(100));
	ck_assert_int_eq(rvp_local.sample_left, 100);
	ck_assert_uint_eq(long_ways, 0);
	free(renamed_malloc(100));
	free(renamed_calloc(10, 10));
	free(renamed_realloc(NULL, 100));
	ck_assert_uint_eq(long_ways, 3);
	ck_assert_int_eq(rvp_local.sample_left, 100);
	free(renamed_malloc(99));
	ck_assert_uint_eq(long_ways, 3);
}
END_TEST

START_TEST(a_free_now_and_then_is_for_the_long_way)
{
	open_way();
	rvp_local.frees_left = 3;
	for (int i = 0; i < 2; i++)
		renamed_free(malloc(10));
	ck_assert_uint_eq(long_ways, 0);
	for (int i = 0; i < 2; i++)
		renamed_free(malloc(10));
	ck_assert_uint_eq(long_ways, 2);
}
END_TEST

START_TEST(small_blocks_that_are_mapped_are_counted_as_such)
{
	void *block;

	open_way();
	ck_assert_int_eq(mallopt(M_MMAP_THRESHOLD, 1024), 1);
	do /* until the heap is used up: libc maps a block only then */
		block = expect_alloc(renamed_malloc(8000), 8000);
	while (!(rvp_word_of(block) & RVP_WORD_MAPPED));
	check_counters();
	renamed_free(block);
	ck_assert_uint_eq(long_ways, 1);
}
END_TEST

START_TEST(early_blocks_never_reach_the_real_allocator)
{
	void *block = rvp_bootstrap_alloc(16, 100);
	unsigned calls;

	open_way();
	calls = real_calls;
	renamed_free(block);
	ck_assert_uint_eq(real_calls, calls);
	check_counters();
}
END_TEST

static struct rvp_thread *thread_that_may_learn(void)
{
	static struct rvp_thread thread;

	reals_are_known = true;
	rvp_process.options.mode = RVP_MODE_SAMPLED;
	rvp_real.is_libcs = true;
	rvp_local.counters = &counters;
	thread.sample_left = 5000;
	return &thread;
}

static void show(struct rvp_thread *thread, int count, uint64_t off_by)
{
	for (int i = 0; i < count; i++) {
		void *block = malloc(10 + (size_t)i);

		rvp_quick_learn(thread, block, malloc_usable_size(block) + off_by);
		free(block);
	}
}

START_TEST(a_way_opens_when_blocks_are_as_known)
{
	struct rvp_thread *thread = thread_that_may_learn();

	show(thread, 1, 0);
	ck_assert(!rvp_local.is_quick);
	ck_assert_int_eq(rvp_local.sample_left, 0);
	show(thread, 20, 0);
	ck_assert(rvp_local.is_quick);
	ck_assert_int_eq(rvp_local.sample_left, 5000);
	ck_assert_int_gt(rvp_local.frees_left, 0);
	ck_assert_ptr_eq(rvp_local.quick, &counters);
	rvp_quick_leave_parent();
	ck_assert(!rvp_local.is_quick);
	ck_assert_int_eq(rvp_local.sample_left, 0);
	ck_assert_int_eq(rvp_local.frees_left, 0);
	ck_assert_ptr_ne(rvp_local.quick, &counters);
}
END_TEST

/* Each alone closes it. */
START_TEST(a_way_stays_closed)
{
	struct rvp_thread *thread = thread_that_may_learn();

	switch (_i) {
	case 0: show(thread, 1, 8); break; /* another allocator's blocks: for good */
	case 1: rvp_process.options.mode = RVP_MODE_FULL; break;
	case 2: rvp_process.options.writes = true; break;
	case 3: rvp_real.is_libcs = false; break;
	case 4: rvp_local.counters = NULL; break;
	}
	show(thread, 100, 0);
	ck_assert(!rvp_local.is_quick);
	ck_assert_int_eq(rvp_local.sample_left, 0);
	ck_assert_int_eq(rvp_local.frees_left, 0);
}
END_TEST

/* Code of ours in the program's interpreter: its blocks are counted, no sample point is used up or met, whether the way
 * is open, closed or opens meanwhile. */
START_TEST(a_pause_takes_no_samples)
{
	struct rvp_thread *thread = thread_that_may_learn();
	uint64_t allocs = counters.alloc_count;
	int64_t left;

	rvp_local.thread = thread;
	atomic_store(rvp_alive, 1);
	if (_i == 0)
		show(thread, 20, 0);
	left = rvp_quick_pause();
	ck_assert_int_eq(left, 5000);
	if (_i == 1)
		show(thread, 20, 0);
	for (int i = 0; _i < 2 && i < 10; i++)
		renamed_free(renamed_malloc(4000));
	ck_assert_uint_eq(counters.alloc_count, allocs + (_i < 2 ? 10 : 0));
	rvp_quick_resume(left);
	ck_assert_int_eq(*rvp_quick_sample_left(thread), 5000);
	ck_assert_int_eq(rvp_local.sample_left, _i < 2 ? 5000 : 0);
	rvp_local.thread = NULL;
	ck_assert_int_eq(rvp_quick_pause(), 0);
	rvp_quick_resume(0);
	ck_assert_int_eq(thread->sample_left, 5000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("quick");
	TCase *cases = tcase_create("quick");

	tcase_add_test(cases, counts_are_exact);
	tcase_add_test(cases, what_fails_is_not_counted);
	tcase_add_test(cases, reasons_for_the_long_way);
	tcase_add_test(cases, a_sample_point_is_for_the_long_way);
	tcase_add_test(cases, a_free_now_and_then_is_for_the_long_way);
	tcase_add_test(cases, small_blocks_that_are_mapped_are_counted_as_such);
	tcase_add_test(cases, early_blocks_never_reach_the_real_allocator);
	tcase_add_test(cases, a_way_opens_when_blocks_are_as_known);
	tcase_add_loop_test(cases, a_way_stays_closed, 0, 5);
	tcase_add_loop_test(cases, a_pause_takes_no_samples, 0, 3);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
