/* SPDX-License-Identifier: MIT */
/* ledger_pins.c: see ledger_pins.h. Runs of pages come in order of address, those of a region one after the
 * other.
 *
 * The kernel shows neighbours as one region, so a region in which blocks lie is not all the allocator's: a large
 * block is a mapping of its own, and beside it may lie what the program mapped. Known as a heap's alone are
 *   the break's, and
 *   an arena's: from an address aligned to 64 MiB on at which no mapping lies that we know of.
 * Elsewhere it is between two blocks that are no mappings. */
#include "report/ledger_pins.h"

#include "report/ledger_look.h"
#include "report/map_table.h"

#include <stdlib.h>

enum {
	LEAST_PINNED_BYTES = 1 << 20,
	HEAPS_MAX = 4096, /* the first ones by address; a program has eight arenas a processor */
	ARENA_BYTES = 64 << 20,
	ARENA_FULL_BYTES = 63 << 20, /* then the arena goes on in another heap */
	HEAP_HEAD_BYTES = 64,	     /* of an arena's heap, and of its first block */
	/* From here on a block may be a mapping of its own, which pins nothing: with its head 128 KiB. */
	MAPPED_LEAST_BYTES = (128 << 10) - 24,
	PAGE_BYTES = 4096,
	HEAD_BYTES = 16,
	FREE_HEAD_BYTES = 48, /* and its links; those of a large one are four */
};

struct heap {
	uint64_t start, end; /* of what is resident */
	uint64_t held_bytes; /* of recorded blocks */
	struct rvp_block highest;
	bool is_main;  /* the break's */
	bool is_arena; /* likewise, nothing lies in it but the allocator's */
};

struct heaps {
	struct heap heaps[HEAPS_MAX];
	size_t count;
};

/* What a look is taken of. */
struct place {
	const struct rvp_look *look;
	uint32_t process;
	const struct rvp_ledger_ranges *ranges;
	const struct rvp_state *state;
};

static void add_heap(struct heaps *heaps, struct heap heap)
{
	if (heap.start < heap.end && heaps->count < HEAPS_MAX)
		heaps->heaps[heaps->count++] = heap;
}

/* By its address alone: a block of a mapping of its own lies behind its head, or where an alignment had it. */
static bool may_be_mapping(const struct rvp_block *block)
{
	uint64_t offset = block->address % PAGE_BYTES;

	return block->bytes >= MAPPED_LEAST_BYTES && !(offset & (offset - 1));
}

static bool is_named(const struct rvp_look *look, uint64_t address)
{
	for (size_t i = 0; i < look->named.count; i++)
		if (look->named.ranges[i].start <= address && address < look->named.ranges[i].end)
			return true;
	return false;
}

static bool begins_an_arena(const struct place *place, uint64_t address)
{
	const struct rvp_block *block =
	    rvp_live_index_find(&place->ranges->blocks, place->process, address + HEAP_HEAD_BYTES);

	return address % ARENA_BYTES == 0 && !is_named(place->look, address) &&
	       !rvp_live_index_find(&place->state->maps->index, place->process, address) &&
	       (!block || (block->address >= address && !may_be_mapping(block)));
}

/* Arenas beside the main one lie in aligned windows. */
static void add_region(struct heaps *heaps, const struct place *place, const struct rvp_look_run *first,
		       const struct rvp_look_run *last)
{
	uint64_t start = first->address, end = last->address + last->bytes;

	if (first->kind == RVP_RANGE_HEAP) {
		add_heap(heaps, (struct heap){.start = start, .end = end, .is_main = true});
		return;
	}
	for (uint64_t at = start, next; at < end && heaps->count < HEAPS_MAX; at = next) {
		next = (at / ARENA_BYTES + 1) * ARENA_BYTES;
		next = next < end ? next : end;
		add_heap(heaps,
			 (struct heap){.start = at, .end = next, .is_arena = begins_an_arena(place, at)});
	}
}

