/* SPDX-License-Identifier: MIT */
/* block_table.c: see block_table.h. */
#include "report/block_table.h"

#include <stdlib.h>

static size_t home_of(const struct rvp_block_table *table, uint64_t address)
{
	uint64_t mixed = (address ^ address >> 32) * 0x9e3779b97f4a7c15u;

	return (size_t)(mixed >> 32) & table->mask;
}

struct rvp_block *rvp_block_find(const struct rvp_block_table *table, uint64_t address)
{
	if (!table->places)
		return NULL;
	for (size_t at = home_of(table, address); table->places[at].flags; at = (at + 1) & table->mask)
		if (table->places[at].address == address)
			return &table->places[at];
	return NULL;
}

static struct rvp_block *place(struct rvp_block_table *table, const struct rvp_block *block)
{
	size_t at = home_of(table, block->address);

	while (table->places[at].flags)
		at = (at + 1) & table->mask;
	table->places[at] = *block;
	table->places[at].flags |= RVP_BLOCK_OCCUPIED;
	return &table->places[at];
}

static bool resize(struct rvp_block_table *table, size_t place_count)
{
	struct rvp_block_table next = {.places = calloc(place_count, sizeof *next.places),
				       .mask = place_count - 1};

	if (!next.places)
		return false;
	for (size_t i = 0; table->places && i <= table->mask; i++)
		if (table->places[i].flags)
			place(&next, &table->places[i]);
	next.count = table->count;
	free(table->places);
	*table = next;
	return true;
}

struct rvp_block *rvp_block_put(struct rvp_block_table *table, struct rvp_block block)
{
	if (!table->places && !resize(table, 64))
		return NULL;
	if (table->count * 8 >= (table->mask + 1) * 5 && !resize(table, (table->mask + 1) * 2))
		return NULL;
	table->count++;
	return place(table, &block);
}

void rvp_block_remove(struct rvp_block_table *table, struct rvp_block *block)
{
	size_t hole = (size_t)(block - table->places);

	for (size_t at = (hole + 1) & table->mask; table->places[at].flags; at = (at + 1) & table->mask) {
		size_t home = home_of(table, table->places[at].address);

		if (((at - home) & table->mask) < ((at - hole) & table->mask))
			continue;
		table->places[hole] = table->places[at];
		hole = at;
	}
	table->places[hole].flags = 0;
	table->count--;
}

void rvp_block_table_free(struct rvp_block_table *table)
{
	free(table->places);
	*table = (struct rvp_block_table){0};
}
