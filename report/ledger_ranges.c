/* SPDX-License-Identifier: MIT */
/* ledger_ranges.c: see ledger_ranges.h. */
#include "report/ledger_ranges.h"

#include "report/grow.h"
#include "report/ledger_sums.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WINDOW_SHIFT = 20, FIRST_WINDOWS = 1024 };

bool rvp_ledger_ranges_open(struct rvp_ledger_ranges *ranges, size_t process_count)
{
	*ranges = (struct rvp_ledger_ranges){.process_count = process_count};
	ranges->stacks = calloc(process_count + 1, sizeof *ranges->stacks);
	return ranges->stacks && rvp_live_index_open(&ranges->blocks, process_count + 1) &&
	       rvp_live_index_open(&ranges->reserved, process_count + 1);
}

/* ---- windows ---- */

static uint64_t window_key(uint32_t process, uint64_t address)
{
	return ((uint64_t)process + 1) << 40 ^ address >> WINDOW_SHIFT;
}

static size_t window_place(const struct rvp_ledger_ranges *ranges, uint64_t key)
{
	size_t at = (size_t)(key * 0x9e3779b97f4a7c15u >> 20) & ranges->window_mask;

	while (ranges->windows[at] && ranges->windows[at] != key)
		at = (at + 1) & ranges->window_mask;
	return at;
}

static bool grow_windows(struct rvp_ledger_ranges *ranges)
{
	uint64_t *old = ranges->windows;
	size_t places = old ? ranges->window_mask + 1 : 0, more = places ? 2 * places : FIRST_WINDOWS;

	ranges->windows = calloc(more, sizeof *ranges->windows);
	if (!ranges->windows) {
		ranges->windows = old;
		return false;
	}
	ranges->window_mask = more - 1;
	for (size_t i = 0; i < places; i++)
		if (old[i])
			ranges->windows[window_place(ranges, old[i])] = old[i];
	free(old);
	return true;
}

static void note_window(struct rvp_ledger_ranges *ranges, uint32_t process, uint64_t address)
{
	uint64_t key = window_key(process, address);
	size_t at;

	if ((!ranges->windows || ranges->window_count * 2 > ranges->window_mask) && !grow_windows(ranges)) {
		ranges->no_memory = true;
		return;
	}
	at = window_place(ranges, key);
	ranges->window_count += !ranges->windows[at];
	ranges->windows[at] = key;
}

bool rvp_ledger_has_blocks(const struct rvp_ledger_ranges *ranges, uint32_t process, uint64_t address)
{
	return ranges->windows && ranges->windows[window_place(ranges, window_key(process, address))];
}

/* ---- reservations ---- */

static void put(struct rvp_live_index *index, uint32_t process, uint64_t start, uint64_t end, bool *no_memory)
{
	struct rvp_block block = {.address = start, .bytes = end - start};

	if (start < end && !rvp_live_index_put(index, process, &block))
		*no_memory = true;
}

/* What lies in [start, end) goes; what of it lies outside stays. */
static void cut(struct rvp_ledger_ranges *ranges, uint32_t process, uint64_t start, uint64_t end)
{
	const struct rvp_block *found = rvp_live_index_find(&ranges->reserved, process, start);

	if (!found)
		found = rvp_live_index_next(&ranges->reserved, process, start);
	while (found && found->address < end && !ranges->no_memory) {
		uint64_t from = found->address, to = found->address + found->bytes;

		rvp_live_index_remove(&ranges->reserved, process, from);
		put(&ranges->reserved, process, from, start, &ranges->no_memory);
		put(&ranges->reserved, process, end, to, &ranges->no_memory);
		found = rvp_live_index_next(&ranges->reserved, process, start);
	}
}

static bool is_range(uint64_t address, uint64_t bytes)
{
	return bytes && bytes < (uint64_t)1 << 48 && address < (uint64_t)1 << 57;
}

