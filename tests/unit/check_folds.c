/* SPDX-License-Identifier: MIT */
/* Sums by call path, read back from the file as the report does. Each case has a folder of its own. */
#include "preload/folds.h"
#include "record/fold.h"
#include "tests/unit/preload_double.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SAMPLE_MEAN_BYTES = 512 * 1024 };

static char scratch[64];

static void make_folder(void)
{
	snprintf(scratch, sizeof scratch, "/tmp/rvprof-folds.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	strcpy(rvp_process.proc_folder, scratch);
	rvp_process.sample_bytes = SAMPLE_MEAN_BYTES;
	rvp_process.pid = 4711;
}

static void remove_file(void)
{
	char file[128];

	snprintf(file, sizeof file, "%s/" RVP_FOLD_FILE, scratch);
	unlink(file);
}

static void remove_folder(void)
{
	remove_file();
	rmdir(scratch);
}

static const struct rvp_fold_table *read_back(void)
{
	char file[sizeof rvp_process.proc_folder + sizeof RVP_FOLD_FILE + 1];
	struct stat info;
	int fd;

	snprintf(file, sizeof file, "%s/" RVP_FOLD_FILE, rvp_process.proc_folder);
	fd = open(file, O_RDONLY);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &info), 0);
	ck_assert_uint_eq((uint64_t)info.st_size, sizeof(struct rvp_fold_table));
	ck_assert_uint_ge((uint64_t)info.st_blocks * 512, sizeof(struct rvp_fold_table));
	const struct rvp_fold_table *table = mmap(NULL, sizeof *table, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	ck_assert_ptr_ne(table, MAP_FAILED);
	return table;
}

static const struct rvp_fold *entry_of(const struct rvp_fold_table *table, uint32_t stack, uint32_t python)
{
	for (unsigned i = 1; i < RVP_FOLD_ENTRIES; i++)
		if (table->entry[i].key == rvp_fold_key(stack, python))
			return &table->entry[i];
	ck_abort_msg("no sum for this path");
}

START_TEST(the_file_says_whose_it_is)
{
	struct rvp_file_header expected = {.pid = 4711};
	const struct rvp_fold_table *table;

	rvp_fold((struct rvp_path){1, 0}, 100, false);
	table = read_back();
	rvp_file_header_seal(&expected, RVP_FOLD_MAGIC);
	ck_assert_mem_eq(&table->file, &expected, sizeof expected);
}
END_TEST

START_TEST(each_path_has_its_sum)
{
	const struct rvp_fold_table *table;

	for (uint32_t round = 1; round <= 10; round++)
		for (uint32_t path = 0; path < 500; path++)
			rvp_fold((struct rvp_path){path / 5, path % 5}, path * round, false);
	table = read_back();
	for (uint32_t path = 0; path < 500; path++) {
		ck_assert_uint_eq(entry_of(table, path / 5, path % 5)->alloc_count, 10);
		ck_assert_uint_eq(entry_of(table, path / 5, path % 5)->alloc_bytes, path * 55ull);
	}
	ck_assert_uint_eq(table->entry[0].alloc_count, 0);
}
END_TEST

enum { THREADS = 4, PATHS = 64, ROUNDS = 2000, TABLES = 300, EVENTS_A_TABLE = 2000 };
static atomic_int ready;
static bool are_samples;

static void *add(void *argument)
{
	uint64_t bytes = (uint64_t)(uintptr_t)argument;

	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < THREADS)
		sched_yield();
	for (int round = 0; round < ROUNDS; round++)
		for (uint32_t path = 0; path < PATHS; path++)
			rvp_fold((struct rvp_path){path, 7}, bytes, are_samples);
	return NULL;
}

static void *add_few(void *argument)
{
	(void)argument;
	atomic_fetch_add(&ready, 1);
	while (atomic_load(&ready) < THREADS)
		sched_yield();
	for (int i = 0; i < EVENTS_A_TABLE; i++)
		rvp_fold((struct rvp_path){1, 0}, 1, false);
	return NULL;
}

/* Who found no table just before it was there must not take its event for lost. */
START_TEST(none_is_lost_while_the_table_is_made)
{
	pthread_t threads[THREADS];

	for (int round = 0; round < TABLES; round++) {
		rvp_folds_leave_parent();
		atomic_store(&ready, 0);
		for (int i = 0; i < THREADS; i++)
			ck_assert_int_eq(pthread_create(&threads[i], NULL, add_few, NULL), 0);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		ck_assert_uint_eq(double_lost[RVP_LOSS_LOG_BOUND], 0);
		remove_file();
	}
}
END_TEST

