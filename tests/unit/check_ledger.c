/* SPDX-License-Identifier: MIT */
/* check_ledger.c: looks at the map, made by hand, and the rows that they must give: every byte once. */
#include "report/analysis.h"
#include "report/ledger.h"
#include "report/ledger_cgroup.h"
#include "tests/unit/made_ledger.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, KIB = 1024, MIB = 1048576, MS = 1000000, HEAP = 0x10000000, MAPPED = 0x20000000 };
static const uint64_t look_stamp = 100 * MS;

static struct maker maker;
static struct maker_thread *thread;
static struct rvp_run *run;
static struct rvp_ledger ledger;
static struct rvp_analysis answer;

static void begin(void)
{
	maker = maker_open();
	thread = &maker_add(&maker, 100)->threads[0];
}

/* rss_bytes of all, and what the library's counters say is live. */
static void snapshot(uint64_t stamp, uint64_t rss_bytes, uint64_t usable_bytes, uint64_t count)
{
	MAKE(thread, SNAPSHOT, 0, .stamp = stamp, .rss_anon_bytes = rss_bytes,
	     .live_usable_bytes = usable_bytes, .live_count = count);
}

static void region(uint64_t stamp, enum rvp_category category, uint64_t start, uint64_t mapped, uint64_t rss,
		   const char *name)
{
	MAKE(thread, REGION, 64, .stamp = stamp, .pid = 100, .category = category, .start = start,
	     .mapped_bytes = mapped, .rss_bytes = rss, .name = {name, strlen(name)});
}

static void resident(uint64_t stamp, enum rvp_range kind, uint64_t region, uint64_t address, uint64_t bytes)
{
	MAKE(thread, RESIDENT, 0, .stamp = stamp, .address = address, .bytes = bytes, .resident_bytes = bytes,
	     .kind = kind, .region = region, .looked_bytes = bytes);
}

static void alloc(uint64_t stamp, uint64_t address, uint64_t bytes)
{
	MAKE(thread, ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes, .stack = 1);
}

static void map(uint64_t stamp, uint64_t address, uint64_t bytes, int flags)
{
	MAKE(thread, MAP, 0, .stamp = stamp, .address = address, .bytes = bytes,
	     .protection = flags & MAP_NORESERVE ? PROT_NONE : PROT_READ | PROT_WRITE,
	     .flags = (uint64_t)(MAP_PRIVATE | MAP_ANONYMOUS | flags));
}

static void read_ledger(void)
{
	made_ledger_read(&maker, &run, &ledger, &answer);
}

static void end(void)
{
	made_ledger_close(&maker, run, &ledger, &answer);
}

static uint64_t part(enum rvp_ledger_part which)
{
	ck_assert_ptr_nonnull(ledger.peak.sums);
	return ledger.peak.sums->parts[which].resident_bytes;
}

static const struct rvp_ledger_amount *unknown(void)
{
	ck_assert_ptr_nonnull(ledger.peak.sums);
	return &ledger.peak.sums->by_purpose[RVP_CATEGORY_UNKNOWN];
}

/* A heap of 100 pages: a block of 40 KiB, ten of 1,000 bytes (usable 1,000), the rest was given back. */
START_TEST(the_heap_is_blocks_rounding_and_free)
{
	begin();
	alloc(2000, HEAP, 40 * KIB);
	for (int i = 0; i < 10; i++)
		alloc(3000 + i, HEAP + 50 * KIB + 1008 * (uint64_t)i, 1000);
	snapshot(look_stamp, 100 * PAGE, 40 * KIB + 10 * 1000 + 70, 11);
	resident(look_stamp, RVP_RANGE_HEAP, HEAP, HEAP, 100 * PAGE);
	read_ledger();
	ck_assert_uint_eq(unknown()->bytes, 40 * KIB + 10000);
	ck_assert_uint_eq(unknown()->resident_bytes, 40 * KIB + 10000);
	ck_assert_uint_eq(part(RVP_PART_ROUNDING), 70 + 11 * 8);
	ck_assert_uint_eq(part(RVP_PART_FREE), 100 * PAGE - 40 * KIB - 10000 - 70 - 88);
	ck_assert_int_eq(rvp_ledger_entry_unexplained(&ledger.peak), 0);
	ck_assert(rvp_ledger_closes(&ledger.peak));
	end();
}
END_TEST

