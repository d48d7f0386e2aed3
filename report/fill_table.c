/* SPDX-License-Identifier: MIT */
/* fill_table.c: see fill_table.h. */
#include "report/fill_table.h"

#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

static size_t home(const struct rvp_fill_table *table, uint32_t process, uint64_t address)
{
	return ((address >> 4) * 0x9e3779b97f4a7c15u ^ process * 0xd6e8feb86659fd93u) >> 20 & table->mask;
}

struct rvp_filled_block *rvp_filled_find(const struct rvp_fill_table *table, uint32_t process,
					 uint64_t address)
{
	if (!table->live_count)
		return NULL;
	for (uint32_t at = table->places[home(table, process, address)]; at;
	     at = table->blocks[at - 1].next) {
		struct rvp_filled_block *block = &table->blocks[at - 1];

		if (block->address == address && block->born.process == process)
			return block;
	}
	return NULL;
}

static void put_in(struct rvp_fill_table *table, struct rvp_filled_block *block)
{
	uint32_t *place = &table->places[home(table, block->born.process, block->address)];

	block->next = *place;
	*place = (uint32_t)(block - table->blocks) + 1;
	block->is_live = true;
	table->live_count++;
}

void rvp_filled_take_out(struct rvp_fill_table *table, struct rvp_filled_block *block)
{
	uint32_t *place = &table->places[home(table, block->born.process, block->address)];
	uint32_t number = (uint32_t)(block - table->blocks) + 1;

	if (!block->is_live)
		return;
	while (*place && *place != number)
		place = &table->blocks[*place - 1].next;
	if (*place)
		*place = block->next;
	block->next = 0;
	block->is_live = false;
	table->live_count--;
}

static bool make_places(struct rvp_fill_table *table, size_t count)
{
	uint32_t *places = calloc(count, sizeof *places);

	if (!places)
		return false;
	free(table->places);
	table->places = places;
	table->mask = count - 1;
	table->live_count = 0;
	for (uint32_t i = 0; i < table->count; i++)
		if (table->blocks[i].is_live)
			put_in(table, &table->blocks[i]);
	return true;
}

static bool make_room(struct rvp_fill_table *table)
{
	if (!table->free &&
	    !rvp_grow((void **)&table->blocks, &table->room, (size_t)table->count + 1, sizeof *table->blocks))
		return false;
	return (table->places && table->mask + 1 >= table->room * 2) || make_places(table, table->room * 2);
}

struct rvp_filled_block *rvp_filled_make(struct rvp_fill_table *table, struct rvp_block_key born,
					 const struct rvp_block *block)
{
	struct rvp_filled_block *made;

	if (!make_room(table))
		return NULL;
	if (table->free) {
		made = &table->blocks[table->free - 1];
		table->free = made->next;
	} else {
		made = &table->blocks[table->count++];
	}
	*made = (struct rvp_filled_block){.born = born, .address = block->address, .bytes = block->bytes};
	put_in(table, made);
	return made;
}

void rvp_filled_drop(struct rvp_fill_table *table, struct rvp_filled_block *block)
{
	rvp_filled_take_out(table, block);
	free(block->ranges);
	block->ranges = NULL;
	block->next = table->free;
	table->free = (uint32_t)(block - table->blocks) + 1;
}