/* Each anonymous mapping of the program: where one is a block too, the block comes first. */
static void take_map(struct rvp_ledger_ranges *ranges, uint32_t process, const struct rvp_record *record)
{
	const struct rvp_record_MAP *map = &record->MAP;

	if (!is_range(map->address, map->bytes))
		return;
	cut(ranges, process, map->address, map->address + map->bytes);
	if (!map->inode && map->flags & MAP_ANONYMOUS)
		put(&ranges->reserved, process, map->address, map->address + map->bytes, &ranges->no_memory);
}

static void take_record(struct rvp_ledger_ranges *ranges, uint32_t process, const struct rvp_record *record)
{
	switch (record->kind) {
	case RVP_MAP: take_map(ranges, process, record); break;
	case RVP_UNMAP:
		if (is_range(record->UNMAP.address, record->UNMAP.bytes))
			cut(ranges, process, record->UNMAP.address,
			    record->UNMAP.address + record->UNMAP.bytes);
		break;
	case RVP_REMAP:
		if (is_range(record->REMAP.old_address, record->REMAP.old_bytes))
			cut(ranges, process, record->REMAP.old_address,
			    record->REMAP.old_address + record->REMAP.old_bytes);
		if (is_range(record->REMAP.address, record->REMAP.bytes))
			put(&ranges->reserved, process, record->REMAP.address,
			    record->REMAP.address + record->REMAP.bytes, &ranges->no_memory);
		break;
	case RVP_THREAD:
		if (record->THREAD.stack_low < record->THREAD.stack_high &&
		    !rvp_named_range_add(&ranges->stacks[process],
					 (struct rvp_named_range){record->THREAD.stack_low,
								  record->THREAD.stack_high, RVP_PART_STACK}))
			ranges->no_memory = true;
		break;
	default: break;
	}
}

/* ---- */

static bool is_told_by_pages(const struct rvp_block *block)
{
	return block->bytes >= RVP_LEDGER_BLOCK_BYTES && !(block->flags & RVP_BLOCK_SAMPLED);
}

void rvp_ledger_ranges_see(struct rvp_ledger_ranges *ranges, const struct rvp_event *event)
{
	uint32_t process = event->moment->process;

	if (process == RVP_NO_PROCESS ||
	    (event->kind <= RVP_EVENT_RESTORED && event->block.flags & RVP_BLOCK_MAPPED))
		return;
	switch (event->kind) {
	case RVP_EVENT_BORN:
	case RVP_EVENT_RESTORED:
		note_window(ranges, process, event->block.address);
		if (is_told_by_pages(&event->block) &&
		    !rvp_live_index_put(&ranges->blocks, process, &event->block))
			ranges->no_memory = true;
		break;
	case RVP_EVENT_DIED:
		if (is_told_by_pages(&event->block))
			rvp_live_index_remove(&ranges->blocks, process, event->block.address);
		break;
	case RVP_EVENT_END:
		rvp_live_index_clear(&ranges->blocks, process);
		rvp_live_index_clear(&ranges->reserved, process);
		break;
	case RVP_EVENT_RECORD: take_record(ranges, process, event->moment->record); break;
	default: break;
	}
}

bool rvp_named_range_add(struct rvp_named_ranges *list, struct rvp_named_range range)
{
	if (!rvp_grow((void **)&list->ranges, &list->room, list->count + 1, sizeof *list->ranges))
		return false;
	list->ranges[list->count++] = range;
	return true;
}

void rvp_ledger_ranges_free(struct rvp_ledger_ranges *ranges)
{
	for (size_t i = 0; ranges->stacks && i < ranges->process_count; i++)
		free(ranges->stacks[i].ranges);
	free(ranges->stacks);
	free(ranges->windows);
	rvp_live_index_free(&ranges->blocks);
	rvp_live_index_free(&ranges->reserved);
	memset(ranges, 0, sizeof *ranges);
}
