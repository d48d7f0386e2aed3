/* SPDX-License-Identifier: MIT */
/* check_sketch.c: the sketch against exact percentiles, on random and on hostile sets; merging; latency of more times than are
 * kept; the steps of a day in flat memory. */
#include "report/file_array.h"
#include "report/latency.h"
#include "report/sketch.h"

#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SETS = 1000, RANKS = 97, NUMBERS_MAX = 3000, KINDS = 10 };

static uint64_t seed = 20261122;

static uint64_t random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static double unit(void)
{
	return (double)(random_number() >> 11) / 9007199254740992.0;
}

/* Edges of buckets, both ends of 64 bits, ties, several scales: what a sketch is bad at if it is. */
static uint64_t hostile(unsigned kind, size_t i)
{
	switch (kind) {
	case 0: return random_number();
	case 1: return random_number() % 1000;
	case 2: return (uint64_t)exp(unit() * 43);
	case 3: return 7;
	case 4: return (uint64_t)1 << (random_number() % 64);
	case 5: return ((uint64_t)1 << (random_number() % 64)) - 1;
	case 6: return random_number() % 2 ? UINT64_MAX - random_number() % 3 : random_number() % 3;
	case 7: return ((random_number() % 128 + 128) << (random_number() % 57)) - random_number() % 2;
	case 8: return 254 + i % 6;
	default: return (uint64_t)(1000 / pow(1 - unit(), 1 / 1.1)); /* a heavy tail */
	}
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static size_t fill(uint64_t *numbers, unsigned set)
{
	size_t count = set < 2 * KINDS ? set / KINDS + 1 : 1 + random_number() % NUMBERS_MAX;

	for (size_t i = 0; i < count; i++)
		numbers[i] = hostile(set % KINDS, i);
	return count;
}

START_TEST(ranks_are_within_a_256th_of_the_exact_number)
{
	static uint64_t numbers[NUMBERS_MAX];
	static struct rvp_sketch sketch;

	for (unsigned set = 0; set < SETS; set++) {
		size_t count = fill(numbers, set);

		memset(&sketch, 0, sizeof sketch);
		for (size_t i = 0; i < count; i++)
			rvp_sketch_add(&sketch, numbers[i]);
		qsort(numbers, count, sizeof *numbers, compare);
		ck_assert_uint_eq(sketch.count, count);
		for (size_t part = 0; part <= RANKS; part++) {
			size_t rank = part * (count - 1) / RANKS;
			uint64_t got = rvp_sketch_at(&sketch, rank), exact = numbers[rank];
			uint64_t off = got > exact ? got - exact : exact - got;

			ck_assert_msg(off <= exact / 256, "set %u, rank %zu: %lu for %lu", set, rank, got, exact);
		}
	}
}
END_TEST

START_TEST(a_number_lies_in_the_range_of_its_bucket_and_buckets_leave_no_gap)
{
	uint64_t first, last, next = 0;

	for (unsigned i = 0; i < RVP_SKETCH_BUCKETS; i++) {
		rvp_sketch_range(i, &first, &last);
		ck_assert_uint_eq(first, next);
		ck_assert_uint_eq(rvp_sketch_bucket(first), i);
		ck_assert_uint_eq(rvp_sketch_bucket(last), i);
		next = last + 1;
	}
	ck_assert_uint_eq(last, UINT64_MAX);
}
END_TEST

static struct rvp_sketch *sketch_of(const uint64_t *numbers, size_t count)
{
	struct rvp_sketch *sketch = calloc(1, sizeof *sketch);

	for (size_t i = 0; i < count; i++)
		rvp_sketch_add(sketch, numbers[i]);
	return sketch;
}

/* (a + b) + c is a + (b + c), is all of them in one, bit for bit; nothing added is nothing. */
START_TEST(merging_is_associative)
{
	static uint64_t numbers[NUMBERS_MAX];

	for (unsigned set = 0; set < 60; set++) {
		size_t count = fill(numbers, set), third = count / 3;
		struct rvp_sketch *a = sketch_of(numbers, third), *b = sketch_of(numbers + third, third),
				  *c = sketch_of(numbers + 2 * third, count - 2 * third),
				  *left = sketch_of(numbers, third), *all = sketch_of(numbers, count);

		rvp_sketch_merge(left, b);
		rvp_sketch_merge(left, c);
		rvp_sketch_merge(b, c);
		rvp_sketch_merge(a, b);
		ck_assert(!memcmp(left, all, sizeof *all));
		ck_assert(!memcmp(a, all, sizeof *all));
		free(a), free(b), free(c), free(left), free(all);
	}
}
END_TEST

/* 3,000,000 times, of which the exact figures are known without sorting: 1 to n, shuffled. */
START_TEST(more_times_than_are_kept_have_near_percentiles_and_an_exact_mean)
{
	enum { COUNT = 3000017, STEP = 1000003 };
	struct rvp_times times = {0};
	struct rvp_latency latency;

	for (uint64_t i = 0; i < COUNT; i++)
		rvp_times_add(&times, i * STEP % COUNT + 1);
	latency = rvp_times_latency(&times);
	ck_assert(latency.is_estimate);
	ck_assert_uint_eq(latency.count, COUNT);
	ck_assert_double_eq_tol((double)latency.p50_us, ceil(0.50 * COUNT), 0.50 * COUNT / 256);
	ck_assert_double_eq_tol((double)latency.p95_us, ceil(0.95 * COUNT), 0.95 * COUNT / 256);
	ck_assert_double_eq_tol((double)latency.p99_us, ceil(0.99 * COUNT), 0.99 * COUNT / 256);
	ck_assert_double_eq(latency.mean_us, (COUNT + 1) / 2.0);
	ck_assert_double_eq_tol(latency.std_us, sqrt(((double)COUNT * COUNT - 1) / 12), 1e-6);
	ck_assert_uint_le(times.room, RVP_LATENCY_EXACT);
	rvp_times_free(&times);
}
END_TEST

START_TEST(as_many_as_are_kept_are_exact)
{
	struct rvp_times times = {0};
	struct rvp_latency latency;

	for (uint64_t i = 0; i < RVP_LATENCY_EXACT; i++)
		rvp_times_add(&times, 1000000 + i);
	latency = rvp_times_latency(&times);
	ck_assert(!latency.is_estimate);
	ck_assert_uint_eq(latency.p50_us, 1000000 + RVP_LATENCY_EXACT / 2 - 1);
	rvp_times_add(&times, 5);
	ck_assert(rvp_times_latency(&times).is_estimate);
	rvp_times_free(&times);
}
END_TEST

/* ---- a day of steps ---- */

/* A 64th of the steps of a day at 1 kHz; the whole day's log would have to be written first. */
enum { STEPS = 86400000 / 64, DATA_MOST_BYTES = 64 << 20, STEP_NS = 7000, PAUSE_NS = 100 };

static void say_step(struct maker_thread *thread, uint64_t stamp, enum rvp_step_kind kind, uint64_t number)
{
	struct rvp_text name = {number % 50 ? "decode" : "prefill", number % 50 ? 6 : 7};

	MAKE(thread, STEP, 16, .stamp = stamp, .kind = kind, .source = RVP_SOURCE_API, .seq_len = number % 50 + 1,
	     .name = name);
}

static uint64_t data_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages[6] = {0};

	if (file) {
		if (fscanf(file, "%lu %lu %lu %lu %lu %lu", &pages[0], &pages[1], &pages[2], &pages[3], &pages[4],
			   &pages[5]) != 6)
			pages[5] = 0;
		fclose(file);
	}
	return pages[5] * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* In a process that can't have more memory than that; files that it maps don't count. */
static int read_with_little_memory(const char *folder, const char *csv)
{
	struct rlimit limit = {data_bytes() + DATA_MOST_BYTES, data_bytes() + DATA_MOST_BYTES};
	struct rvp_latency latency;
	struct rvp_steps steps;
	struct rvp_run *run;
	FILE *out = fopen(csv, "w");

	if (!out || setrlimit(RLIMIT_DATA, &limit) || rvp_failed(rvp_run_open(&run, folder)))
		return 1;
	if (rvp_failed(rvp_steps_find(run, &steps)))
		return 2;
	if (steps.count != STEPS)
		return 3;
	rvp_latency_write(out, run, &steps, NULL);
	latency = rvp_latency_of_steps(&steps);
	fclose(out);
	if (!latency.is_estimate || latency.count != STEPS || latency.p50_us != 7 || latency.p99_us != 7)
		return 4;
	rvp_steps_free(&steps);
	rvp_run_close(run);
	return 0;
}

static uint64_t lines_of(const char *path)
{
	FILE *file = fopen(path, "r");
	uint64_t lines = 0;

	for (int byte; (byte = getc(file)) != EOF;)
		lines += byte == '\n';
	fclose(file);
	return lines;
}

START_TEST(a_64th_of_a_day_of_steps_at_1_khz_is_read_in_flat_memory)
{
	struct maker maker = maker_open();
	struct maker_process *process = maker_add(&maker, 100);
	char csv[128];
	pid_t reader;
	int status;

	for (uint64_t i = 0; i < STEPS; i++) {
		say_step(&process->threads[0], i * STEP_NS, RVP_STEP_BEGIN, i);
		say_step(&process->threads[0], (i + 1) * STEP_NS - PAUSE_NS, RVP_STEP_END, i);
	}
	maker_close(&maker);
	snprintf(csv, sizeof csv, "%s/latency.csv", maker.folder);
	reader = fork();
	if (reader == 0)
		_exit(read_with_little_memory(maker.folder, csv));
	ck_assert_int_eq(waitpid(reader, &status, 0), reader);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(lines_of(csv), STEPS + 1);
	unlink(csv);
	maker_remove(&maker);
}
END_TEST

/* What it says stands, in memory as in a file, and where the file may not grow it goes on in memory. */
START_TEST(an_array_keeps_what_is_in_it_wherever_it_lies)
{
	struct rlimit limit = {5 * RVP_FILE_ARRAY_BYTES, 5 * RVP_FILE_ARRAY_BYTES};
	uint64_t *numbers = NULL, count = 0;

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (uint64_t room = 1000; room < RVP_FILE_ARRAY_BYTES; room += room / 2) {
		numbers = rvp_file_array(numbers, room * sizeof *numbers);
		ck_assert(numbers != NULL);
		for (uint64_t i = 0; i < count; i += 97)
			ck_assert_msg(numbers[i] == i * 7, "%lu of %lu", i, room);
		ck_assert_uint_eq(numbers[room - 1], 0);
		for (; count < room; count++)
			numbers[count] = count * 7;
	}
	ck_assert(rvp_file_array(numbers, 8) == numbers);
	rvp_file_array_free(numbers);
	rvp_file_array_free(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sketch");
	TCase *sets = tcase_create("sets"), *day = tcase_create("day");

	tcase_add_test(sets, ranks_are_within_a_256th_of_the_exact_number);
	tcase_add_test(sets, a_number_lies_in_the_range_of_its_bucket_and_buckets_leave_no_gap);
	tcase_add_test(sets, merging_is_associative);
	tcase_add_test(sets, more_times_than_are_kept_have_near_percentiles_and_an_exact_mean);
	tcase_add_test(sets, as_many_as_are_kept_are_exact);
	tcase_set_timeout(sets, 60);
	tcase_add_test(day, an_array_keeps_what_is_in_it_wherever_it_lies);
	tcase_add_test(day, a_64th_of_a_day_of_steps_at_1_khz_is_read_in_flat_memory);
	tcase_set_timeout(day, 120);
	suite_add_tcase(suite, sets);
	suite_add_tcase(suite, day);
	return run_suite(suite);
}
