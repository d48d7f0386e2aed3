/* SPDX-License-Identifier: MIT */
/* check_output_files.c: outputs on a disk that fills up: who gives way to whom, and what is left. The system calls are renamed
 * here, so that the disk has as many bytes as a case wants: what the files hold together counts, as on a disk. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t room_bytes, file_room_bytes;

/* Of the files with the numbers 3 to 63: those that a case has open. */
static size_t used_bytes(void)
{
	struct stat file;
	size_t sum = 0;

	for (int fd = 3; fd < 64; fd++)
		if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
			sum += (size_t)file.st_size;
	return sum;
}

static ssize_t bounded_write(int fd, const void *bytes, size_t count)
{
	size_t used = used_bytes();
	struct stat file;

	if (fstat(fd, &file) == 0 && (size_t)file.st_size + count > file_room_bytes) {
		errno = EFBIG;
		return -1;
	}
	if (used >= room_bytes) {
		errno = ENOSPC;
		return -1;
	}
	return write(fd, bytes, count < room_bytes - used ? count : room_bytes - used);
}

#define write(fd, bytes, count) bounded_write(fd, bytes, count)
#include "report/output_files.c"
#undef write
#include "tests/unit/run_suite.h"

#include <dirent.h>
#include <stdlib.h>

static struct rvp_outputs outputs;
static char folder[64];

static void start(void)
{
	snprintf(folder, sizeof folder, "/tmp/rvprof-outputs.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	room_bytes = file_room_bytes = SIZE_MAX;
	ck_assert(!rvp_failed(rvp_outputs_open(&outputs, folder, true)));
}

static void stop(void)
{
	char path[128];

	rvp_outputs_drop(&outputs);
	for (int i = 0; i < RVP_OUTPUT_COUNT; i++) {
		if (!rvp_output_names[i])
			continue;
		snprintf(path, sizeof path, "%s/%s", folder, rvp_output_names[i]);
		unlink(path);
	}
	ck_assert_int_eq(rmdir(folder), 0); /* nothing half-written is left */
}

static void fill(enum rvp_output output, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		fputc('a' + (int)output, outputs.files[output].stream);
}

/* -1: it is not there. */
static long bytes_of(enum rvp_output output)
{
	char path[128];
	struct stat file;

	snprintf(path, sizeof path, "%s/%s", folder, rvp_output_names[output]);
	return stat(path, &file) == 0 ? (long)file.st_size : -1;
}

static void put_old(enum rvp_output output)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, rvp_output_names[output]);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs("old", file);
	fclose(file);
}

/* As finalize does it; summary.json is `bytes` and what is said in it of missing outputs. */
static struct rvp_status finish(size_t bytes)
{
	struct rvp_status status = rvp_outputs_settle(&outputs);
	bool again = !rvp_failed(status);

	while (again) {
		struct rvp_json json = {.out = outputs.files[RVP_OUTPUT_SUMMARY].stream};

		rvp_json_open(&json, NULL, '{');
		rvp_outputs_write_missing(&json, &outputs);
		rvp_json_close(&json, '}');
		fill(RVP_OUTPUT_SUMMARY, bytes);
		status = rvp_outputs_settle_last(&outputs, &again);
	}
	if (!rvp_failed(status))
		status = rvp_outputs_rename(&outputs);
	if (!rvp_failed(status))
		status = rvp_outputs_missing(&outputs);
	return status;
}

static bool summary_says(const char *text)
{
	char path[128], all[4096];
	FILE *file;

	snprintf(path, sizeof path, "%s/summary.json", folder);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	all[fread(all, 1, sizeof all - 1, file)] = '\0';
	fclose(file);
	return strstr(all, text) != NULL;
}

/* Nobody sampled power here. */
static bool is_of_power(int output)
{
	return output >= RVP_OUTPUT_POWER && output <= RVP_OUTPUT_POWER_LAST;
}

START_TEST(room_for_all)
{
	for (int i = 0; i < RVP_OUTPUT_SUMMARY; i++)
		if (!is_of_power(i))
			fill((enum rvp_output)i, 1000);
	ck_assert(!rvp_failed(finish(10)));
	for (int i = 0; i < RVP_OUTPUT_SUMMARY; i++)
		if (!is_of_power(i))
			ck_assert_int_eq(bytes_of((enum rvp_output)i), 1000);
	ck_assert(!summary_says("not_written"));
}
END_TEST