/* A reservation of 16 MiB, of which 2 MiB were written; and a block of 8 MiB with 1 MiB, in two places. */
START_TEST(what_was_not_touched_is_not_resident)
{
	begin();
	map(2000, MAPPED, 16 * MIB, 0);
	alloc(3000, MAPPED + 32 * MIB, 8 * MIB);
	snapshot(look_stamp, 3 * MIB, 8 * MIB, 0);
	resident(look_stamp, RVP_RANGE_ANON, MAPPED, MAPPED + 4 * MIB, 2 * MIB);
	resident(look_stamp, RVP_RANGE_ANON, MAPPED + 32 * MIB, MAPPED + 33 * MIB, MIB / 2);
	resident(look_stamp, RVP_RANGE_ANON, MAPPED + 32 * MIB, MAPPED + 35 * MIB, MIB / 2);
	read_ledger();
	ck_assert_uint_eq(unknown()->bytes, 24 * MIB);
	ck_assert_uint_eq(unknown()->resident_bytes, 3 * MIB);
	ck_assert_uint_eq(part(RVP_PART_FREE), 0);
	ck_assert_int_eq(rvp_ledger_entry_unexplained(&ledger.peak), 0);
	end();
}
END_TEST

/* One run of pages through ours, a thread's stack, a reservation, and what nobody knows. */
START_TEST(a_run_is_cut_where_owners_change)
{
	uint64_t at = MAPPED;

	begin();
	MAKE(thread, THREAD, 0, .stamp = 2000, .tid = 101, .stack_low = at + 2 * MIB,
	     .stack_high = at + 3 * MIB);
	map(2500, at + 3 * MIB, 2 * MIB, MAP_NORESERVE);
	snapshot(look_stamp, 8 * MIB, 0, 0);
	MAKE(thread, OWN_RANGE, 0, .stamp = look_stamp, .address = at, .bytes = 2 * MIB);
	resident(look_stamp, RVP_RANGE_ANON, at, at, 8 * MIB);
	read_ledger();
	ck_assert_uint_eq(part(RVP_PART_OWN), 2 * MIB);
	ck_assert_uint_eq(part(RVP_PART_STACK), MIB);
	ck_assert_uint_eq(part(RVP_PART_RESERVED), 2 * MIB);
	ck_assert_uint_eq(part(RVP_PART_FREE), 0);
	ck_assert_int_eq(rvp_ledger_entry_unexplained(&ledger.peak), 3 * MIB);
	end();
}
END_TEST

/* Zeroed data lie right behind the file. What lies elsewhere is nobody's, and where blocks are the
 * allocator's. */
START_TEST(behind_a_library_are_its_data)
{
	begin();
	alloc(2000, MAPPED + 50 * MIB, 500);
	snapshot(look_stamp, 6 * MIB, 500, 1);
	region(look_stamp, RVP_CATEGORY_CODE, MAPPED, 2 * MIB, MIB, "/lib/x.so");
	resident(look_stamp, RVP_RANGE_ANON, MAPPED + 2 * MIB, MAPPED + 2 * MIB, 2 * MIB);
	region(look_stamp, RVP_CATEGORY_CODE, MAPPED + 20 * MIB, 2 * MIB, MIB, "/lib/y.so");
	resident(look_stamp, RVP_RANGE_ANON, MAPPED + 22 * MIB + PAGE, MAPPED + 22 * MIB + PAGE, MIB);
	region(look_stamp, RVP_CATEGORY_FILE, MAPPED + 30 * MIB, 2 * MIB, 0, "/data/model");
	resident(look_stamp, RVP_RANGE_ANON, MAPPED + 32 * MIB, MAPPED + 32 * MIB, MIB / 2);
	region(look_stamp, RVP_CATEGORY_CODE, MAPPED + 48 * MIB, 2 * MIB, 0, "/lib/z.so");
	resident(look_stamp, RVP_RANGE_ANON, MAPPED + 50 * MIB, MAPPED + 50 * MIB, MIB / 2);
	read_ledger();
	ck_assert_uint_eq(part(RVP_PART_CODE), 2 * MIB + 2 * MIB);
	ck_assert_uint_eq(part(RVP_PART_FREE), MIB / 2 - 500 - 8);
	ck_assert_int_eq(rvp_ledger_entry_unexplained(&ledger.peak), 6 * MIB - 4 * MIB - MIB / 2);
	end();
}
END_TEST

