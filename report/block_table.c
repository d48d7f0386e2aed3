/* SPDX-License-Identifier: MIT */
/* block_table.c: see block_table.h. */
#include "report/block_table.h"

#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKETS = 16 };
_Static_assert(sizeof(struct rvp_block) == RVP_LINE_BYTES, "a block is one line of the cache");
_Static_assert(sizeof(struct rvp_block_bucket) == RVP_LINE_BYTES, "a bucket is one line of the cache");

static void put_all(const struct rvp_block_bucket *bucket, struct rvp_block_bucket *buckets, size_t mask)
{
	for (int i = 0; i < RVP_BUCKET_PLACES; i++)
		if (bucket->hashes[i])
			rvp_bucket_put(buckets, mask, bucket->hashes[i], bucket->numbers[i]);
}

static bool grow_buckets(struct rvp_block_table *table)
{
	size_t count = table->buckets ? (table->mask + 1) * 2 : FIRST_BUCKETS;
	struct rvp_block_bucket *more = rvp_line_room(count * sizeof *more);

	if (!more)
		return false;
	memset(more, 0, count * sizeof *more);
	for (size_t i = 0; table->buckets && i <= table->mask; i++)
		put_all(&table->buckets[i], more, count - 1);
	free(table->buckets);
	table->buckets = more;
	table->mask = count - 1;
	return true;
}

static bool grow_blocks(struct rvp_block_table *table)
{
	size_t room = table->block_room;

	if (room >= UINT32_MAX / 2 ||
	    !rvp_line_grow((void **)&table->blocks, &room, room + 1, sizeof *table->blocks))
		return false;
	table->block_room = (uint32_t)room;
	return true;
}

/* Room for one more. */
bool rvp_block_table_grow(struct rvp_block_table *table)
{
	if ((!table->buckets || table->count >= 4 * (table->mask + 1)) && !grow_buckets(table))
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

/* Takes the number out; it is there. */
static void take_out(struct rvp_block_table *table, uint32_t hash, uint32_t number)
{
	for (size_t at = hash & table->mask;; at = (at + 1) & table->mask) {
		struct rvp_block_bucket *bucket = &table->buckets[at];

		for (unsigned places = rvp_bucket_places(bucket, hash); places; places &= places - 1)
			if (bucket->numbers[__builtin_ctz(places)] == number) {
				bucket->hashes[__builtin_ctz(places)] = 0;
				return;
			}
		bucket->passed--;
	}
}

void rvp_block_remove(struct rvp_block_table *table, struct rvp_block *block)
{
	uint32_t number = (uint32_t)(block - table->blocks) + 1;

	take_out(table, rvp_block_hash(block->address), number);
	block->flags = 0;
	block->site = table->free;
	table->free = number;
	table->count--;
}

void rvp_block_table_free(struct rvp_block_table *table)
{
	free(table->buckets);
	rvp_line_free(table->blocks, table->block_room, sizeof *table->blocks);
	*table = (struct rvp_block_table){0};
}
