/* SPDX-License-Identifier: MIT */
/* check_pins.c: heaps made by hand: which block keeps freed memory from going back, and what a trim would give. */
#include "report/analysis.h"
#include "report/ledger.h"
#include "tests/unit/made_ledger.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <string.h>

/* ARENA is aligned to 64 MiB, as glibc's heaps beside the main one are. */
enum { PAGE = 4096, KIB = 1024, MIB = 1048576, MS = 1000000, HEAP = 0x10000000, ARENA = 0x20000000 };
static const uint64_t look_stamp = 100 * MS;

static struct maker maker;
static struct maker_thread *thread;
static struct rvp_run *run;
static struct rvp_ledger ledger;
static struct rvp_analysis answer;

static void begin_as(uint64_t mode, uint64_t is_fork)
{
	struct rvp_record_PROCESS process = {
	    .stamp = 1000, .page_bytes = PAGE, .mode = mode, .is_fork = is_fork};

	maker = maker_open();
	thread = &maker_add_with(&maker, 100, process)->threads[0];
}

static void begin(void)
{
	begin_as(RVP_MODE_FULL, 0);
}

static void alloc(uint64_t stamp, uint64_t address, uint64_t bytes)
{
	MAKE(thread, ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes, .stack = 1);
}

static void begin_look(uint64_t stamp, uint64_t rss_bytes)
{
	MAKE(thread, SNAPSHOT, 0, .stamp = stamp, .rss_anon_bytes = rss_bytes);
}

static void resident(uint64_t stamp, enum rvp_range kind, uint64_t region, uint64_t address, uint64_t bytes)
{
	MAKE(thread, RESIDENT, 0, .stamp = stamp, .address = address, .bytes = bytes, .resident_bytes = bytes,
	     .kind = kind, .region = region, .looked_bytes = bytes);
}

/* As the library does: what comes next may change what the look saw. */
static void end_look(uint64_t stamp)
{
	MAKE(thread, OWN_COST, 0, .stamp = stamp);
}

/* The whole of one region. */
static void look(enum rvp_range kind, uint64_t start, uint64_t bytes)
{
	begin_look(look_stamp, bytes);
	resident(look_stamp, kind, start, start, bytes);
	end_look(look_stamp);
}

static void read_ledger(void)
{
	made_ledger_read(&maker, &run, &ledger, &answer);
}

static void end(void)
{
	made_ledger_close(&maker, run, &ledger, &answer);
}

static uint64_t up(uint64_t address)
{
	return (address + PAGE - 1) / PAGE * PAGE;
}

/* Whole pages of a gap, less the head and the links of the free chunk in it and the head of the block behind it. */
static uint64_t gap(uint64_t start, uint64_t stop)
{
	return stop / PAGE * PAGE - up(start + 48);
}

START_TEST(the_highest_live_block_pins)
{
	const struct rvp_pin *pin = ledger.peak_pins;

	begin();
	alloc(2000, HEAP + 16, 40 * KIB - 36); /* the head of what is free behind it does not fit into its last page */
	alloc(3000, HEAP + 24 * MIB, 1000);
	alloc(4000, HEAP + 28 * MIB, 5000);
	MAKE(thread, FREE, 0, .stamp = 5000, .address = HEAP + 28 * MIB);
	look(RVP_RANGE_HEAP, HEAP, 32 * MIB);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_pin_count, 1);
	ck_assert_uint_eq(pin->address, HEAP + 24 * MIB);
	ck_assert_uint_eq(pin->bytes, 1000);
	ck_assert_uint_eq(pin->birth_ns, MAKER_EPOCH_NS + 3000);
	ck_assert_uint_eq(pin->below_bytes, 24 * MIB - 40 * KIB + 36);
	ck_assert_uint_eq(pin->above_bytes, 8 * MIB - 1000);
	ck_assert_uint_eq(pin->stack, 1);
	ck_assert(!pin->is_sampled_mode);
	ck_assert(ledger.peak_has_trimmable);
	ck_assert_uint_eq(ledger.peak_trimmable_bytes,
			  gap(HEAP + 40 * KIB - 20, HEAP + 24 * MIB - 16) +
			      gap(HEAP + 24 * MIB + 1000, HEAP + 32 * MIB));
	end();
}
END_TEST

