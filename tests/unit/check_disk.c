/* SPDX-License-Identifier: MIT */
/* Files that are allocated in full where the file system has no fallocate: zeros are written. The system call
 * is renamed here, so that any answer of the kernel's can be had on any file system. */
#include "preload/sys.h"

static long answer_of_kernel;

static long answered_fallocate(int fd, unsigned long at, unsigned long bytes)
{
	return answer_of_kernel ? answer_of_kernel : rvp_sys_fallocate(fd, at, bytes);
}

/* What is written reaches the file, until `room_bytes` were written in all. */
static unsigned long room_bytes, written_bytes;

static long bounded_pwrite(int fd, const void *from, unsigned long bytes, unsigned long at)
{
	unsigned long left = room_bytes - written_bytes;

	if (!left)
		return -28; /* ENOSPC */
	written_bytes += bytes < left ? bytes : left;
	return rvp_sys_pwrite(fd, from, bytes < left ? bytes : left, at);
}

#define rvp_sys_fallocate answered_fallocate
#define rvp_sys_pwrite    bounded_pwrite
#include "preload/disk.c"
#undef rvp_sys_pwrite
#include "tests/unit/preload_double.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char scratch[64];
static int file;

static void start(void)
{
	char path[96];

	snprintf(scratch, sizeof scratch, "/tmp/rvprof-disk.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(scratch));
	strcpy(rvp_process.proc_folder, scratch);
	snprintf(path, sizeof path, "%s/it", scratch);
	file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ck_assert_int_ge(file, 0);
	answer_of_kernel = -EOPNOTSUPP;
	room_bytes = UINT64_MAX;
	written_bytes = 0;
}

static void stop(void)
{
	char path[96];

	close(file);
	snprintf(path, sizeof path, "%s/it", scratch);
	unlink(path);
	snprintf(path, sizeof path, "%s/made", scratch);
	unlink(path);
	rmdir(scratch);
}

static struct stat info(void)
{
	struct stat now;

	ck_assert_int_eq(fstat(file, &now), 0);
	return now;
}

/* One assertion for all bytes: Check keeps a message of each, and 266,240 of them take minutes with ASan. */
static void is_filled_with(char wanted, uint64_t at, size_t bytes)
{
	char *content = malloc(bytes);
	size_t same = 0;

	ck_assert_int_eq(pread(file, content, bytes, (off_t)at), (ssize_t)bytes);
	while (same < bytes && content[same] == wanted)
		same++;
	ck_assert_uint_eq(same, bytes);
	free(content);
}

/* Every byte has its place on disk: a store into a hole of a full one is SIGBUS. */
static void is_all_there(size_t bytes)
{
	ck_assert_uint_eq((uint64_t)info().st_size, bytes);
	ck_assert_uint_ge((uint64_t)info().st_blocks * 512, bytes);
	is_filled_with(0, 0, bytes);
}

START_TEST(without_fallocate_zeros_are_written)
{
	ck_assert_int_eq(rvp_disk_allocate(file, 0, 65 * PAGE), 0);
	ck_assert_uint_eq(written_bytes, 65 * PAGE);
	is_all_there(65 * PAGE);
}
END_TEST

START_TEST(a_part_of_a_page_is_written_to_its_byte)
{
	ck_assert_int_eq(rvp_disk_allocate(file, 0, 2 * PAGE + 100), 0);
	is_all_there(2 * PAGE + 100);
}
END_TEST

/* The buffers grow by segments: those before are in use. */
START_TEST(what_lies_before_is_left_alone)
{
	char before[PAGE];

	memset(before, 0x5a, sizeof before);
	ck_assert_int_eq(write(file, before, sizeof before), PAGE);
	ck_assert_int_eq(rvp_disk_allocate(file, PAGE, 3 * PAGE), 0);
	ck_assert_uint_eq((uint64_t)info().st_size, 4 * PAGE);
	is_filled_with(0, PAGE, 3 * PAGE);
	is_filled_with(0x5a, 0, PAGE);
}
END_TEST

/* Also when the last page goes only in part. */
START_TEST(a_disk_that_fills_up_meanwhile_is_an_error)
{
	room_bytes = 10 * PAGE + 17;
	ck_assert_int_eq(rvp_disk_allocate(file, 0, 65 * PAGE), -ENOSPC);
	ck_assert_uint_eq(written_bytes, room_bytes);
	written_bytes = 0;
	room_bytes = 5 * PAGE - 1;
	ck_assert_int_eq(rvp_disk_allocate(file, 0, 5 * PAGE), -ENOSPC);
}
END_TEST

/* SIGXFSZ would end the program: nothing is written past the limit, and nothing below it either. */
START_TEST(past_the_limit_of_a_file_nothing_is_written)
{
	struct rlimit limit = {8 * PAGE, RLIM_INFINITY};

	signal(SIGXFSZ, SIG_DFL);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(rvp_disk_allocate(file, PAGE, 8 * PAGE), -EFBIG);
	ck_assert_uint_eq(written_bytes, 0);
	ck_assert_int_eq(rvp_disk_allocate(file, PAGE, 7 * PAGE), 0);
}
END_TEST

START_TEST(another_error_is_told_and_nothing_is_written)
{
	static const int errors[] = {ENOSPC, EIO, EBADF, EPERM};

	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
		answer_of_kernel = -errors[i];
		ck_assert_int_eq(rvp_disk_allocate(file, 0, PAGE), -errors[i]);
	}
	ck_assert_uint_eq(written_bytes, 0);
}
END_TEST

START_TEST(with_fallocate_nothing_is_written)
{
	answer_of_kernel = 0;
	if (rvp_sys_fallocate(file, 0, PAGE) == -EOPNOTSUPP)
		return; /* the file system here has none */
	ck_assert_int_eq(rvp_disk_allocate(file, 0, 65 * PAGE), 0);
	ck_assert_uint_eq(written_bytes, 0);
	is_all_there(65 * PAGE);
}
END_TEST

START_TEST(a_mapped_file_is_made_and_can_be_stored_to)
{
	char *map = rvp_disk_make("/made", 5 * PAGE);

	ck_assert_ptr_nonnull(map);
	ck_assert_uint_eq(written_bytes, 5 * PAGE);
	memset(map, 1, 5 * PAGE);
	ck_assert_int_eq(munmap(map, 5 * PAGE), 0);
	ck_assert_ptr_null(rvp_disk_make("/made", PAGE)); /* never one that is there */
}
END_TEST

START_TEST(no_room_makes_no_map)
{
	room_bytes = PAGE;
	ck_assert_ptr_null(rvp_disk_make("/made", 5 * PAGE));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("disk");
	TCase *cases = tcase_create("disk");

	tcase_add_checked_fixture(cases, start, stop);
	tcase_add_test(cases, without_fallocate_zeros_are_written);
	tcase_add_test(cases, a_part_of_a_page_is_written_to_its_byte);
	tcase_add_test(cases, what_lies_before_is_left_alone);
	tcase_add_test(cases, a_disk_that_fills_up_meanwhile_is_an_error);
	tcase_add_test(cases, past_the_limit_of_a_file_nothing_is_written);
	tcase_add_test(cases, another_error_is_told_and_nothing_is_written);
	tcase_add_test(cases, with_fallocate_nothing_is_written);
	tcase_add_test(cases, a_mapped_file_is_made_and_can_be_stored_to);
	tcase_add_test(cases, no_room_makes_no_map);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
