/* SPDX-License-Identifier: MIT */
/* check_adapter_cells.c: what a look at a tensor's cells says of how it was written: where, and whether
 * again. */
#include "preload/adapter_cells.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADS = 4, LENGTH = 64, WIDTH = 16, CELLS = 512, PAGE = 4096 };

static struct rvp_cell cells[CELLS];

/* [HEADS, LENGTH, WIDTH] of 32 bits, dense. */
static struct rvp_cell_tensor tensor_at(const void *data)
{
	return (struct rvp_cell_tensor){.data = data,
					.item_bytes = 4,
					.dimensions = 3,
					.sizes = {HEADS, LENGTH, WIDTH},
					.strides = {LENGTH * WIDTH, WIDTH, 1}};
}

static struct rvp_cell_look look_at(const void *data, bool is_begin)
{
	struct rvp_cell_tensor tensor = tensor_at(data);
	struct rvp_cell_look look;

	rvp_cells_look(cells, CELLS, &tensor, is_begin, &look);
	return look;
}

static void write_places(uint32_t *store, int from, int to, uint32_t value)
{
	for (int head = 0; head < HEADS; head++)
		for (int at = from; at < to; at++)
			for (int i = 0; i < WIDTH; i++)
				store[(head * LENGTH + at) * WIDTH + i] = value;
}

START_TEST(what_is_not_written_did_not_change)
{
	static uint32_t store[HEADS * LENGTH * WIDTH];

	ck_assert_uint_eq(look_at(store, true).changed, 0);
	ck_assert_uint_eq(look_at(store, false).changed, 0);
	write_places(store, 0, LENGTH, 7);
	ck_assert_uint_eq(look_at(store, true).changed, 0); /* a begin forgets */
	ck_assert_uint_eq(look_at(store, false).changed, 0);
}
END_TEST

/* A quarter of the length at a time: each change stands behind those before, none comes twice, all heads take
 * part. */
START_TEST(what_is_appended_is_seen_where_it_is)
{
	static uint32_t store[HEADS * LENGTH * WIDTH];
	uint32_t changed = 0;

	look_at(store, true);
	for (int from = 0; from < LENGTH; from += LENGTH / 4) {
		struct rvp_cell_look look;

		write_places(store, from, from + LENGTH / 4, 7);
		look = look_at(store, false);
		ck_assert_uint_gt(look.changed, CELLS / 8);
		ck_assert_uint_lt(look.changed, CELLS / 2);
		ck_assert_uint_eq(look.again, 0);
		ck_assert_int_eq(look.first[0], 0);
		ck_assert_int_eq(look.last[0], HEADS - 1);
		ck_assert_int_ge(look.first[1], from);
		ck_assert_int_lt(look.last[1], from + LENGTH / 4);
		changed += look.changed;
	}
	ck_assert_uint_eq(changed, CELLS);
}
END_TEST

START_TEST(what_is_rewritten_changes_again)
{
	static uint32_t store[HEADS * LENGTH * WIDTH];
	struct rvp_cell_look look;

	look_at(store, true);
	write_places(store, 0, LENGTH, 7);
	look = look_at(store, false);
	ck_assert_uint_eq(look.changed, CELLS);
	ck_assert_uint_eq(look.again, 0);
	write_places(store, 0, LENGTH, 8);
	look = look_at(store, false);
	ck_assert_uint_eq(look.changed, CELLS);
	ck_assert_uint_eq(look.again, CELLS);
}
END_TEST

/* Items of 1, 2 and 8 bytes; of the last one the high half alone changes. */
START_TEST(items_have_their_own_width)
{
	enum { ITEMS = HEADS * LENGTH * WIDTH };
	static uint64_t store[ITEMS + 1];
	static const uint32_t widths[] = {1, 2, 8};
	struct rvp_cell_tensor tensor = tensor_at(store);
	struct rvp_cell_look look;

	memset(store, 0, sizeof store);
	tensor.item_bytes = widths[_i];
	rvp_cells_look(cells, CELLS, &tensor, true, &look);
	((char *)store)[ITEMS * tensor.item_bytes] = 1; /* the first byte behind the tensor */
	rvp_cells_look(cells, CELLS, &tensor, false, &look);
	ck_assert_uint_eq(look.changed, 0);
	for (size_t i = 0; i < sizeof store / sizeof store[0]; i++)
		store[i] = widths[_i] == 8 ? 1ull << 63 : 0x0101010101010101u;
	rvp_cells_look(cells, CELLS, &tensor, false, &look);
	ck_assert_uint_eq(look.changed, CELLS);
}
END_TEST

static size_t resident_pages(char *at, size_t pages)
{
	unsigned char map[256];
	size_t count = 0;

	ck_assert_int_eq(mincore(at, pages * PAGE, map), 0);
	for (size_t i = 0; i < pages; i++)
		count += map[i] & 1;
	return count;
}

/* Preallocated and mostly empty: a look leaves it so. Also where it has more pages than the map shows at
 * once. */
START_TEST(pages_that_are_not_there_stay_away)
{
	size_t length = _i ? 40000 : 100, bytes = length * PAGE;
	char *at =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct rvp_cell_tensor tensor = {.data = at, .item_bytes = 4, .dimensions = 2};
	struct rvp_cell_look look;

	ck_assert_ptr_ne(at, MAP_FAILED);
	madvise(at, bytes, MADV_NOHUGEPAGE);
	tensor.sizes[0] = (int64_t)length;
	tensor.sizes[1] = PAGE / 4;
	tensor.strides[0] = PAGE / 4;
	tensor.strides[1] = 1;
	memset(at, 1, 10 * PAGE);
	rvp_cells_look(cells, CELLS, &tensor, true, &look);
	ck_assert_uint_eq(resident_pages(at, 100), 10);
	memset(at + 10 * PAGE, 1, 20 * PAGE);
	rvp_cells_look(cells, CELLS, &tensor, false, &look);
	ck_assert_uint_eq(resident_pages(at, 100), 30);
	if (!_i) {
		ck_assert_uint_gt(look.changed, 0);
		ck_assert_int_ge(look.first[0], 10);
		ck_assert_int_lt(look.last[0], 30);
	}
	munmap(at, bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("adapter_cells");
	TCase *cases = tcase_create("adapter_cells");

	tcase_add_test(cases, what_is_not_written_did_not_change);
	tcase_add_test(cases, what_is_appended_is_seen_where_it_is);
	tcase_add_test(cases, what_is_rewritten_changes_again);
	tcase_add_loop_test(cases, items_have_their_own_width, 0, 3);
	tcase_add_loop_test(cases, pages_that_are_not_there_stay_away, 0, 2);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