/* Pages that are not there are neither pinned nor given back. */
START_TEST(what_is_not_resident_does_not_count)
{
	begin();
	alloc(2000, HEAP + 16, 1000);
	alloc(3000, HEAP + 40 * MIB + 16, 1000);
	begin_look(look_stamp, 18 * MIB);
	resident(look_stamp, RVP_RANGE_HEAP, HEAP, HEAP, 2 * MIB);
	resident(look_stamp, RVP_RANGE_HEAP, HEAP, HEAP + 24 * MIB, 16 * MIB + PAGE);
	end_look(look_stamp);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_pin_count, 1);
	ck_assert_uint_eq(ledger.peak_pins[0].below_bytes, 18 * MIB + 16 - 1000);
	ck_assert_uint_eq(ledger.peak_pins[0].above_bytes, PAGE - 16 - 1000);
	ck_assert_uint_eq(ledger.peak_trimmable_bytes, 18 * MIB - PAGE);
	end();
}
END_TEST

/* A large block that is a mapping of its own is given back whenever it is freed. */
START_TEST(a_mapping_of_its_own_pins_nothing)
{
	begin(); /* in a region that begins where no arena does */
	alloc(2000, ARENA + 20 * MIB + 32, 1000);
	alloc(3000, ARENA + 22 * MIB + 16, 200 * KIB);
	alloc(3200, ARENA + 23 * MIB + 64, 200 * KIB); /* aligned to 64 */
	alloc(3500, ARENA + 21 * MIB + 16, 100 * KIB); /* too small to be one */
	look(RVP_RANGE_ANON, ARENA + PAGE, 24 * MIB - PAGE);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_pin_count, 1);
	ck_assert_uint_eq(ledger.peak_pins[0].address, ARENA + 21 * MIB + 16);
	ck_assert_uint_eq(ledger.peak_pins[0].below_bytes, 21 * MIB + 16 - PAGE - 1000 - 400 * KIB);
	ck_assert_uint_eq(ledger.peak_trimmable_bytes, gap(ARENA + 20 * MIB + 1032, ARENA + 21 * MIB));
	end();
}
END_TEST

/* Beside a large block lies what the program mapped, and the kernel shows both as one region: wherever a
 * boundary of 64 MiB falls into it, it is no heap. */
START_TEST(what_lies_beside_a_mapping_is_not_trimmed)
{
	static const int block_mib[] = {1, 10, 40, 52, 56, 60, 63};
	uint64_t top = gap(HEAP + 1016, HEAP + 16 * MIB);

	for (size_t i = 0; i < sizeof block_mib / sizeof *block_mib; i++) {
		uint64_t block = ARENA + (uint64_t)block_mib[i] * MIB + PAGE;

		begin();
		alloc(2000, HEAP + 16, 1000);
		alloc(3000, block + 16, 8 * MIB - 16);
		MAKE(thread, MAP, 0, .stamp = 3100, .address = block + 8 * MIB, .bytes = 60 * MIB, .stack = 1);
		begin_look(look_stamp, 84 * MIB);
		resident(look_stamp, RVP_RANGE_HEAP, HEAP, HEAP, 16 * MIB);
		resident(look_stamp, RVP_RANGE_ANON, block, block, 68 * MIB);
		end_look(look_stamp);
		read_ledger();
		ck_assert_msg(ledger.peak_trimmable_bytes == top, "%d MiB: %ju and not %ju", block_mib[i],
			      (uintmax_t)ledger.peak_trimmable_bytes, (uintmax_t)top);
		end();
	}
}
END_TEST

/* Nor is a mapping that begins at such a boundary a heap, its head in front of the block. */
START_TEST(a_mapping_at_a_boundary_is_no_arena)
{
	static const int offsets[] = {16, 64};

	for (size_t i = 0; i < 2; i++) {
		begin();
		alloc(2000, HEAP + 16, 1000);
		alloc(3000, ARENA + offsets[i], 200 * KIB);
		alloc(3100, ARENA + 4 * MIB + 16, 300);
		begin_look(look_stamp, 24 * MIB);
		resident(look_stamp, RVP_RANGE_HEAP, HEAP, HEAP, 16 * MIB);
		resident(look_stamp, RVP_RANGE_ANON, ARENA, ARENA, 8 * MIB);
		end_look(look_stamp);
		read_ledger();
		ck_assert_uint_eq(ledger.peak_trimmable_bytes, gap(HEAP + 1016, HEAP + 16 * MIB));
		end();
	}
}
END_TEST

/* malloc_trim gives back the break's top and no arena's; where an arena went on in a new heap, the rest of the
 * old one is a free chunk like others. */