/* A mapping in which the allocator gave out blocks is its own; one where it did not is nobody's. */
START_TEST(a_pool_is_where_blocks_were)
{
	begin();
	alloc(2000, MAPPED + 100, 500);
	MAKE(thread, FREE, 0, .stamp = 3000, .address = MAPPED + 100);
	snapshot(look_stamp, 3 * MIB, 0, 0);
	resident(look_stamp, RVP_RANGE_ANON, MAPPED, MAPPED, 2 * MIB);
	resident(look_stamp, RVP_RANGE_ANON, MAPPED + 8 * MIB, MAPPED + 8 * MIB, MIB);
	read_ledger();
	ck_assert_uint_eq(part(RVP_PART_FREE), 2 * MIB);
	ck_assert_int_eq(rvp_ledger_entry_unexplained(&ledger.peak), MIB);
	end();
}
END_TEST

/* Files, code and shared memory by their regions; our own files are ours; an unmapped reservation is none. */
START_TEST(regions_have_rows)
{
	begin();
	map(2000, MAPPED, MIB, MAP_NORESERVE);
	MAKE(thread, UNMAP, 0, .stamp = 3000, .address = MAPPED, .bytes = MIB / 2);
	snapshot(look_stamp, 10 * MIB, 0, 0);
	region(look_stamp, RVP_CATEGORY_FILE, 0x1000, 4 * MIB, 3 * MIB, "/data/model");
	resident(look_stamp, RVP_RANGE_FILE, 0x1000, 0x1000, 3 * MIB);
	region(look_stamp, RVP_CATEGORY_FILE, 0x900000, MIB, MIB, "/r/proc.1.0/buffers.rvb");
	region(look_stamp, RVP_CATEGORY_CODE, 0xa00000, 2 * MIB, 2 * MIB, "/lib/x.so");
	region(look_stamp, RVP_CATEGORY_UNKNOWN, 0xb00000, 2 * MIB, 2 * MIB, "/dev/shm/x");
	region(look_stamp, RVP_CATEGORY_STACK, 0xc00000, MIB, MIB, "[stack]");
	resident(look_stamp, RVP_RANGE_STACK, 0xc00000, 0xc00000, MIB);
	region(look_stamp, RVP_CATEGORY_UNKNOWN, MAPPED, MIB, MIB, "[anon]");
	resident(look_stamp, RVP_RANGE_ANON, MAPPED, MAPPED, MIB);
	read_ledger();
	ck_assert_uint_eq(part(RVP_PART_FILE), 3 * MIB);
	ck_assert_uint_eq(ledger.peak.sums->file_count, 1);
	ck_assert_str_eq(ledger.peak.sums->files[0].name, "/data/model");
	ck_assert_uint_eq(part(RVP_PART_OWN), MIB);
	ck_assert_uint_eq(part(RVP_PART_CODE), 2 * MIB);
	ck_assert_uint_eq(part(RVP_PART_SHMEM), 2 * MIB);
	ck_assert_uint_eq(part(RVP_PART_STACK), MIB);
	ck_assert_uint_eq(part(RVP_PART_RESERVED), MIB / 2);
	ck_assert_int_eq(rvp_ledger_entry_unexplained(&ledger.peak), MIB / 2);
	end();
}
END_TEST