static void find_heaps(struct heaps *heaps, const struct place *place)
{
	const struct rvp_look *look = place->look;
	size_t behind;

	for (size_t i = 0; i < look->run_count; i = behind)
		if (rvp_look_has_blocks(look, i, place->process, place->ranges, &behind))
			add_region(heaps, place, &look->runs[i], &look->runs[behind - 1]);
}

static struct heap *heap_of(struct heaps *heaps, uint64_t address)
{
	size_t low = 0, high = heaps->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (heaps->heaps[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < heaps->heaps[low - 1].end ? &heaps->heaps[low - 1] : NULL;
}

static bool is_own_mapping(const struct heap *heap, const struct rvp_block *block)
{
	return !heap->is_main && !heap->is_arena && may_be_mapping(block);
}

static void place_blocks(struct heaps *heaps, const struct rvp_block_table *table)
{
	for (uint32_t i = 0; i < table->block_count; i++) {
		const struct rvp_block *block = &table->blocks[i];
		struct heap *heap = block->flags & RVP_BLOCK_OCCUPIED ? heap_of(heaps, block->address) : NULL;

		if (!heap)
			continue;
		heap->held_bytes += block->bytes;
		if (block->address >= heap->highest.address && !is_own_mapping(heap, block))
			heap->highest = *block;
	}
}

static uint64_t resident_between(const struct rvp_look *look, uint64_t start, uint64_t end)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < look->run_count; i++) {
		const struct rvp_look_run *run = &look->runs[i];
		uint64_t from = run->address > start ? run->address : start;
		uint64_t to = run->address + run->bytes < end ? run->address + run->bytes : end;

		if (from < to)
			bytes += (uint64_t)((double)(to - from) * (double)run->resident_bytes /
					    (double)run->bytes);
	}
	return bytes;
}

static struct rvp_pin pin_of(const struct heap *heap, const struct rvp_look *look, uint32_t process,
			     const struct rvp_state *state)
{
	const struct rvp_block *block = &heap->highest;
	uint64_t below = resident_between(look, heap->start, block->address),
		 held = heap->held_bytes - block->bytes;
	struct rvp_pin pin = {.process = process,
			      .address = block->address,
			      .bytes = block->bytes,
			      .birth_ns = block->birth_ns,
			      .below_bytes = below > held ? below - held : 0,
			      .above_bytes = resident_between(look, block->address + block->bytes, heap->end),
			      .is_sampled_mode = state->run->processes[process].mode != RVP_MODE_FULL};

	if (block->split < state->site_count) {
		pin.stack = state->sites[block->split].stack;
		pin.python = state->sites[block->split].python;
		pin.purpose = state->sites[block->split].purpose;
	}
	return pin;
}

/* The list stays ordered. */
static size_t insert(struct rvp_pin *pins, size_t count, const struct rvp_pin *pin)
{
	size_t at = count < RVP_PINS_MAX ? count++ : RVP_PINS_MAX;

	while (at > 0 && pins[at - 1].below_bytes < pin->below_bytes) {
		if (at < RVP_PINS_MAX)
			pins[at] = pins[at - 1];
		at--;
	}
	if (at < RVP_PINS_MAX)
		pins[at] = *pin;
	return count;
}

size_t rvp_pins_find(struct rvp_pin *pins, const struct rvp_look *look, uint32_t process,
		     const struct rvp_ledger_ranges *ranges, const struct rvp_state *state)
{
	struct place place = {look, process, ranges, state};
	struct heaps *heaps;
	size_t count = 0;

	if (look->sums->other_allocator[0] || !(heaps = calloc(1, sizeof *heaps)))
		return 0;
	find_heaps(heaps, &place);
	place_blocks(heaps, &rvp_match_blocks(state->matcher)[process]);
	for (size_t i = 0; i < heaps->count; i++) {
		struct rvp_pin pin;

		if (!heaps->heaps[i].highest.address)
			continue;
		pin = pin_of(&heaps->heaps[i], look, process, state);
		if (pin.below_bytes >= LEAST_PINNED_BYTES)
			count = insert(pins, count, &pin);
	}
	free(heaps);
	return count;
}

/* ---- what a trim gives back ---- */

struct span {
	uint64_t start, end;
	bool is_mapping; /* of its own: in front of it and behind lies another, or nothing */
};