START_TEST(the_top_of_an_arena_stays)
{
	begin();
	alloc(2000, ARENA + 20 * MIB + 32, 1000);
	look(RVP_RANGE_ANON, ARENA, 40 * MIB);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_trimmable_bytes, gap(ARENA, ARENA + 20 * MIB + 16));
	end();
	begin();
	alloc(2000, ARENA + 20 * MIB + 32, 1000);
	look(RVP_RANGE_ANON, ARENA, 64 * MIB - 3 * PAGE);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_trimmable_bytes,
			  gap(ARENA, ARENA + 20 * MIB + 16) +
			      gap(ARENA + 20 * MIB + 1032, ARENA + 64 * MIB - 3 * PAGE));
	end();
}
END_TEST

/* Seven arenas that the kernel shows as one region: the four that pin most, largest first. */
START_TEST(each_arena_has_its_pin)
{
	static const int below_mib[] = {10, 50, 20, 3, 60, 40, 5}, order[] = {4, 1, 5, 2};

	begin();
	for (uint64_t i = 0; i < 7; i++)
		alloc(2000 + i, ARENA + i * 64 * MIB + (uint64_t)below_mib[i] * MIB + 32, 100 + i);
	look(RVP_RANGE_ANON, ARENA, 7 * 64 * (uint64_t)MIB);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_pin_count, RVP_PINS_MAX);
	for (int i = 0; i < RVP_PINS_MAX; i++) {
		ck_assert_uint_eq(ledger.peak_pins[i].bytes, 100 + order[i]);
		ck_assert_uint_eq(ledger.peak_pins[i].below_bytes, (uint64_t)below_mib[order[i]] * MIB + 32);
		ck_assert_uint_eq(ledger.peak_pins[i].above_bytes,
				  (64 - (uint64_t)below_mib[order[i]]) * MIB - 132 - order[i]);
	}
	end();
}
END_TEST

/* Also what is free in front of the first live block, of the break's heap and of another arena. */
START_TEST(the_front_of_a_heap_is_trimmed_too)
{
	begin();
	alloc(2000, HEAP + 24 * MIB, 1000);
	look(RVP_RANGE_HEAP, HEAP, 32 * MIB);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_trimmable_bytes,
			  gap(HEAP, HEAP + 24 * MIB - 16) + gap(HEAP + 24 * MIB + 1000, HEAP + 32 * MIB));
	end();
	begin();
	alloc(2000, ARENA + 20 * MIB + 32, 1000);
	look(RVP_RANGE_ANON, ARENA, 24 * MIB);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_trimmable_bytes, gap(ARENA, ARENA + 20 * MIB + 16));
	end();
}
END_TEST

/* Its blocks are forgotten then: that none is live is no figure. */
START_TEST(a_look_that_its_process_did_not_survive_knows_no_trim)
{
	begin();
	alloc(2000, HEAP + 16, 1000);
	begin_look(look_stamp, 32 * MIB);
	resident(look_stamp, RVP_RANGE_HEAP, HEAP, HEAP, 32 * MIB);
	read_ledger();
	ck_assert(!ledger.peak_has_trimmable);
	end();
}
END_TEST

/* Less than a MiB is not worth a word, nor is a heap of which little is free. */
START_TEST(little_is_no_pin)
{
	begin();
	alloc(2000, HEAP + MIB - 16, 1000);
	look(RVP_RANGE_HEAP, HEAP, 32 * MIB);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_pin_count, 0);
	ck_assert(ledger.peak_has_trimmable);
	end();
	begin();
	alloc(2000, HEAP + 16, 60 * MIB);
	alloc(3000, HEAP + 64 * MIB - 2000, 1000);
	look(RVP_RANGE_HEAP, HEAP, 64 * MIB);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_pin_count, 0);
	ck_assert(!ledger.peak_has_trimmable);
	end();
}
END_TEST

/* Blocks that nobody recorded lie between: in sampled mode, and a parent's in its child. */
START_TEST(a_trim_is_known_where_every_block_is)
{
	begin_as(RVP_MODE_SAMPLED, 0);
	alloc(3000, HEAP + 24 * MIB, 20000);
	look(RVP_RANGE_HEAP, HEAP, 32 * MIB);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_pin_count, 1);
	ck_assert(ledger.peak_pins[0].is_sampled_mode);
	ck_assert(!ledger.peak_has_trimmable);
	end();
	begin_as(RVP_MODE_FULL, 1);
	alloc(3000, HEAP + 24 * MIB, 20000);
	look(RVP_RANGE_HEAP, HEAP, 32 * MIB);
	read_ledger();
	ck_assert(!ledger.peak_has_trimmable);
	end();
}
END_TEST

