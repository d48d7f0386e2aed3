/* SPDX-License-Identifier: MIT */
/* blocks.c: see blocks.h.
 *
 * Invariants
 *   (K1) A cell is 0 or one address; it goes 0 -> address by compare-and-swap and address -> 0 by its one owner.
 *   (K2) An address is in its home bucket of some level, or nowhere.
 *   (K3) A level, once there, stays.
 *   (K4) rvp_blocks_filter[f(address)] is not 0 while the address is in the table: it counts up before the cell is written and
 *        down after it is emptied. Most frees are of blocks that are not here, and end at this small, warm table.
 */
#include "preload/blocks.h"

#include "preload/own.h"

#include <stddef.h>

enum { LEVELS = 3, CELLS = 8 };

struct bucket {
	_Atomic uint64_t cell[CELLS];
};

static const uint32_t bucket_bits[LEVELS] = {12, 17, 21}; /* 32 Ki, 1 Mi, 16 Mi addresses */
static struct bucket *_Atomic level[LEVELS];
static _Atomic uint64_t count;

enum { FILTER_STUCK = UINT8_MAX };
_Atomic uint8_t rvp_blocks_filter[1 << RVP_BLOCKS_FILTER_BITS];

/* A place that counted to its end stays there: it only says "perhaps". */
static void filter_add(uint64_t address, int step)
{
	_Atomic uint8_t *place = &rvp_blocks_filter[rvp_blocks_place(address)];
	uint8_t seen = atomic_load_explicit(place, memory_order_relaxed);

	while (seen != FILTER_STUCK &&
	       !atomic_compare_exchange_weak_explicit(place, &seen, (uint8_t)(seen + step), memory_order_seq_cst,
						      memory_order_relaxed))
		;
}

static struct bucket *home(int which, uint64_t address)
{
	struct bucket *table = atomic_load_explicit(&level[which], memory_order_acquire);
	uint64_t hash = (address >> 4) * 0x9e3779b97f4a7c15u;

	return table ? &table[hash >> (64 - bucket_bits[which])] : NULL;
}

static bool make_level(int which)
{
	size_t bytes = sizeof(struct bucket) << bucket_bits[which];
	struct bucket *none = NULL, *table = rvp_own_map(bytes);

	if (!table)
		return false;
	if (!atomic_compare_exchange_strong(&level[which], &none, table))
		rvp_own_unmap(table, bytes);
	return true;
}

static bool insert_at(struct bucket *bucket, uint64_t address)
{
	for (int i = 0; i < CELLS; i++) {
		uint64_t empty = 0;

		if (atomic_load_explicit(&bucket->cell[i], memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_strong(&bucket->cell[i], &empty, address))
			return true;
	}
	return false;
}

bool rvp_blocks_insert(uint64_t address)
{
	filter_add(address, 1);
	for (int i = 0; i < LEVELS; i++) {
		if (!atomic_load(&level[i]) && !make_level(i))
			break;
		if (insert_at(home(i, address), address)) {
			atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
			return true;
		}
	}
	filter_add(address, -1);
	return false;
}

bool rvp_blocks_remove(uint64_t address)
{
	if (__builtin_expect(!rvp_blocks_may_hold(address), 1))
		return false;
	for (int i = 0; i < LEVELS; i++) {
		struct bucket *bucket = home(i, address);

		if (!bucket)
			return false;
		for (int cell = 0; cell < CELLS; cell++)
			if (atomic_load_explicit(&bucket->cell[cell], memory_order_relaxed) == address) {
				atomic_store_explicit(&bucket->cell[cell], 0, memory_order_relaxed);
				atomic_fetch_sub_explicit(&count, 1, memory_order_relaxed);
				filter_add(address, -1);
				return true;
			}
	}
	return false;
}

uint64_t rvp_blocks_count(void)
{
	return atomic_load_explicit(&count, memory_order_relaxed);
}