/* The peak is the highest look; the end the last one; a snapshot's label names the look before it. */
START_TEST(peak_end_and_marks)
{
	begin();
	for (int i = 1; i <= 3; i++) {
		uint64_t stamp = (uint64_t)i * 200 * MS, bytes = (uint64_t)(i == 2 ? 9 : i) * MIB;

		snapshot(stamp, bytes, 0, 0);
		resident(stamp, RVP_RANGE_HEAP, HEAP, HEAP, bytes);
		MAKE(thread, MARK, 8, .stamp = stamp + 1000, .kind = RVP_MARK_LABEL, .label = {"m", 1});
	}
	MAKE(thread, EXIT, 0, .stamp = 600 * MS + 2000);
	thread->process->entry.end_realtime_ns = MAKER_EPOCH_NS + 600 * MS + 3000;
	read_ledger();
	ck_assert_uint_eq(ledger.peak.rss_bytes, 9 * MIB);
	ck_assert_uint_eq(part(RVP_PART_FREE), 9 * MIB);
	ck_assert_uint_eq(ledger.end.rss_bytes, 3 * MIB);
	ck_assert_uint_eq(ledger.end.sums->parts[RVP_PART_FREE].resident_bytes, 3 * MIB);
	ck_assert_uint_eq(ledger.mark_count, 3);
	ck_assert_uint_eq(ledger.marks[0].rss_bytes, MIB);
	ck_assert_uint_eq(ledger.marks[0].sums->parts[RVP_PART_FREE].resident_bytes, MIB);
	ck_assert_str_eq(ledger.marks[1].label, "m");
	end();
}
END_TEST

/* A look knows more than a sample that is 4 % higher, and less than one that is 6 % higher. */
START_TEST(a_look_is_worth_a_twentieth)
{
	begin();
	snapshot(200 * MS, 100 * MIB, 0, 0);
	resident(200 * MS, RVP_RANGE_HEAP, HEAP, HEAP, 100 * MIB);
	snapshot(400 * MS, 104 * MIB, 0, 0);
	read_ledger();
	ck_assert_uint_eq(ledger.peak.rss_bytes, 100 * MIB);
	ck_assert_ptr_nonnull(ledger.peak.sums);
	end();
	begin();
	snapshot(200 * MS, 100 * MIB, 0, 0);
	resident(200 * MS, RVP_RANGE_HEAP, HEAP, HEAP, 100 * MIB);
	snapshot(400 * MS, 106 * MIB, 0, 0);
	read_ledger();
	ck_assert_uint_eq(ledger.peak.rss_bytes, 106 * MIB);
	ck_assert_ptr_null(ledger.peak.sums);
	ck_assert(!rvp_ledger_closes(&ledger.peak));
	end();
}
END_TEST

/* In a child by fork nobody knows how much of the heap is its parent's blocks. */
START_TEST(a_child_has_its_parents_blocks)
{
	maker = maker_open();
	thread = &maker_add_with(
		      &maker, 100,
		      (struct rvp_record_PROCESS){.stamp = 1000, .page_bytes = PAGE, .mode = 1, .is_fork = 1})
		      ->threads[0];
	snapshot(look_stamp, MIB, 0, 0);
	resident(look_stamp, RVP_RANGE_HEAP, HEAP, HEAP, MIB);
	read_ledger();
	ck_assert_uint_eq(part(RVP_PART_FREE), 0);
	ck_assert_uint_eq(part(RVP_PART_INHERITED), MIB);
	end();
}
END_TEST

/* ---- trees ---- */

static struct maker_thread *second;

/* A look of the first process at 100 MiB, where the second one's sample is 10 MiB; then one at 50 MiB. */
static void begin_tree(void)
{
	begin();
	second = &maker_add(&maker, 101)->threads[0];
	MAKE(second, SNAPSHOT, 0, .stamp = 100 * MS, .rss_anon_bytes = 10 * MIB);
	snapshot(300 * MS, 100 * MIB, 0, 0);
	resident(300 * MS, RVP_RANGE_HEAP, HEAP, HEAP, 100 * MIB);
	snapshot(800 * MS, 50 * MIB, 0, 0);
	resident(800 * MS, RVP_RANGE_HEAP, HEAP, HEAP, 50 * MIB);
}