/* While one thread makes the table the others have none: what they bring is in entry 0. */
START_TEST(threads_add_up)
{
	const struct rvp_fold_table *table;
	pthread_t threads[THREADS];
	uint64_t count, bytes;

	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, add, (void *)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	table = read_back();
	count = table->entry[0].alloc_count;
	bytes = table->entry[0].alloc_bytes;
	for (uint32_t path = 0; path < PATHS; path++) {
		count += entry_of(table, path, 7)->alloc_count;
		bytes += entry_of(table, path, 7)->alloc_bytes;
	}
	ck_assert_uint_eq(double_lost[RVP_LOSS_LOG_BOUND], 0);
	ck_assert_uint_eq(count, THREADS * PATHS * ROUNDS);
	ck_assert_uint_eq(bytes, PATHS * ROUNDS * (1 + 2 + 3 + 4));
}
END_TEST

START_TEST(threads_add_up_to_the_byte)
{
	const struct rvp_fold_table *table;
	pthread_t threads[THREADS];

	rvp_fold((struct rvp_path){PATHS, 7}, 1, false);
	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, add, (void *)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	table = read_back();
	for (uint32_t path = 0; path < PATHS; path++) {
		ck_assert_uint_eq(entry_of(table, path, 7)->alloc_count, THREADS * ROUNDS);
		ck_assert_uint_eq(entry_of(table, path, 7)->alloc_bytes, ROUNDS * (1 + 2 + 3 + 4));
	}
	ck_assert_uint_eq(double_lost[RVP_LOSS_LOG_BOUND], 0);
}
END_TEST

/* More paths than entries: none is lost, none is summed twice, the rest is in entry 0. */
START_TEST(a_full_table_sums_the_rest_in_entry_0)
{
	const uint32_t paths = RVP_FOLD_ENTRIES + RVP_FOLD_ENTRIES / 4;
	static bool is_seen[RVP_FOLD_ENTRIES + RVP_FOLD_ENTRIES / 4];
	const struct rvp_fold_table *table;
	uint64_t count = 0, bytes = 0, expected = 0;

	for (int round = 0; round < 2; round++)
		for (uint32_t path = 0; path < paths; path++) {
			rvp_fold((struct rvp_path){path, 0}, path, false);
			expected += path;
		}
	table = read_back();
	for (unsigned i = 0; i < RVP_FOLD_ENTRIES; i++) {
		const struct rvp_fold *entry = &table->entry[i];
		uint64_t path = (entry->key - 1) >> 32;

		count += entry->alloc_count;
		bytes += entry->alloc_bytes;
		if (i == 0 || !entry->key)
			continue;
		ck_assert_uint_eq(entry->alloc_count, 2);
		ck_assert_uint_eq(entry->alloc_bytes, 2 * path);
		ck_assert(!is_seen[path]);
		is_seen[path] = true;
	}
	ck_assert_uint_eq(count, 2 * paths);
	ck_assert_uint_eq(bytes, expected);
	ck_assert_uint_eq(table->entry[0].key, 0);
	ck_assert_uint_ge(table->entry[0].alloc_count, 2 * (paths - RVP_FOLD_ENTRIES + 1));
	/* An entry found by several probes: few are left empty. */
	ck_assert_uint_lt(table->entry[0].alloc_count,
			  2 * (paths - RVP_FOLD_ENTRIES + RVP_FOLD_ENTRIES / 16));
}
END_TEST

/* bytes / p and 1 / p a sample, summed: bytes to half a byte a sample, allocs to one in all. */
START_TEST(a_sample_counts_for_what_it_stands_for)
{
	static const uint64_t sizes[] = {1, 16, 100, 4096, 12345, 16383, 100000, 1 << 20, 40 << 20};
	const struct rvp_fold_table *table;

	for (uint32_t i = 0; i < 9; i++)
		for (int round = 0; round < 1000; round++)
			rvp_fold((struct rvp_path){i + 1, 0}, sizes[i], true);
	table = read_back();
	for (uint32_t i = 0; i < 9; i++) {
		const struct rvp_fold *entry = entry_of(table, i + 1, 0);
		double weight = 1000 / -expm1(-(double)sizes[i] / SAMPLE_MEAN_BYTES);
		double bytes = weight * (double)sizes[i];

		ck_assert_double_le(fabs((double)entry->alloc_bytes - bytes), 500 + 1e-8 * bytes);
		ck_assert_double_le(fabs((double)entry->alloc_count - weight),
				    1 + 500.0 / (double)sizes[i] + 1e-8 * weight);
	}
}
END_TEST