/* The first range that ends at or behind `address`. */
static uint32_t first_range(const struct rvp_filled_block *block, uint64_t address)
{
	uint32_t low = 0, high = block->range_count;

	/* Most fills go on where the last one ended. */
	if (high && block->ranges[high - 1].end <= address)
		return block->ranges[high - 1].end == address ? high - 1 : high;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (block->ranges[middle].end < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool insert_range(struct rvp_filled_block *block, uint32_t at, struct rvp_filled_range range)
{
	if (!rvp_grow((void **)&block->ranges, &block->range_room, block->range_count + 1, sizeof *block->ranges))
		return false;
	memmove(&block->ranges[at + 1], &block->ranges[at], (block->range_count - at) * sizeof range);
	block->ranges[at] = range;
	block->range_count++;
	return true;
}

/* Unites; how many bytes are new. Beyond RANGES_MAX a range that would be a further one is not taken. */
static uint64_t cover(struct rvp_filled_block *block, struct rvp_filled_range range, bool *ok)
{
	uint32_t at = first_range(block, range.begin), end = at;
	uint64_t had = 0, bytes;

	for (; end < block->range_count && block->ranges[end].begin <= range.end; end++) {
		const struct rvp_filled_range *old = &block->ranges[end];

		had += old->end - old->begin;
		if (old->begin < range.begin)
			range.begin = old->begin;
		if (old->end > range.end)
			range.end = old->end;
	}
	bytes = range.end - range.begin - had;
	if (end == at) {
		if (block->range_count >= RVP_FILL_RANGES_MAX)
			return 0;
		*ok = insert_range(block, at, range);
		return *ok ? bytes : 0;
	}
	block->ranges[at] = range;
	memmove(&block->ranges[at + 1], &block->ranges[end], (block->range_count - end) * sizeof range);
	block->range_count -= end - at - 1;
	return bytes;
}

static bool is_known_shift(struct rvp_filled_block *block, const struct rvp_fill_part *part)
{
	uint64_t shift = part->offset - part->address;
	uint32_t known = block->shift_count < RVP_FILL_SHIFTS ? block->shift_count : RVP_FILL_SHIFTS;

	if (part->offset == RVP_FILL_OFFSET_UNKNOWN)
		return false;
	for (uint32_t i = 0; i < known; i++)
		if (block->shifts[i] == shift)
			return true;
	block->shifts[block->shift_count++ % RVP_FILL_SHIFTS] = shift;
	return false;
}

/* The majority vote of Boyer and Moore, by bytes: right for a file that more than half came from. */
static void vote(struct rvp_filled_block *block, const struct rvp_fill_part *part)
{
	if (block->file == part->file) {
		block->file_bytes += part->bytes;
	} else if (block->file_bytes >= part->bytes) {
		block->file_bytes -= part->bytes;
	} else {
		block->file = part->file;
		block->file_bytes = part->bytes - block->file_bytes;
		block->shift_count = 0;
		block->highest_offset = 0;
	}
}

uint64_t rvp_filled_add(struct rvp_filled_block *block, const struct rvp_fill_part *part, bool *ok)
{
	uint64_t covered;
	bool is_known;

	vote(block, part);
	is_known = is_known_shift(block, part);
	covered = cover(block, (struct rvp_filled_range){part->address, part->address + part->bytes}, ok);
	block->covered_bytes += covered;
	if (!is_known)
		block->refilled_bytes += part->bytes - covered;
	block->last_ns = part->ns;
	if (part->offset != RVP_FILL_OFFSET_UNKNOWN && part->offset + part->bytes > block->highest_offset)
		block->highest_offset = part->offset + part->bytes;
	return covered;
}

/* Ranges by `distance`, and cut to what the block is now. */
static void fit_ranges(struct rvp_filled_block *block, uint64_t distance)
{
	uint64_t end = block->address + block->bytes;
	uint32_t kept = 0;

	block->covered_bytes = 0;
	for (uint32_t i = 0; i < block->range_count; i++) {
		struct rvp_filled_range range = {block->ranges[i].begin + distance,
						 block->ranges[i].end + distance};

		if (range.begin < block->address)
			range.begin = block->address;
		if (range.end > end)
			range.end = end;
		if (range.begin >= range.end)
			continue;
		block->ranges[kept++] = range;
		block->covered_bytes += range.end - range.begin;
	}
	block->range_count = kept;
}

void rvp_filled_move(struct rvp_fill_table *table, struct rvp_filled_block *block, const struct rvp_block *to,
		     const struct rvp_block_key *born)
{
	uint64_t distance = born ? to->address - block->address : 0;

	rvp_filled_take_out(table, block);
	block->address = to->address;
	block->bytes = to->bytes;
	if (born)
		block->born = *born;
	fit_ranges(block, distance);
	for (int i = 0; i < RVP_FILL_SHIFTS; i++)
		block->shifts[i] -= distance;
	put_in(table, block);
}

void rvp_fill_table_free(struct rvp_fill_table *table)
{
	for (uint32_t i = 0; i < table->count; i++)
		free(table->blocks[i].ranges);
	free(table->blocks);
	free(table->places);
	memset(table, 0, sizeof *table);
}
