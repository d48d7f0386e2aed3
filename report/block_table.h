/* SPDX-License-Identifier: MIT */
/* block_table.h: live blocks by address. A block has a number that it keeps while it lives; a place of the hash
 * table is 8 bytes, a hash and a number, so that the table of 100,000 blocks fits a second-level cache and growing it
 * moves no block. Open addressing, linear probing, deletion by moving back; numbers of the dead are used again, the
 * last one first, so that short lives stay in the first-level cache.
 *
 * Invariants
 *   (L1) Between a block's home and its place no place is empty.
 *   (L2) blocks[i] is in use if and only if its flags have RVP_BLOCK_OCCUPIED; the others are chained by `site`.
 */
#ifndef RVP_REPORT_BLOCK_TABLE_H
#define RVP_REPORT_BLOCK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rvp_block_flags {
	RVP_BLOCK_SAMPLED = 1,  /* stands for more than itself */
	RVP_BLOCK_SUSPECT = 2,  /* given out while another was live there: one late free is to be swallowed */
	RVP_BLOCK_OCCUPIED = 4, /* the number is in use */
	RVP_BLOCK_MAPPED = 8,   /* a mapping of the program, not a block of its allocator */
	RVP_BLOCK_FILE = 16,    /* a mapping of a file: counts only when evidence speaks for it */
	RVP_BLOCK_POOL = 32,    /* of a device: what a pool of the driver's holds and has not given out */
	RVP_BLOCK_AGAIN = 64,   /* of a device: it was there under another address; no alloc */
	RVP_BLOCK_DEVICE_SHIFT = 16, /* the number of the device above these (device_list.h); 0: the host */
};

#define RVP_NOT_COUNTED UINT32_MAX

struct rvp_block {
	uint64_t address;
	uint64_t bytes; /* requested */
	uint64_t birth_ns;
	uint32_t site;   /* by call path alone; what observers and answers see is `split` in its place */
	uint32_t split;  /* site by call path and purpose; RVP_NOT_COUNTED: in no sum */
	uint32_t stream; /* that gave it out */
	uint32_t flags;  /* enum rvp_block_flags */
	uint32_t thread; /* low bits of its thread_serial */
	uint32_t birth;  /* low bits of the number of its birth in its process; 0: of a mapping */
};

/* The device that it is on; 0: the host. */
static inline uint32_t rvp_block_device(const struct rvp_block *block)
{
	return block->flags >> RVP_BLOCK_DEVICE_SHIFT;
}

struct rvp_block_place {
	uint32_t hash, number; /* number: of the block, + 1; 0: empty */
};

struct rvp_block_table {
	struct rvp_block *blocks;       /* block_count of them were ever in use */
	struct rvp_block_place *places; /* NULL before the first block */
	size_t count, mask;             /* mask: places - 1 */
	uint32_t block_count, block_room, free; /* free: number + 1 of the last that died; 0: none */
};

static inline uint32_t rvp_block_hash(uint64_t address)
{
	return (uint32_t)((address ^ address >> 32) * 0x9e3779b97f4a7c15u >> 32);
}

/* Soon somebody will look for this address: its place is fetched. These must be inlined at once: gcc takes a function
 * that does nothing but prefetch for one that does nothing. */
__attribute__((always_inline)) static inline void rvp_block_expect(const struct rvp_block_table *table, uint64_t address)
{
	if (table->places)
		__builtin_prefetch(&table->places[rvp_block_hash(address) & table->mask]);
}

/* A little later, when the place is there: the number + 1 of the block that this address probably has (0: none), which
 * is fetched. */
__attribute__((always_inline)) static inline uint32_t rvp_block_guess(const struct rvp_block_table *table,
								      uint64_t address)
{
	uint32_t hash = rvp_block_hash(address);

	if (!table->places)
		return 0;
	for (size_t at = hash & table->mask; table->places[at].number; at = (at + 1) & table->mask)
		if (table->places[at].hash == hash) {
			__builtin_prefetch(&table->blocks[table->places[at].number - 1], 1);
			return table->places[at].number;
		}
	return 0;
}

/* NULL: not there. The pointer holds until the next put or remove. */
static inline struct rvp_block *rvp_block_find(const struct rvp_block_table *table, uint64_t address)
{
	uint32_t hash = rvp_block_hash(address);

	if (!table->places)
		return NULL;
	for (size_t at = hash & table->mask; table->places[at].number; at = (at + 1) & table->mask) {
		struct rvp_block *block = &table->blocks[table->places[at].number - 1];

		if (table->places[at].hash == hash && block->address == address)
			return block;
	}
	return NULL;
}

/* The same for who guessed before; a wrong guess costs time alone. */
static inline struct rvp_block *rvp_block_find_by(const struct rvp_block_table *table, uint32_t guess, uint64_t address)
{
	struct rvp_block *block = guess ? &table->blocks[guess - 1] : NULL;

	return block && block->address == address && block->flags ? block : rvp_block_find(table, address);
}

bool rvp_block_table_grow(struct rvp_block_table *table);

/* A new block that has nothing but its address; NULL: one is there already, or no memory. */
static inline struct rvp_block *rvp_block_add(struct rvp_block_table *table, uint64_t address)
{
	uint32_t hash = rvp_block_hash(address), number = table->free;
	struct rvp_block *block;
	size_t at;

	if ((table->count * 8 >= (table->mask + 1) * 5 || (!number && table->block_count == table->block_room)) &&
	    !rvp_block_table_grow(table))
		return NULL;
	for (at = hash & table->mask; table->places[at].number; at = (at + 1) & table->mask)
		if (table->places[at].hash == hash && table->blocks[table->places[at].number - 1].address == address)
			return NULL;
	if (number)
		table->free = table->blocks[number - 1].site;
	else
		number = ++table->block_count;
	table->places[at] = (struct rvp_block_place){hash, number};
	table->count++;
	block = &table->blocks[number - 1];
	block->address = address;
	block->flags = RVP_BLOCK_OCCUPIED;
	return block;
}

/* Its address must not be there. NULL without memory. Not one of the table's own. */
struct rvp_block *rvp_block_put(struct rvp_block_table *table, const struct rvp_block *block);

void rvp_block_remove(struct rvp_block_table *table, struct rvp_block *block);
void rvp_block_table_free(struct rvp_block_table *table);

#endif
