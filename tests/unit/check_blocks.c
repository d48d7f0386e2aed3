/* SPDX-License-Identifier: MIT */
/* The set of recorded blocks' addresses: what goes in comes out once, whatever the bucket and the thread.
 * Each case has a process, and so a set, of its own. */
#include "preload/blocks.h"
#include "tests/unit/preload_double.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BUCKET_CELLS = 8, FIRST_BUCKET_BITS = 12, SECOND_BUCKET_BITS = 17, LINE_BYTES = 64 };

/* Addresses that differ in what is above the hash's 64 bits of (address >> 4) share every bucket of every
 * level only if their hashes do, so crowding is by search: the first addresses whose hash begins with `bits`
 * zeros. */
static uint64_t next_crowded(uint64_t after, unsigned bits)
{
	do
		after += 16;
	while ((after >> 4) * 0x9e3779b97f4a7c15u >> (64 - bits));
	return after;
}

START_TEST(an_address_comes_out_once)
{
	ck_assert(rvp_blocks_insert(0x7f0000001000));
	ck_assert_uint_eq(rvp_blocks_count(), 1);
	ck_assert(rvp_blocks_remove(0x7f0000001000));
	ck_assert(!rvp_blocks_remove(0x7f0000001000));
	ck_assert_uint_eq(rvp_blocks_count(), 0);
	ck_assert(rvp_blocks_insert(0x7f0000001000));
	ck_assert(rvp_blocks_remove(0x7f0000001000));
}
END_TEST

START_TEST(an_unknown_address_is_not_there)
{
	ck_assert(!rvp_blocks_remove(0x1000)); /* nothing was ever put in */
	for (uint64_t i = 1; i <= 1000; i++)
		ck_assert(rvp_blocks_insert(0x10000 + 32 * i));
	for (uint64_t i = 1; i <= 1000; i++)
		ck_assert(!rvp_blocks_remove(0x10000 + 32 * i + 16));
	ck_assert_uint_eq(rvp_blocks_count(), 1000);
	for (uint64_t i = 1; i <= 1000; i++)
		ck_assert(rvp_blocks_remove(0x10000 + 32 * i));
	ck_assert_uint_eq(rvp_blocks_count(), 0);
}
END_TEST

/* A bucket of the first level holds eight; the ninth makes the second level, and is found there. */
START_TEST(a_full_bucket_passes_to_the_next_level)
{
	uint64_t addresses[3 * BUCKET_CELLS], address = 0;

	for (int i = 0; i < 3 * BUCKET_CELLS; i++)
		addresses[i] = address = next_crowded(address, SECOND_BUCKET_BITS);
	for (int i = 0; i < 3 * BUCKET_CELLS; i++) {
		ck_assert(rvp_blocks_insert(addresses[i]));
		ck_assert_uint_eq(double_maps, 1u + (unsigned)i / BUCKET_CELLS);
	}
	ck_assert_uint_eq(rvp_blocks_count(), 3 * BUCKET_CELLS);
	for (int i = 3 * BUCKET_CELLS - 1; i >= 0; i--) {
		ck_assert(rvp_blocks_remove(addresses[i]));
		ck_assert(!rvp_blocks_remove(addresses[i]));
	}
	ck_assert_uint_eq(rvp_blocks_count(), 0);
}
END_TEST

/* An address of a lower level may leave while one of a higher stays: the gap is filled, both are found. */
START_TEST(a_gap_in_a_lower_level_is_used_again)
{
	uint64_t addresses[BUCKET_CELLS + 2], address = 0;

	for (int i = 0; i < BUCKET_CELLS + 2; i++)
		addresses[i] = address = next_crowded(address, FIRST_BUCKET_BITS);
	for (int i = 0; i < BUCKET_CELLS + 1; i++)
		ck_assert(rvp_blocks_insert(addresses[i]));
	ck_assert(rvp_blocks_remove(addresses[3]));
	ck_assert(rvp_blocks_insert(addresses[BUCKET_CELLS + 1]));
	ck_assert(rvp_blocks_remove(addresses[BUCKET_CELLS]));
	ck_assert(rvp_blocks_remove(addresses[BUCKET_CELLS + 1]));
	ck_assert(!rvp_blocks_remove(addresses[3]));
	ck_assert_uint_eq(rvp_blocks_count(), BUCKET_CELLS - 1);
}
END_TEST

START_TEST(all_levels_full_is_said)
{
	uint64_t address = 0, first = 0;

	for (int i = 0; i < 3 * BUCKET_CELLS; i++) {
		address = next_crowded(address, 21);
		first = first ? first : address;
		ck_assert(rvp_blocks_insert(address));
	}
	address = next_crowded(address, 21);
	ck_assert(!rvp_blocks_insert(address));
	ck_assert(!rvp_blocks_remove(address));
	ck_assert_uint_eq(rvp_blocks_count(), 3 * BUCKET_CELLS);
	ck_assert(rvp_blocks_remove(first));
	ck_assert(rvp_blocks_insert(address));
}
END_TEST