/* Sizes taking turns on one path: no share of an alloc is dropped a sample. */
START_TEST(samples_of_several_sizes_on_one_path)
{
	static const uint64_t sizes[] = {4096, 12345, 16383, 9000, 15011};
	double weight = 0;

	for (int round = 0; round < 20000; round++) {
		rvp_fold((struct rvp_path){1, 1}, sizes[round % 5], true);
		weight += 1 / -expm1(-(double)sizes[round % 5] / SAMPLE_MEAN_BYTES);
	}
	ck_assert_double_le(fabs((double)entry_of(read_back(), 1, 1)->alloc_count / weight - 1), 1e-3);
}
END_TEST

/* Each event is counted, also those that waited for a table that is not to be had. */
START_TEST(threads_lose_each_event_once)
{
	pthread_t threads[THREADS];

	strcat(rvp_process.proc_folder, "/missing");
	are_samples = true;
	for (uintptr_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, add, (void *)(i + 1)), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ck_assert_uint_eq(double_lost[RVP_LOSS_LOG_BOUND], THREADS * PATHS * ROUNDS);
}
END_TEST

static void is_counted_as_lost(void)
{
	for (int i = 1; i <= 5; i++) {
		rvp_fold((struct rvp_path){1, 0}, 100, false);
		ck_assert_uint_eq(double_lost[RVP_LOSS_LOG_BOUND], (uint64_t)i);
	}
}

START_TEST(without_a_folder_it_is_counted)
{
	strcat(rvp_process.proc_folder, "/missing");
	is_counted_as_lost();
}
END_TEST

/* SIGXFSZ would end the program: it is never asked for. */
START_TEST(past_the_limit_of_a_file_it_is_counted)
{
	struct rlimit limit = {sizeof(struct rvp_fold_table) - 1, RLIM_INFINITY};

	signal(SIGXFSZ, SIG_DFL);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	is_counted_as_lost();
}
END_TEST

START_TEST(at_the_limit_of_a_file_it_is_kept)
{
	struct rlimit limit = {sizeof(struct rvp_fold_table), RLIM_INFINITY};

	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	rvp_fold((struct rvp_path){1, 0}, 100, false);
	ck_assert_uint_eq(entry_of(read_back(), 1, 0)->alloc_bytes, 100);
}
END_TEST

/* A store into a hole of a full file system would be SIGBUS. */
START_TEST(on_a_full_disk_it_is_counted)
{
	if ((unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", scratch, "tmpfs", 0, "size=256k")) {
		fprintf(stderr, "SKIPPED on_a_full_disk_it_is_counted: no mount here: %s\n", strerror(errno));
		return;
	}
	is_counted_as_lost();
	remove_folder();
	umount(scratch);
}
END_TEST

/* A child's sums are in its own folder; what it adds is not its parent's. */
START_TEST(a_child_has_sums_of_its_own)
{
	const struct rvp_fold_table *parents, *own;

	rvp_fold((struct rvp_path){1, 0}, 100, false);
	parents = read_back();
	rvp_folds_leave_parent();
	strcat(rvp_process.proc_folder, "/child");
	ck_assert_int_eq(mkdir(rvp_process.proc_folder, 0700), 0);
	rvp_fold((struct rvp_path){1, 0}, 11, false);
	own = read_back();
	ck_assert_uint_eq(entry_of(own, 1, 0)->alloc_bytes, 11);
	ck_assert_uint_eq(entry_of(parents, 1, 0)->alloc_bytes, 100);
	unlinkat(open(rvp_process.proc_folder, O_RDONLY), RVP_FOLD_FILE, 0);
	rmdir(rvp_process.proc_folder);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("folds");
	TCase *cases = tcase_create("folds");

	tcase_add_checked_fixture(cases, make_folder, remove_folder);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, the_file_says_whose_it_is);
	tcase_add_test(cases, each_path_has_its_sum);
	tcase_add_test(cases, none_is_lost_while_the_table_is_made);
	tcase_add_test(cases, threads_add_up);
	tcase_add_test(cases, threads_add_up_to_the_byte);
	tcase_add_test(cases, a_full_table_sums_the_rest_in_entry_0);
	tcase_add_test(cases, a_sample_counts_for_what_it_stands_for);
	tcase_add_test(cases, samples_of_several_sizes_on_one_path);
	tcase_add_test(cases, threads_lose_each_event_once);
	tcase_add_test(cases, without_a_folder_it_is_counted);
	tcase_add_test(cases, past_the_limit_of_a_file_it_is_counted);
	tcase_add_test(cases, at_the_limit_of_a_file_it_is_kept);
	tcase_add_test(cases, on_a_full_disk_it_is_counted);
	tcase_add_test(cases, a_child_has_sums_of_its_own);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
