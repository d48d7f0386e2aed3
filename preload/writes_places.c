/* SPDX-License-Identifier: MIT */
/* writes_places.c: see writes_places.h. Buckets of eight cells; a block is in one of the PROBES buckets from
 * its home on. A program with more large blocks than that has most of them left out: said, with their number.
 */
#include "preload/writes_places.h"

#include "preload/own.h"

#include <stdatomic.h>
#include <stddef.h>

enum { CELLS = 8, PROBES = 8, BUCKETS = RVP_PLACES / CELLS };
enum { TAKEN = 1 }; /* no block has this address */

struct cell {
	_Atomic uint64_t address, bytes;
	_Atomic uint32_t number;
};

static struct cell *_Atomic cells;
static _Atomic uint64_t live_bytes, left_out;

static struct cell *table(void)
{
	struct cell *none = NULL, *all = atomic_load_explicit(&cells, memory_order_acquire);

	if (all)
		return all;
	all = rvp_own_map(sizeof *all * RVP_PLACES);
	if (!all || atomic_compare_exchange_strong(&cells, &none, all))
		return all;
	rvp_own_unmap(all, sizeof *all * RVP_PLACES);
	return none;
}

static uint32_t home(uint64_t address)
{
	return (uint32_t)((address >> 4) * 0x9e3779b97f4a7c15u >> 32) % BUCKETS * CELLS;
}

bool rvp_places_put(struct rvp_written_place place)
{
	struct cell *all = table();
	uint32_t first = home(place.address);

	for (uint32_t i = 0; all && i < PROBES * CELLS; i++) {
		struct cell *cell = &all[(first + i) % RVP_PLACES];
		uint64_t empty = 0;

		if (atomic_load_explicit(&cell->address, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&cell->address, &empty, TAKEN))
			continue;
		atomic_store(&cell->bytes, place.bytes);
		atomic_store(&cell->number, place.number);
		atomic_store(&cell->address, place.address);
		atomic_fetch_add(&live_bytes, place.bytes);
		return true;
	}
	atomic_fetch_add(&left_out, 1);
	return false;
}

static struct rvp_written_place empty_cell(struct cell *cell)
{
	struct rvp_written_place place = {atomic_load(&cell->address), atomic_load(&cell->bytes),
					  atomic_load(&cell->number)};

	atomic_fetch_sub(&live_bytes, place.bytes);
	atomic_store(&cell->address, 0);
	return place;
}

struct rvp_written_place rvp_places_take(uint64_t address)
{
	struct cell *all = atomic_load_explicit(&cells, memory_order_acquire);
	uint32_t first = home(address);

	for (uint32_t i = 0; all && i < PROBES * CELLS; i++) {
		struct cell *cell = &all[(first + i) % RVP_PLACES];

		if (atomic_load_explicit(&cell->address, memory_order_relaxed) == address)
			return empty_cell(cell);
	}
	return (struct rvp_written_place){0};
}

void rvp_places_take_range(uint64_t address, uint64_t bytes, void (*gone)(uint32_t number))
{
	struct cell *all = atomic_load_explicit(&cells, memory_order_acquire);

	for (uint32_t i = 0; all && i < RVP_PLACES; i++) {
		uint64_t at = atomic_load_explicit(&all[i].address, memory_order_relaxed);

		if (at <= TAKEN || at >= address + bytes || at + atomic_load(&all[i].bytes) <= address)
			continue;
		if (atomic_load(&all[i].number))
			gone(atomic_load(&all[i].number) - 1);
		empty_cell(&all[i]);
	}
}

uint64_t rvp_places_bytes(void)
{
	return atomic_load_explicit(&live_bytes, memory_order_relaxed);
}

uint64_t rvp_places_left_out(void)
{
	return atomic_load_explicit(&left_out, memory_order_relaxed);
}

struct rvp_written_place rvp_places_at(uint32_t number)
{
	struct cell *all = atomic_load_explicit(&cells, memory_order_acquire);
	uint64_t address = all ? atomic_load(&all[number].address) : 0;

	if (address <= TAKEN)
		return (struct rvp_written_place){0};
	return (struct rvp_written_place){address, atomic_load(&all[number].bytes),
					  atomic_load(&all[number].number)};
}

bool rvp_places_follow(uint32_t number, uint64_t address, uint32_t followed)
{
	struct cell *all = atomic_load_explicit(&cells, memory_order_acquire);

	atomic_store(&all[number].number, followed);
	if (atomic_load(&all[number].address) == address)
		return true;
	atomic_store(&all[number].number, 0);
	return false;
}

void rvp_places_follow_none(void)
{
	struct cell *all = atomic_load_explicit(&cells, memory_order_acquire);

	for (uint32_t i = 0; all && i < RVP_PLACES; i++)
		atomic_store_explicit(&all[i].number, 0, memory_order_relaxed);
}
