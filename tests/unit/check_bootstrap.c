/* SPDX-License-Identifier: MIT */
/* The bootstrap allocator, and the hooks of the malloc family while the real functions are not known yet:
 * then it alone serves them. The hooks are compiled here under other names (hooks_renamed.c). Each case has a
 * process, and so an arena, of its own. */
#include "preload/bootstrap.h"
#include "tests/unit/hooks_renamed.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_zero(const unsigned char *block, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (block[i])
			return false;
	return true;
}

START_TEST(blocks_are_aligned_zeroed_and_know_their_size)
{
	for (size_t alignment = 1; alignment <= 2048; alignment *= 2) {
		size_t bytes = 3 * alignment + 1;
		unsigned char *block = rvp_bootstrap_alloc(alignment, bytes);

		ck_assert_ptr_nonnull(block);
		ck_assert_uint_eq((uintptr_t)block % (alignment < 16 ? 16 : alignment), 0);
		ck_assert_uint_eq(rvp_bootstrap_size(block), bytes);
		ck_assert(is_zero(block, bytes));
		memset(block, 0xff, bytes);
	}
}
END_TEST

START_TEST(blocks_do_not_overlap)
{
	unsigned char *blocks[200];

	for (int i = 0; i < 200; i++) {
		blocks[i] = rvp_bootstrap_alloc(16, (size_t)i);
		memset(blocks[i], i, (size_t)i);
	}
	for (int i = 0; i < 200; i++) {
		ck_assert_uint_eq(rvp_bootstrap_size(blocks[i]), (size_t)i);
		for (int at = 0; at < i; at++)
			ck_assert_uint_eq(blocks[i][at], i);
	}
}
END_TEST

START_TEST(a_bad_alignment_is_refused)
{
	static const size_t bad[] = {3, 24, 48, 4097, SIZE_MAX, SIZE_MAX - 1};

	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
		errno = 0;
		ck_assert_ptr_null(rvp_bootstrap_alloc(bad[i], 8));
		ck_assert_int_eq(errno, EINVAL);
	}
	/* As malloc's: none asked for. */
	ck_assert_ptr_nonnull(rvp_bootstrap_alloc(0, 8));
}
END_TEST

START_TEST(what_does_not_fit_is_refused_and_takes_nothing)
{
	static const size_t alignments[] = {16, 4096, 1u << 20, (size_t)1 << 63};
	static const size_t sizes[] = {RVP_BOOTSTRAP_BYTES, RVP_BOOTSTRAP_BYTES + 1, SIZE_MAX - 15, SIZE_MAX};

	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 4; k++) {
			errno = 0;
			ck_assert_ptr_null(rvp_bootstrap_alloc(alignments[i], sizes[k]));
			ck_assert_int_eq(errno, ENOMEM);
		}
	errno = 0;
	ck_assert_ptr_null(rvp_bootstrap_alloc((size_t)1 << 63, 1));
	ck_assert_int_eq(errno, ENOMEM);
	ck_assert_ptr_nonnull(rvp_bootstrap_alloc(16, RVP_BOOTSTRAP_BYTES - 16));
	ck_assert_ptr_null(rvp_bootstrap_alloc(16, 1));
}
END_TEST

/* To the last byte, each block wholly inside; then ENOMEM, again and again, and an empty block is no way
 * past. */
START_TEST(an_arena_that_is_used_up_says_so)
{
	unsigned char *first = rvp_bootstrap_alloc(16, 48), *block, *last = first;
	size_t count = 1;

	for (; (block = rvp_bootstrap_alloc(16, 48)); count++, last = block)
		ck_assert_ptr_eq(block, last + 64);
	ck_assert_uint_eq(count, RVP_BOOTSTRAP_BYTES / 64);
	ck_assert_ptr_eq(last + 48, first - 16 + RVP_BOOTSTRAP_BYTES);
	ck_assert(rvp_bootstrap_owns(last + 47));
	ck_assert(!rvp_bootstrap_owns(last + 48));
	for (int i = 0; i < 3; i++) {
		errno = 0;
		ck_assert_ptr_null(rvp_bootstrap_alloc(16, (size_t)i));
		ck_assert_int_eq(errno, ENOMEM);
	}
}
END_TEST

