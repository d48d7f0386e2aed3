/* SPDX-License-Identifier: MIT */
/* check_page_runs.c: pages of mappings with known contents, by PAGEMAP_SCAN where the kernel has it and
 * without. */
#include "preload/page_runs.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 64 };

struct seen {
	struct rvp_page_run runs[16];
	unsigned count;
	uint64_t resident_bytes, bytes;
};

static void note(void *context, const struct rvp_page_run *run)
{
	struct seen *seen = context;

	if (seen->count < 16)
		seen->runs[seen->count] = *run;
	seen->count++;
	seen->resident_bytes += run->resident_bytes;
	seen->bytes += run->bytes;
}

static struct seen look(const char *from, uint64_t bytes, bool without_scan)
{
	static uint64_t room[4096];
	struct rvp_page_reader reader = {.fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC),
					 .room = room,
					 .room_bytes = sizeof room,
					 .has_no_scan = without_scan};
	struct seen seen = {0};

	ck_assert_int_ge(reader.fd, 0);
	ck_assert(rvp_page_runs(&reader, (uint64_t)from, (uint64_t)from + bytes, note, &seen));
	close(reader.fd);
	return seen;
}

static char *map(uint64_t bytes)
{
	char *at =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert(at != MAP_FAILED);
	madvise(at, bytes, MADV_NOHUGEPAGE);
	return at;
}

START_TEST(runs_are_what_was_written)
{
	char *at = map(PAGES * PAGE);

	memset(at + 3 * PAGE, 1, 5 * PAGE);
	at[20 * PAGE] = 1;
	for (int without_scan = 0; without_scan < 2; without_scan++) {
		struct seen seen = look(at, PAGES * PAGE, without_scan);

		ck_assert_uint_eq(seen.count, 2);
		ck_assert_uint_eq(seen.runs[0].address, (uint64_t)at + 3 * PAGE);
		ck_assert_uint_eq(seen.runs[0].bytes, 5 * PAGE);
		ck_assert_uint_eq(seen.runs[0].resident_bytes, 5 * PAGE);
		ck_assert_uint_eq(seen.runs[1].address, (uint64_t)at + 20 * PAGE);
		ck_assert_uint_eq(seen.runs[1].bytes, PAGE);
		ck_assert_uint_eq(seen.runs[1].looked_bytes, PAGE);
	}
	munmap(at, PAGES * PAGE);
}
END_TEST

START_TEST(a_large_mapping_is_looked_at_in_parts)
{
	uint64_t bytes = 3ull << 30, part = 64 << 20;
	char *at = map(bytes);
	struct seen seen;

	memset(at, 1, part); /* dense where it is: the estimate is near, and says that it is one */
	seen = look(at, bytes, true);
	ck_assert_uint_gt(seen.count, 0);
	ck_assert_uint_lt(seen.runs[0].looked_bytes, seen.runs[0].bytes);
	ck_assert_uint_ge(seen.resident_bytes, part / 4 * 3);
	ck_assert_uint_le(seen.resident_bytes, part / 2 * 3);
	munmap(at, bytes);
}
END_TEST

/* More runs than the kernel keeps at once (512), than there is room for, and neither: each is seen once. */
START_TEST(many_runs_are_each_seen_once)
{
	static const unsigned run_counts[] = {511, 512, 513, 600, 1100, 1365, 1366, 3000};

	for (unsigned i = 0; i < sizeof run_counts / sizeof *run_counts; i++) {
		uint64_t bytes = 2ull * PAGE * run_counts[i];
		char *at = map(bytes + PAGE);
		struct seen seen;

		for (unsigned run = 0; run < run_counts[i]; run++)
			at[2ull * PAGE * run] = 1;
		seen = look(at, bytes + PAGE, false);
		ck_assert_uint_eq(seen.count, run_counts[i]);
		ck_assert_uint_eq(seen.resident_bytes, (uint64_t)PAGE * run_counts[i]);
		munmap(at, bytes + PAGE);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("page_runs");
	TCase *cases = tcase_create("page_runs");

	if (access("/proc/self/pagemap", R_OK))
		return 77;
	tcase_add_test(cases, runs_are_what_was_written);
	tcase_add_test(cases, a_large_mapping_is_looked_at_in_parts);
	tcase_add_test(cases, many_runs_are_each_seen_once);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