struct gaps {
	const struct rvp_look *look;
	size_t run; /* the first that may reach into the next gap */
	uint64_t bytes;
};

static int by_start(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* With the head of each, and the rounding that the allocator gives. */
static size_t list_spans(struct span *spans, struct heaps *heaps, const struct rvp_block_table *table)
{
	size_t count = 0;

	for (uint32_t i = 0; i < table->block_count; i++) {
		const struct rvp_block *block = &table->blocks[i];
		const struct heap *heap =
		    block->flags & RVP_BLOCK_OCCUPIED ? heap_of(heaps, block->address) : NULL;

		if (heap)
			spans[count++] = (struct span){block->address - HEAD_BYTES, block->address + block->bytes,
						       is_own_mapping(heap, block)};
	}
	qsort(spans, count, sizeof *spans, by_start);
	return count;
}

/* Gaps come in order. A free chunk keeps its own head and links in its first page. */
static void take_gap(struct gaps *gaps, uint64_t start, uint64_t end)
{
	const struct rvp_look *look = gaps->look;

	if (start >= end) /* which rounding up could hide */
		return;
	start = (start + FREE_HEAD_BYTES + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	end = end / PAGE_BYTES * PAGE_BYTES;
	if (start >= end)
		return;
	while (gaps->run < look->run_count &&
	       look->runs[gaps->run].address + look->runs[gaps->run].bytes <= start)
		gaps->run++;
	for (size_t i = gaps->run; i < look->run_count && look->runs[i].address < end; i++) {
		const struct rvp_look_run *run = &look->runs[i];
		uint64_t from = run->address > start ? run->address : start;
		uint64_t to = run->address + run->bytes < end ? run->address + run->bytes : end;

		if (from < to)
			gaps->bytes += (uint64_t)((double)(to - from) * (double)run->resident_bytes /
						  (double)run->bytes);
	}
}

/* Of an arena's top nothing is given back, of what is left behind where it went on in another heap it is. */
static bool is_end_trimmed(const struct heap *heap)
{
	return heap->is_main || (heap->is_arena && heap->end - heap->start >= ARENA_FULL_BYTES);
}

static void take_gaps(struct gaps *gaps, const struct heaps *heaps, const struct span *spans, size_t count)
{
	size_t at = 0;

	for (size_t i = 0; i < heaps->count; i++) {
		const struct heap *heap = &heaps->heaps[i];
		uint64_t from = heap->start;
		/* In front of the first block may lie what began before us: it is at most so much. */
		bool is_behind_heap = heap->is_main || heap->is_arena;

		while (at < count && spans[at].start < from)
			at++;
		for (; at < count && spans[at].start < heap->end; at++) {
			if (is_behind_heap && !spans[at].is_mapping)
				take_gap(gaps, from, spans[at].start);
			if (spans[at].end > from)
				from = spans[at].end;
			is_behind_heap = !spans[at].is_mapping;
		}
		if (from < heap->end && is_end_trimmed(heap))
			take_gap(gaps, from, heap->end);
	}
}

bool rvp_trimmable_bytes(uint64_t *bytes, const struct rvp_look *look, uint32_t process,
			 const struct rvp_ledger_ranges *ranges, const struct rvp_state *state)
{
	const struct rvp_block_table *table = &rvp_match_blocks(state->matcher)[process];
	struct place place = {look, process, ranges, state};
	struct heaps *heaps = calloc(1, sizeof *heaps);
	struct span *spans = calloc(table->block_count + 1, sizeof *spans);
	bool known = state->run->processes[process].mode == RVP_MODE_FULL &&
		     !state->run->processes[process].is_fork &&
		     !look->sums->other_allocator[0] && heaps && spans &&
		     table->blocks; /* none: it has ended, or recorded none */
	struct gaps gaps = {.look = look};

	if (known) {
		find_heaps(heaps, &place);
		take_gaps(&gaps, heaps, spans, list_spans(spans, heaps, table));
	}
	free(heaps);
	free(spans);
	*bytes = gaps.bytes;
	return known;
}