START_TEST(others_blocks_are_not_ours)
{
	unsigned char *ours = rvp_bootstrap_alloc(16, 16), *heap = malloc(16), local;

	ck_assert(rvp_bootstrap_owns(ours));
	ck_assert(rvp_bootstrap_owns(ours - 16));
	ck_assert(!rvp_bootstrap_owns(ours - 17));
	ck_assert(!rvp_bootstrap_owns(heap));
	ck_assert(!rvp_bootstrap_owns(&local));
	ck_assert(!rvp_bootstrap_owns(NULL));
	ck_assert(!rvp_bootstrap_owns((void *)UINTPTR_MAX));
	free(heap);
}
END_TEST

enum { RACERS = 2, RACER_BLOCKS = RVP_BOOTSTRAP_BYTES / 32, RACES = 40 };

struct racer {
	pthread_t thread;
	unsigned char mark;
	size_t count;
	unsigned char *blocks[RACER_BLOCKS];
};
static struct racer racers[RACERS];
static atomic_int racers_ready;

static void *race(void *argument)
{
	struct racer *self = argument;
	unsigned char *block;

	atomic_fetch_add(&racers_ready, 1);
	while (atomic_load(&racers_ready) < RACERS)
		sched_yield();
	while (self->count < RACER_BLOCKS && (block = rvp_bootstrap_alloc(16, 16))) {
		self->blocks[self->count++] = block;
		memset(block, self->mark, 16);
	}
	return NULL;
}

static bool is_untouched(const struct racer *racer)
{
	for (size_t k = 0; k < racer->count; k++)
		for (int at = 0; at < 16; at++)
			if (racer->blocks[k][at] != racer->mark)
				return false;
	return true;
}

/* Whether each block went to one of them, and none was left over. */
static bool is_a_fair_race(void)
{
	size_t sum = 0;

	for (int i = 0; i < RACERS; i++) {
		racers[i].mark = (unsigned char)(i + 1);
		if (pthread_create(&racers[i].thread, NULL, race, &racers[i]))
			return false;
	}
	for (int i = 0; i < RACERS; i++)
		pthread_join(racers[i].thread, NULL);
	for (int i = 0; i < RACERS; i++)
		sum += racers[i].count;
	return sum == RACER_BLOCKS && is_untouched(&racers[0]) && is_untouched(&racers[1]);
}

/* The arena of this process is never touched, so each child races for a fresh one. */
START_TEST(threads_share_the_arena_exactly)
{
	for (int i = 0; i < RACES; i++) {
		int status;
		pid_t child = fork();

		if (child == 0)
			_exit(is_a_fair_race() ? 0 : 1);
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
	}
}
END_TEST

START_TEST(early_hooks_are_served_by_the_arena)
{
	void *blocks[] = {renamed_malloc(10),       renamed_calloc(3, 7),
			  renamed_realloc(NULL, 9), renamed_aligned_alloc(256, 5),
			  renamed_memalign(64, 5),  renamed_valloc(1),
			  renamed_pvalloc(1),       renamed_reallocarray(NULL, 3, 4)};
	static const size_t sizes[] = {10, 21, 9, 5, 5, 1, 1, 12},
			    alignments[] = {16, 16, 16, 256, 64, 4096, 4096, 16};

	for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++) {
		ck_assert_msg(rvp_bootstrap_owns(blocks[i]), "block %u", i);
		ck_assert_msg(rvp_bootstrap_size(blocks[i]) == sizes[i], "block %u", i);
		ck_assert_msg((uintptr_t)blocks[i] % alignments[i] == 0, "block %u", i);
		renamed_free(blocks[i]);
	}
	ck_assert_uint_eq(real_calls, 0);
}
END_TEST