static void second_looks(uint64_t stamp, uint64_t rss_bytes)
{
	MAKE(second, SNAPSHOT, 0, .stamp = stamp, .rss_anon_bytes = rss_bytes);
	MAKE(second, RESIDENT, 0, .stamp = stamp, .address = MAPPED, .bytes = rss_bytes,
	     .resident_bytes = rss_bytes, .kind = RVP_RANGE_HEAP, .region = MAPPED,
	     .looked_bytes = rss_bytes);
}

/* Who is looked at later stands with what it held then, if that is about as much. */
START_TEST(a_later_look_stands_for_a_missing_one)
{
	begin_tree();
	second_looks(900 * MS, 10 * MIB + MIB / 2);
	read_ledger();
	ck_assert_uint_eq(ledger.peak.rss_bytes, 110 * MIB);
	ck_assert(rvp_ledger_closes(&ledger.peak));
	ck_assert_uint_eq(part(RVP_PART_FREE), 110 * MIB + MIB / 2);
	ck_assert_int_eq(rvp_ledger_entry_unexplained(&ledger.peak), -MIB / 2);
	end();
}
END_TEST

START_TEST(a_later_look_of_something_else_does_not)
{
	begin_tree();
	second_looks(900 * MS, 14 * MIB);
	read_ledger();
	ck_assert_uint_eq(ledger.peak.rss_bytes, 110 * MIB);
	ck_assert(!rvp_ledger_closes(&ledger.peak));
	end();
}
END_TEST

/* An old look does not say what a process holds that has moved since. */
START_TEST(a_stale_look_is_none)
{
	begin();
	second = &maker_add(&maker, 101)->threads[0];
	second_looks(100 * MS, 80 * MIB);
	MAKE(second, SNAPSHOT, 0, .stamp = 200 * MS, .rss_anon_bytes = 20 * MIB);
	snapshot(300 * MS, 100 * MIB, 0, 0);
	resident(300 * MS, RVP_RANGE_HEAP, HEAP, HEAP, 100 * MIB);
	read_ledger();
	ck_assert_uint_eq(ledger.peak.rss_bytes, 120 * MIB);
	ck_assert_uint_eq(part(RVP_PART_FREE), 100 * MIB);
	ck_assert(!rvp_ledger_closes(&ledger.peak));
	end();
}
END_TEST

/* A process that recorded nothing has a row: what it held when it began. */
START_TEST(a_process_without_records_is_a_row)
{
	struct maker_process *silent;

	begin();
	silent = maker_add(&maker, 101);
	silent->entry.first_rss_bytes = 2 * MIB;
	silent->entry.folder = 0;
	snapshot(look_stamp, 100 * MIB, 0, 0);
	resident(look_stamp, RVP_RANGE_HEAP, HEAP, HEAP, 100 * MIB);
	read_ledger();
	ck_assert_uint_eq(ledger.peak.rss_bytes, 102 * MIB);
	ck_assert_uint_eq(part(RVP_PART_SILENT), 2 * MIB);
	ck_assert(rvp_ledger_closes(&ledger.peak));
	ck_assert_int_eq(rvp_ledger_entry_unexplained(&ledger.peak), 0);
	end();
}
END_TEST

static void watch(uint64_t stamp, uint32_t pid, uint64_t rss_bytes, uint64_t pss_bytes)
{
	MAKE(thread, WATCH, 0, .stamp = stamp, .pid = pid, .rss_anon_bytes = rss_bytes,
	     .pss_bytes = pss_bytes);
}