/* What glibc keeps back is nothing to another's blocks; a library with such a word in it is none. */
START_TEST(another_allocator_has_no_pins_and_no_trim)
{
	static const struct {
		const char *path, *name;
	} cases[] = {{"/opt/lib/libjemalloc.so.2", "libjemalloc.so.2"},
		     {"libmimalloc.so", "libmimalloc.so"},
		     {"/libtbbmalloc_proxy.so.2", "libtbbmalloc_proxy.so.2"},
		     {"/usr/lib/libtbbmalloc.so.2", ""},
		     {"/libjemalloc.so.d/libc.so.6", ""},
		     {"/usr/lib/libjem", ""}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool is_glibc = !cases[i].name[0];

		begin();
		alloc(2000, HEAP + 16, 1000);
		alloc(3000, HEAP + 24 * MIB, 1000);
		begin_look(look_stamp, 32 * MIB);
		MAKE(thread, REGION, 64, .stamp = look_stamp, .pid = 100, .category = RVP_CATEGORY_CODE,
		     .start = HEAP / 2, .mapped_bytes = PAGE, .rss_bytes = PAGE,
		     .name = {cases[i].path, strlen(cases[i].path)});
		resident(look_stamp, RVP_RANGE_HEAP, HEAP, HEAP, 32 * MIB);
		end_look(look_stamp);
		read_ledger();
		ck_assert_str_eq(ledger.peak.sums->other_allocator, cases[i].name);
		ck_assert_uint_eq(ledger.peak_pin_count, is_glibc);
		ck_assert(ledger.peak_has_trimmable == is_glibc);
		end();
	}
}
END_TEST

/* The peak's are of the peak, whatever is looked at later. */
START_TEST(the_peak_keeps_its_pins)
{
	begin();
	alloc(2000, HEAP + 16, 1000);
	alloc(3000, HEAP + 24 * MIB, 1000);
	look(RVP_RANGE_HEAP, HEAP, 32 * MIB);
	MAKE(thread, FREE, 0, .stamp = 2 * look_stamp, .address = HEAP + 24 * MIB);
	begin_look(3 * look_stamp, 20 * MIB);
	resident(3 * look_stamp, RVP_RANGE_HEAP, HEAP, HEAP, 20 * MIB);
	end_look(3 * look_stamp);
	read_ledger();
	ck_assert_uint_eq(ledger.peak_pin_count, 1);
	ck_assert_uint_eq(ledger.end_pin_count, 0);
	ck_assert_uint_eq(ledger.end_trimmable_bytes, 20 * MIB - PAGE);
	ck_assert_uint_eq(ledger.peak_trimmable_bytes,
			  gap(HEAP + 1016, HEAP + 24 * MIB - 16) + gap(HEAP + 24 * MIB + 1000, HEAP + 32 * MIB));
	end();
}
END_TEST

/* No crash from blocks beyond the end of the address space, nor from a heap that ends there. */
START_TEST(hostile_blocks_are_left_out)
{
	begin();
	alloc(2000, UINT64_MAX - 100, 1000);
	alloc(3000, HEAP + 16 * MIB, UINT64_MAX);
	alloc(4000, 1, 10);
	alloc(5000, HEAP + 30 * MIB, UINT64_MAX - HEAP - 30 * MIB - 5); /* to the end of the address space */
	alloc(6000, HEAP + 31 * MIB, 100);
	look(RVP_RANGE_HEAP, HEAP, 32 * MIB);
	read_ledger();
	ck_assert_uint_le(ledger.peak_pin_count, 1);
	ck_assert_uint_le(ledger.peak_trimmable_bytes, 32 * MIB);
	end();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pins");
	TCase *all = tcase_create("pins");

	tcase_add_test(all, the_highest_live_block_pins);
	tcase_add_test(all, what_is_not_resident_does_not_count);
	tcase_add_test(all, the_front_of_a_heap_is_trimmed_too);
	tcase_add_test(all, a_look_that_its_process_did_not_survive_knows_no_trim);
	tcase_add_test(all, a_mapping_of_its_own_pins_nothing);
	tcase_add_test(all, what_lies_beside_a_mapping_is_not_trimmed);
	tcase_add_test(all, a_mapping_at_a_boundary_is_no_arena);
	tcase_add_test(all, the_top_of_an_arena_stays);
	tcase_add_test(all, each_arena_has_its_pin);
	tcase_add_test(all, little_is_no_pin);
	tcase_add_test(all, a_trim_is_known_where_every_block_is);
	tcase_add_test(all, another_allocator_has_no_pins_and_no_trim);
	tcase_add_test(all, the_peak_keeps_its_pins);
	tcase_add_test(all, hostile_blocks_are_left_out);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