START_TEST(early_sizes_that_overflow_are_refused)
{
	errno = 0;
	ck_assert_ptr_null(renamed_calloc(SIZE_MAX / 2, 3));
	ck_assert_int_eq(errno, ENOMEM);
	errno = 0;
	ck_assert_ptr_null(renamed_calloc((size_t)1 << 32, (size_t)1 << 32));
	ck_assert_int_eq(errno, ENOMEM);
	errno = 0;
	ck_assert_ptr_null(renamed_reallocarray(NULL, (size_t)1 << 32, (size_t)1 << 32));
	ck_assert_int_eq(errno, ENOMEM);
	errno = 0;
	ck_assert_ptr_null(renamed_malloc(SIZE_MAX));
	ck_assert_int_eq(errno, ENOMEM);
	/* None of them took anything. */
	ck_assert_ptr_nonnull(renamed_malloc(RVP_BOOTSTRAP_BYTES - 16));
}
END_TEST

START_TEST(early_posix_memalign_keeps_its_word)
{
	static const size_t bad[] = {0, 1, 4, 24, 4097};
	void *block = &block;

	errno = 77;
	for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
		ck_assert_int_eq(renamed_posix_memalign(&block, bad[i], 8), EINVAL);
	ck_assert_int_eq(renamed_posix_memalign(&block, 64, SIZE_MAX), ENOMEM);
	ck_assert_ptr_eq(block, &block);
	ck_assert_int_eq(renamed_posix_memalign(&block, 64, 8), 0);
	ck_assert(rvp_bootstrap_owns(block));
	ck_assert_uint_eq((uintptr_t)block % 64, 0);
	ck_assert_int_eq(errno, 77);
}
END_TEST

START_TEST(an_early_block_grows_within_the_arena)
{
	char *small = renamed_malloc(6), *large;

	memcpy(small, "early", 6);
	large = renamed_realloc(small, 600);
	ck_assert(rvp_bootstrap_owns(large));
	ck_assert_ptr_ne(large, small);
	ck_assert_str_eq(large, "early");
	ck_assert(is_zero((unsigned char *)large + 6, 594));
}
END_TEST

/* Once the real functions are known, a block of the arena moves to them whole, and its free goes to nobody.
 */
START_TEST(an_early_block_moves_to_the_real_allocator)
{
	char *early = renamed_malloc(100), *moved;

	memset(early, 'e', 100);
	reals_are_known = true;
	moved = renamed_realloc(early, 4000);
	ck_assert(!rvp_bootstrap_owns(moved));
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(moved[i], 'e');
	ck_assert_uint_eq(real_calls, 1);
	ck_assert_uint_eq(counted_allocs, 1);
	ck_assert_uint_eq(counted_bytes, 4000);
	renamed_free(early);
	ck_assert_uint_eq(real_calls, 1);
	renamed_free(moved);
	ck_assert_uint_eq(real_calls, 2);
	ck_assert_uint_eq(counted_frees, 1);
}
END_TEST

START_TEST(a_shrunk_early_block_keeps_what_fits)
{
	char *early = renamed_malloc(100), *moved;

	memset(early, 'e', 100);
	reals_are_known = true;
	moved = renamed_realloc(early, 3);
	ck_assert_mem_eq(moved, "eee", 3);
	for (int i = 3; i < REAL_FENCE_BYTES; i++)
		ck_assert_int_eq(moved[i], REAL_FENCE);
	renamed_free(moved);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bootstrap");
	TCase *cases = tcase_create("bootstrap");

	tcase_add_test(cases, blocks_are_aligned_zeroed_and_know_their_size);
	tcase_add_test(cases, blocks_do_not_overlap);
	tcase_add_test(cases, a_bad_alignment_is_refused);
	tcase_add_test(cases, what_does_not_fit_is_refused_and_takes_nothing);
	tcase_add_test(cases, an_arena_that_is_used_up_says_so);
	tcase_add_test(cases, others_blocks_are_not_ours);
	tcase_add_test(cases, threads_share_the_arena_exactly);
	tcase_add_test(cases, early_hooks_are_served_by_the_arena);
	tcase_add_test(cases, early_sizes_that_overflow_are_refused);
	tcase_add_test(cases, early_posix_memalign_keeps_its_word);
	tcase_add_test(cases, an_early_block_grows_within_the_arena);
	tcase_add_test(cases, an_early_block_moves_to_the_real_allocator);
	tcase_add_test(cases, a_shrunk_early_block_keeps_what_fits);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