/* Of all processes at one moment; the round with the highest RSS. */
START_TEST(pss_is_of_one_moment)
{
	begin();
	maker_add(&maker, 101);
	for (int i = 1; i <= 3; i++) {
		uint64_t more = i == 2 ? 20 * MIB : 0;

		watch((uint64_t)i * 200 * MS, 100, 64 * MIB + more, 33 * MIB + more);
		watch((uint64_t)i * 200 * MS, 101, 64 * MIB, 32 * MIB);
		watch((uint64_t)i * 200 * MS + 20 * MS, 101, 70 * MIB, 0); /* not read: of no round */
	}
	read_ledger();
	ck_assert_uint_eq(ledger.pss.process_count, 2);
	ck_assert_uint_eq(ledger.pss.rss_bytes, 148 * MIB);
	ck_assert_uint_eq(ledger.pss.pss_bytes, 85 * MIB);
	ck_assert_uint_eq(ledger.pss.processes[0].pid, 100);
	ck_assert_uint_eq(ledger.pss.processes[1].pss_bytes, 32 * MIB);
	end();
}
END_TEST

/* Numbers that no honest log has: no crash, nothing counted from them. */
START_TEST(hostile_rows_are_left_out)
{
	begin();
	snapshot(look_stamp, MIB, UINT64_MAX, UINT64_MAX);
	MAKE(thread, RESIDENT, 0, .stamp = look_stamp, .address = UINT64_MAX - 5, .bytes = 4096,
	     .resident_bytes = 4096);
	MAKE(thread, RESIDENT, 0, .stamp = look_stamp, .address = HEAP, .bytes = 0, .resident_bytes = 4096,
	     .kind = RVP_RANGE_HEAP);
	MAKE(thread, RESIDENT, 0, .stamp = look_stamp, .address = HEAP, .bytes = 4096, .resident_bytes = 8192,
	     .kind = RVP_RANGE_HEAP);
	MAKE(thread, RESIDENT, 0, .stamp = look_stamp, .address = HEAP, .bytes = 4096, .resident_bytes = 4096,
	     .kind = 99);
	MAKE(thread, OWN_RANGE, 0, .stamp = look_stamp, .address = UINT64_MAX - 5, .bytes = UINT64_MAX);
	resident(look_stamp, RVP_RANGE_HEAP, HEAP, HEAP, MIB);
	read_ledger();
	ck_assert_int_eq(rvp_ledger_entry_unexplained(&ledger.peak), 0);
	end();
}
END_TEST

START_TEST(rows_of_a_control_group)
{
	struct rvp_cgroup_rows rows;

	rvp_cgroup_rows(&(struct rvp_record_CGROUP){.current_bytes = 100,
						    .anon_bytes = 40,
						    .file_bytes = 30,
						    .shmem_bytes = 10,
						    .kernel_bytes = 20},
			&rows);
	ck_assert_uint_eq(rows.bytes[0], 40);
	ck_assert_uint_eq(rows.bytes[1], 20);
	ck_assert_uint_eq(rows.bytes[2], 10);
	ck_assert_uint_eq(rows.bytes[3], 20);
	ck_assert_int_eq(rows.unexplained_bytes, 10);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ledger");
	TCase *all = tcase_create("ledger");

	tcase_add_test(all, the_heap_is_blocks_rounding_and_free);
	tcase_add_test(all, what_was_not_touched_is_not_resident);
	tcase_add_test(all, a_run_is_cut_where_owners_change);
	tcase_add_test(all, behind_a_library_are_its_data);
	tcase_add_test(all, a_pool_is_where_blocks_were);
	tcase_add_test(all, regions_have_rows);
	tcase_add_test(all, peak_end_and_marks);
	tcase_add_test(all, a_look_is_worth_a_twentieth);
	tcase_add_test(all, a_child_has_its_parents_blocks);
	tcase_add_test(all, a_later_look_stands_for_a_missing_one);
	tcase_add_test(all, a_later_look_of_something_else_does_not);
	tcase_add_test(all, a_stale_look_is_none);
	tcase_add_test(all, a_process_without_records_is_a_row);
	tcase_add_test(all, pss_is_of_one_moment);
	tcase_add_test(all, hostile_rows_are_left_out);
	tcase_add_test(all, rows_of_a_control_group);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