/* kernels.csv goes whoever met the end of the disk, and what it had is there for the others. */
START_TEST(kernels_go_first)
{
	struct rvp_status status;
	char line[600];

	room_bytes = 1000000;
	put_old(RVP_OUTPUT_KERNELS);
	put_old(RVP_OUTPUT_MEMORY);
	fill(RVP_OUTPUT_KERNELS, 500000);
	fill(RVP_OUTPUT_TRACE, _i ? 700000 : 400000);
	if (!_i)
		fill(RVP_OUTPUT_KERNELS, 300000);
	fill(RVP_OUTPUT_MEMORY, 200000);
	status = finish(1000);
	ck_assert(rvp_failed(status));
	rvp_status_line(&status, line, sizeof line);
	ck_assert_str_eq(line, "cannot write kernels.csv: No space left on device; the other outputs are written");
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_TRACE), _i ? 700000 : 400000);
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_MEMORY), 200000);
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_KERNELS), 3); /* as it was */
	ck_assert(summary_says("kernels.csv") && !summary_says("trace.json"));
}
END_TEST

START_TEST(then_the_trace)
{
	struct rvp_status status;
	char line[600];

	room_bytes = 300000;
	fill(RVP_OUTPUT_KERNELS, 400000);
	fill(RVP_OUTPUT_TRACE, 400000);
	fill(RVP_OUTPUT_MEMORY, 200000);
	fill(RVP_OUTPUT_LATENCY, 90000);
	status = finish(1000);
	rvp_status_line(&status, line, sizeof line);
	ck_assert_str_eq(line, "cannot write kernels.csv and trace.json: No space left on device; the other outputs are written");
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_MEMORY), 200000);
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_LATENCY), 90000);
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_KERNELS), -1);
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_TRACE), -1);
	ck_assert(summary_says("kernels.csv") && summary_says("trace.json") && summary_says("No space left on device"));
}
END_TEST

/* What goes for summary.json's own sake is said in it. */
START_TEST(the_summary_says_who_went_for_it)
{
	room_bytes = 100000;
	fill(RVP_OUTPUT_KERNELS, 99990);
	ck_assert(rvp_failed(finish(2000)));
	ck_assert(summary_says("kernels.csv"));
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_KERNELS), -1);
	ck_assert_int_gt(bytes_of(RVP_OUTPUT_SUMMARY), 2000);
	ck_assert_int_lt(bytes_of(RVP_OUTPUT_SUMMARY), 2200); /* once, not twice */
}
END_TEST

/* A limit of a file's own concerns that file alone. */
START_TEST(a_file_that_may_not_grow)
{
	file_room_bytes = 100000;
	fill(RVP_OUTPUT_KERNELS, 99000);
	fill(RVP_OUTPUT_TRACE, 400000);
	ck_assert(rvp_failed(finish(1000)));
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_KERNELS), 99000);
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_TRACE), -1);
	ck_assert(summary_says("File too large"));
}
END_TEST

START_TEST(no_room_for_what_must_be)
{
	struct rvp_status status;

	room_bytes = 100000;
	put_old(RVP_OUTPUT_MEMORY);
	put_old(RVP_OUTPUT_SUMMARY);
	fill(RVP_OUTPUT_KERNELS, 50000);
	fill(RVP_OUTPUT_MEMORY, 200000);
	status = finish(1000);
	ck_assert(rvp_failed(status));
	ck_assert_int_eq(status.error, ENOSPC);
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_MEMORY), 3);
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_SUMMARY), 3);
	ck_assert_int_eq(bytes_of(RVP_OUTPUT_LATENCY), -1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("output_files");
	TCase *test = tcase_create("disks");

	tcase_add_checked_fixture(test, start, stop);
	tcase_add_test(test, room_for_all);
	tcase_add_loop_test(test, kernels_go_first, 0, 2);
	tcase_add_test(test, then_the_trace);
	tcase_add_test(test, the_summary_says_who_went_for_it);
	tcase_add_test(test, a_file_that_may_not_grow);
	tcase_add_test(test, no_room_for_what_must_be);
	suite_add_tcase(suite, test);
	return run_suite(suite);
}
