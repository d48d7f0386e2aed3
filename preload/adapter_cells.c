/* SPDX-License-Identifier: MIT */
/* adapter_cells.c: see adapter_cells.h. */
#include "preload/adapter_cells.h"

#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 4096, MAP_PAGES = 32768 };

static uint64_t mixed(uint64_t word)
{
	word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
	word = (word ^ word >> 27) * 0x94d049bb133111ebu;
	return word ^ word >> 31;
}

/* Its place in each dimension; returns its offset in bytes. */
static int64_t place_cell(const struct rvp_cell_tensor *tensor, size_t number, int64_t *at)
{
	int64_t offset = 0;

	for (uint32_t i = 0; i < tensor->dimensions; i++) {
		uint64_t part = mixed((uint64_t)number * RVP_CELL_DIMENSIONS + i + 1) >> 32;

		at[i] = (int64_t)(part * (uint64_t)tensor->sizes[i] >> 32);
		offset += at[i] * tensor->strides[i];
	}
	return offset * (int64_t)tensor->item_bytes;
}

/* ---- which pages are there ---- */

static unsigned char map[MAP_PAGES]; /* the interpreter's lock is held */

/* What the map shows; pages 0: it is not used, each cell is asked for. */
struct shown {
	uintptr_t first_page;
	size_t pages;
};

static bool is_page_there(uintptr_t page)
{
	unsigned char there = 0;

	return mincore((void *)(page * PAGE_BYTES), 1, &there) == 0 && (there & 1);
}

/* All pages of a tensor in one call, where the map has room for them. */
static struct shown show_pages(const struct rvp_cell_tensor *tensor)
{
	int64_t items = 1;
	uintptr_t first = (uintptr_t)tensor->data / PAGE_BYTES, last;

	for (uint32_t i = 0; i < tensor->dimensions; i++)
		items += (tensor->sizes[i] - 1) * tensor->strides[i];
	last = ((uintptr_t)tensor->data + (uintptr_t)items * tensor->item_bytes - 1) / PAGE_BYTES;
	if (last < first || last - first >= MAP_PAGES ||
	    mincore((void *)(first * PAGE_BYTES), (last - first + 1) * PAGE_BYTES, map) != 0)
		return (struct shown){0};
	return (struct shown){first, last - first + 1};
}

static bool is_there(const struct shown *shown, uintptr_t page)
{
	if (shown->pages && page >= shown->first_page && page - shown->first_page < shown->pages)
		return map[page - shown->first_page] & 1;
	return is_page_there(page);
}

static uint32_t value_at(const struct shown *shown, const char *at, uint32_t item_bytes)
{
	uint64_t word = 0;

	if (is_there(shown, (uintptr_t)at / PAGE_BYTES))
		memcpy(&word, at, item_bytes < sizeof word ? item_bytes : sizeof word);
	return (uint32_t)(word ^ word >> 32);
}

static void note_change(struct rvp_cell_look *look, uint32_t dimensions, const int64_t *at)
{
	for (uint32_t i = 0; i < dimensions; i++) {
		if (!look->changed || at[i] < look->first[i])
			look->first[i] = at[i];
		if (!look->changed || at[i] > look->last[i])
			look->last[i] = at[i];
	}
	look->changed++;
}

void rvp_cells_look(struct rvp_cell *cells, size_t count, const struct rvp_cell_tensor *tensor, bool is_begin,
		    struct rvp_cell_look *look)
{
	struct shown shown = show_pages(tensor);
	int64_t at[RVP_CELL_DIMENSIONS];

	*look = (struct rvp_cell_look){0};
	for (size_t i = 0; i < count; i++) {
		int64_t offset = place_cell(tensor, i, at);
		uint32_t value = value_at(&shown, tensor->data + offset, tensor->item_bytes);

		if (is_begin) {
			cells[i] = (struct rvp_cell){.value = value};
		} else if (value != cells[i].value) {
			look->again += cells[i].changes > 0;
			note_change(look, tensor->dimensions, at);
			cells[i].value = value;
			cells[i].changes++;
		}
	}
}