START_TEST(no_memory_is_said_and_may_pass)
{
	double_maps_refused = 1;
	ck_assert(!rvp_blocks_insert(0x4000));
	ck_assert(!rvp_blocks_remove(0x4000));
	ck_assert_uint_eq(rvp_blocks_count(), 0);
	double_maps_refused = 0;
	ck_assert(rvp_blocks_insert(0x4000));
	ck_assert(rvp_blocks_remove(0x4000));
}
END_TEST

/* The second level can not be had: the first still serves. */
START_TEST(no_memory_for_a_further_level)
{
	uint64_t addresses[BUCKET_CELLS + 1], address = 0;

	for (int i = 0; i <= BUCKET_CELLS; i++)
		addresses[i] = address = next_crowded(address, FIRST_BUCKET_BITS);
	for (int i = 0; i < BUCKET_CELLS; i++)
		ck_assert(rvp_blocks_insert(addresses[i]));
	double_maps_refused = 1;
	ck_assert(!rvp_blocks_insert(addresses[BUCKET_CELLS]));
	ck_assert(!rvp_blocks_remove(addresses[BUCKET_CELLS]));
	for (int i = 0; i < BUCKET_CELLS; i++)
		ck_assert(rvp_blocks_remove(addresses[i]));
}
END_TEST

enum { THREADS = 4, HELD = 500, RACES = 40 };
static atomic_int ready, wrong;

static void meet(void)
{
	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < THREADS)
		sched_yield();
}

static void run_threads(void *(*of_thread)(void *))
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, of_thread, (void *)(intptr_t)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* Many addresses of its own among the others'. */
static uint64_t address_of(int thread, int number)
{
	return (uint64_t)(number * THREADS + thread + 1) << 16;
}

static void *hold_many(void *argument)
{
	int self = (int)(intptr_t)argument;

	meet();
	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < HELD; i++)
			wrong += !rvp_blocks_insert(address_of(self, i));
		for (int i = 0; i < HELD; i++)
			wrong += !rvp_blocks_remove(address_of(self, i));
		for (int i = 0; i < HELD; i += 100)
			wrong += rvp_blocks_remove(address_of(self, i));
	}
	return NULL;
}

START_TEST(threads_find_their_own)
{
	run_threads(hold_many);
	ck_assert_int_eq(wrong, 0);
	ck_assert_uint_eq(rvp_blocks_count(), 0);
}
END_TEST

static uint64_t crowded[THREADS];

static void *insist(void *argument)
{
	uint64_t own = crowded[(intptr_t)argument];
	int mine_wrong = 0;

	meet();
	for (int round = 0; round < 200000; round++) {
		mine_wrong += !rvp_blocks_insert(own);
		mine_wrong += !rvp_blocks_remove(own);
	}
	wrong += mine_wrong;
	return NULL;
}

/* All want the same cell of the same bucket. */
START_TEST(threads_in_one_bucket)
{
	uint64_t address = 0;

	for (int i = 0; i < THREADS; i++)
		crowded[i] = address = next_crowded(address, SECOND_BUCKET_BITS);
	run_threads(insist);
	ck_assert_int_eq(wrong, 0);
	ck_assert_uint_eq(rvp_blocks_count(), 0);
	ck_assert_uint_eq(double_mapped_bytes, LINE_BYTES << FIRST_BUCKET_BITS);
}
END_TEST

static void *insert_one(void *argument)
{
	meet();
	wrong += !rvp_blocks_insert(address_of((int)(intptr_t)argument, 0));
	return NULL;
}

/* In a child each, where there is no level yet: all make one, one stays, the others are given back. */
START_TEST(threads_make_one_level)
{
	for (int i = 0; i < RACES; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			run_threads(insert_one);
			for (int k = 0; k < THREADS; k++)
				wrong += !rvp_blocks_remove(address_of(k, 0));
			_exit(wrong || double_mapped_bytes != LINE_BYTES << FIRST_BUCKET_BITS);
		}
		ck_assert_int_eq(waitpid(child, &status, 0), child);
		ck_assert_int_eq(status, 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("blocks");
	TCase *cases = tcase_create("blocks");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, an_address_comes_out_once);
	tcase_add_test(cases, an_unknown_address_is_not_there);
	tcase_add_test(cases, a_full_bucket_passes_to_the_next_level);
	tcase_add_test(cases, a_gap_in_a_lower_level_is_used_again);
	tcase_add_test(cases, all_levels_full_is_said);
	tcase_add_test(cases, no_memory_is_said_and_may_pass);
	tcase_add_test(cases, no_memory_for_a_further_level);
	tcase_add_test(cases, threads_find_their_own);
	tcase_add_test(cases, threads_in_one_bucket);
	tcase_add_test(cases, threads_make_one_level);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
