/* SPDX-License-Identifier: MIT */
/* block_table.c: see block_table.h. */
#include "report/block_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { FIRST_PLACES = 64, FIRST_BLOCKS = 64 };
static const size_t huge_bytes = 2u << 20;

/* Places are met at random: with pages of 4 KiB each visit costs a walk of the page table too. */
static void *get_room(size_t bytes)
{
	size_t whole = (bytes + huge_bytes - 1) & ~(huge_bytes - 1);
	void *room;

	if (bytes < huge_bytes)
		return malloc(bytes);
	room = aligned_alloc(huge_bytes, whole);
	if (room)
		madvise(room, whole, MADV_HUGEPAGE);
	return room;
}

static void put_place(struct rvp_block_place *places, size_t mask, struct rvp_block_place place)
{
	size_t at = place.hash & mask;

	while (places[at].number)
		at = (at + 1) & mask;
	places[at] = place;
}

static bool grow_places(struct rvp_block_table *table)
{
	size_t count = table->places ? (table->mask + 1) * 2 : FIRST_PLACES;
	struct rvp_block_place *more = get_room(count * sizeof *more);

	if (!more)
		return false;
	memset(more, 0, count * sizeof *more);
	for (size_t i = 0; table->places && i <= table->mask; i++)
		if (table->places[i].number)
			put_place(more, count - 1, table->places[i]);
	free(table->places);
	table->places = more;
	table->mask = count - 1;
	return true;
}

static bool grow_blocks(struct rvp_block_table *table)
{
	size_t room = table->block_room ? (size_t)table->block_room * 2 : FIRST_BLOCKS;
	struct rvp_block *more = room < UINT32_MAX ? get_room(room * sizeof *more) : NULL;

	if (!more)
		return false;
	if (table->blocks)
		memcpy(more, table->blocks, table->block_count * sizeof *more);
	free(table->blocks);
	table->blocks = more;
	table->block_room = (uint32_t)room;
	return true;
}

/* Room for one more. The first block comes to mask 0, so that no place is room for it. */
bool rvp_block_table_grow(struct rvp_block_table *table)
{
	if ((!table->places || table->count * 8 >= (table->mask + 1) * 5) && !grow_places(table))
		return false;
	return table->free || table->block_count < table->block_room || grow_blocks(table);
}

struct rvp_block *rvp_block_put(struct rvp_block_table *table, const struct rvp_block *block)
{
	struct rvp_block *own = rvp_block_add(table, block->address);

	if (!own)
		return NULL;
	*own = *block;
	own->flags |= RVP_BLOCK_OCCUPIED;
	return own;
}

static size_t place_of(const struct rvp_block_table *table, const struct rvp_block *block)
{
	uint32_t number = (uint32_t)(block - table->blocks) + 1;
	size_t at = rvp_block_hash(block->address) & table->mask;

	while (table->places[at].number != number)
		at = (at + 1) & table->mask;
	return at;
}

void rvp_block_remove(struct rvp_block_table *table, struct rvp_block *block)
{
	struct rvp_block_place *places = table->places;
	size_t hole = place_of(table, block), mask = table->mask;

	for (size_t at = (hole + 1) & mask; places[at].number; at = (at + 1) & mask) {
		if (((at - places[at].hash) & mask) < ((at - hole) & mask))
			continue;
		places[hole] = places[at];
		hole = at;
	}
	places[hole].number = 0;
	block->flags = 0;
	block->site = table->free;
	table->free = (uint32_t)(block - table->blocks) + 1;
	table->count--;
}

void rvp_block_table_free(struct rvp_block_table *table)
{
	free(table->places);
	free(table->blocks);
	*table = (struct rvp_block_table){0};
}
