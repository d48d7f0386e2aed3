/* SPDX-License-Identifier: MIT */
/* device_blocks.c: see device_blocks.h. */
#include "report/device_blocks.h"

#include "report/device_holdings.h"
#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

bool rvp_device_blocks_open(struct rvp_device_blocks *blocks, const struct rvp_run *run,
			    struct rvp_site_table *sites, struct rvp_classifier classifier)
{
	*blocks = (struct rvp_device_blocks){.run = run, .sites = sites, .classifier = classifier};
	blocks->handles = calloc(run->process_count + 1, sizeof *blocks->handles);
	blocks->births = calloc(run->process_count + 1, sizeof *blocks->births);
	return blocks->handles && blocks->births &&
	       rvp_live_index_open(&blocks->drivers, run->process_count + 1) &&
	       rvp_live_index_open(&blocks->tensors, run->process_count + 1);
}

/* ---- given by the driver ---- */

static void take_plain(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t device)
{
	const struct rvp_record_DEVICE_ALLOC *record = &moment->record->DEVICE_ALLOC;
	struct rvp_holding *holding;
	uint32_t number;

	if (!rvp_is_device_range(record->address, record->bytes))
		return;
	rvp_holdings_end(blocks, moment, record->address, record->address + record->bytes);
	holding = rvp_holding_new(blocks, moment,
				  &(struct rvp_new_holding){.address = record->address,
							    .bytes = record->bytes,
							    .device = device,
							    .stack = record->stack,
							    .python = record->python,
							    .kind = (uint8_t)record->kind,
							    .has_address = true});
	if (!holding)
		return;
	holding->context = record->context;
	holding->pool = record->kind == RVP_DEVICE_MEMORY_ORDERED ? record->pool : 0;
	number = rvp_holding_number(blocks, holding);
	rvp_pool_moved(blocks, moment, holding,
		       (int64_t)record->bytes); /* first: what it gives is not twice there */
	rvp_holding_born(blocks, moment, &blocks->holdings[number]);
}

static void take_array(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t device)
{
	const struct rvp_record_DEVICE_ALLOC *record = &moment->record->DEVICE_ALLOC;
	uint64_t key = rvp_handle_key(record->kind, record->address);
	struct rvp_block_table *table = &blocks->handles[moment->process];
	struct rvp_holding *holding;

	if (rvp_block_find(table, key))
		return;
	holding = rvp_holding_new(blocks, moment,
				  &(struct rvp_new_holding){.address = record->address,
							    .bytes = record->bytes,
							    .device = device,
							    .stack = record->stack,
							    .python = record->python,
							    .kind = RVP_DEVICE_MEMORY_ARRAY});
	if (!holding)
		return;
	holding->context = record->context;
	blocks->no_memory |= !rvp_block_put(
	    table, &(struct rvp_block){.address = key, .stream = rvp_holding_number(blocks, holding)});
	rvp_holding_born(blocks, moment, holding);
}

static void take_alloc(struct rvp_device_blocks *blocks, const struct rvp_moment *moment)
{
	const struct rvp_record_DEVICE_ALLOC *record = &moment->record->DEVICE_ALLOC;
	uint32_t device = rvp_device_number(&blocks->run->processes[moment->process], record->device);

	if (!device)
		return;
	switch (record->kind) {
	case RVP_DEVICE_MEMORY_PLAIN:
	case RVP_DEVICE_MEMORY_ORDERED:
	case RVP_DEVICE_MEMORY_MANAGED: take_plain(blocks, moment, device); break;
	case RVP_DEVICE_MEMORY_PHYSICAL: rvp_physical_take(blocks, moment, device); break;
	case RVP_DEVICE_MEMORY_ARRAY: take_array(blocks, moment, device); break;
	default: break; /* pinned, registered, imported: not the device's */
	}
}

static void count_unknown(struct rvp_device_blocks *blocks, uint32_t process)
{
	/* A free does not say of which device: it counts for the first that the process met. */
	const struct rvp_met_devices *devices = &blocks->run->processes[process].devices;
	uint32_t device = devices->count ? devices->numbers[devices->met[0].ordinal] : 0;

	blocks->sums[device].unknown_frees++;
}

static void free_array(struct rvp_device_blocks *blocks, const struct rvp_moment *moment)
{
	const struct rvp_record_DEVICE_FREE *record = &moment->record->DEVICE_FREE;
	struct rvp_block_table *table = &blocks->handles[moment->process];
	struct rvp_block *found = rvp_block_find(table, rvp_handle_key(record->kind, record->address));

	if (!found) {
		count_unknown(blocks, moment->process);
		return;
	}
	rvp_holding_end(blocks, moment, &blocks->holdings[found->stream]);
}

static void take_free(struct rvp_device_blocks *blocks, const struct rvp_moment *moment)
{
	const struct rvp_record_DEVICE_FREE *record = &moment->record->DEVICE_FREE;
	struct rvp_holding *holding;

	switch (record->kind) {
	case RVP_DEVICE_MEMORY_PINNED:
	case RVP_DEVICE_MEMORY_REGISTERED:
	case RVP_DEVICE_MEMORY_IMPORTED: return;
	case RVP_DEVICE_MEMORY_PHYSICAL:
		if (!rvp_physical_release(blocks, moment))
			count_unknown(blocks, moment->process);
		return;
	case RVP_DEVICE_MEMORY_ARRAY: free_array(blocks, moment); return;
	default: break;
	}
	holding = rvp_holding_at(blocks, moment->process, record->address);
	if (holding && holding->block.address == record->address && !holding->physical)
		rvp_holding_end(blocks, moment, holding);
	else
		count_unknown(blocks, moment->process);
}

/* ---- pools ---- */

static void take_pool(struct rvp_device_blocks *blocks, const struct rvp_moment *moment)
{
	const struct rvp_record_DEVICE_POOL *record = &moment->record->DEVICE_POOL;
	uint32_t device = rvp_device_number(&blocks->run->processes[moment->process], record->device);

	if (device)
		rvp_pool_take(blocks, moment, device);
}

/* ---- tensors ---- */

static void take_word(struct rvp_device_blocks *blocks, const struct rvp_told_allocator *word)
{
	size_t i = 0;

	while (i < blocks->told_count &&
	       (blocks->told[i].process != word->process || blocks->told[i].device != word->device))
		i++;
	if (i == blocks->told_count) {
		if (!rvp_grow((void **)&blocks->told, &blocks->told_room, i + 1, sizeof *blocks->told)) {
			blocks->no_memory = true;
			return;
		}
		blocks->told_count++;
	}
	blocks->told[i] = *word;
}

static void take_tensor(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
			const struct rvp_record_DEVICE_TENSOR *record)
{
	uint32_t device = rvp_device_number(&blocks->run->processes[moment->process], record->device);

	if (!device)
		return;
	if (record->allocated_bytes || record->reserved_bytes)
		take_word(blocks, &(struct rvp_told_allocator){record->allocated_bytes, record->reserved_bytes,
							       moment->process, device});
	if (!record->is_free) {
		if (rvp_is_device_range(record->address, record->bytes))
			rvp_tensor_born(blocks, moment, record, device);
	} else if (!rvp_tensor_end(blocks, moment, record->address)) {
		blocks->sums[device].unknown_frees++;
	}
}

static void take_plain_tensor(struct rvp_device_blocks *blocks, const struct rvp_moment *moment)
{
	const struct rvp_record_TENSOR *record = &moment->record->TENSOR;
	const struct rvp_record_DEVICE_TENSOR as_one = {.address = record->address,
							.is_free = record->is_free,
							.bytes = record->bytes,
							.allocated_bytes = record->allocated_bytes,
							.reserved_bytes = record->reserved_bytes,
							.device = record->device};

	if (record->device_type == 1)
		take_tensor(blocks, moment, &as_one);
}

/* ---- contexts and processes ---- */

static void begin_context(struct rvp_device_blocks *blocks, uint32_t process, uint64_t context,
			  uint32_t device)
{
	for (size_t i = 0; i < blocks->context_count; i++)
		if (blocks->contexts[i].process == process && blocks->contexts[i].context == context)
			return;
	if (!rvp_grow((void **)&blocks->contexts, &blocks->context_room, blocks->context_count + 1,
		      sizeof *blocks->contexts)) {
		blocks->no_memory = true;
		return;
	}
	blocks->contexts[blocks->context_count++] = (struct rvp_live_context){context, process, device};
}

size_t rvp_device_contexts(const struct rvp_device_blocks *blocks, uint32_t process, uint32_t device, uint64_t without)
{
	size_t count = 0;

	for (size_t i = 0; i < blocks->context_count; i++)
		count += blocks->contexts[i].process == process && blocks->contexts[i].device == device &&
			 blocks->contexts[i].context != without;
	return count;
}

/* Whether it was the last of its device in the process. */
static bool forget_context(struct rvp_device_blocks *blocks, uint32_t process, uint64_t context,
			   uint32_t device)
{
	size_t left = 0;

	for (size_t i = blocks->context_count; i-- > 0;) {
		struct rvp_live_context *live = &blocks->contexts[i];

		if (live->process != process)
			continue;
		if (live->context == context)
			*live = blocks->contexts[--blocks->context_count];
		else
			left += live->device == device;
	}
	return !left;
}

/* All that was given out in it goes; physical memory is no context's. */
static void end_context(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint64_t context,
			uint32_t device)
{
	bool is_last = forget_context(blocks, moment->process, context, device);

	if (is_last)
		rvp_pools_end(blocks, moment, device);
	for (size_t i = 0; i < blocks->holding_count && !blocks->no_memory; i++) {
		struct rvp_holding *holding = &blocks->holdings[i];

		if (!holding->is_used || holding->process != moment->process || holding->physical ||
		    holding->block.flags & RVP_BLOCK_POOL || rvp_block_device(&holding->block) != device)
			continue;
		if (holding->context ? holding->context == context : is_last)
			rvp_holding_end(blocks, moment, holding);
	}
}

static void take_context(struct rvp_device_blocks *blocks, const struct rvp_moment *moment)
{
	const struct rvp_record_DEVICE_CONTEXT *record = &moment->record->DEVICE_CONTEXT;
	uint32_t device = rvp_device_number(&blocks->run->processes[moment->process], record->device);

	if (!device)
		return;
	if (record->is_end)
		end_context(blocks, moment, record->context, device);
	else
		begin_context(blocks, moment->process, record->context, device);
}

/* ---- */

static void take_record(struct rvp_device_blocks *blocks, const struct rvp_moment *moment)
{
	switch (moment->record->kind) {
	case RVP_DEVICE_ALLOC: take_alloc(blocks, moment); break;
	case RVP_DEVICE_FREE: take_free(blocks, moment); break;
	case RVP_DEVICE_UNFREE:
		rvp_holding_restore(blocks, moment, moment->record->DEVICE_UNFREE.address);
		break;
	case RVP_DEVICE_MAP: rvp_physical_map(blocks, moment); break;
	case RVP_DEVICE_UNMAP: rvp_physical_unmap(blocks, moment); break;
	case RVP_DEVICE_POOL: take_pool(blocks, moment); break;
	case RVP_DEVICE_TENSOR: take_tensor(blocks, moment, &moment->record->DEVICE_TENSOR); break;
	case RVP_TENSOR: take_plain_tensor(blocks, moment); break;
	case RVP_DEVICE_CONTEXT: take_context(blocks, moment); break;
	default: break;
	}
}

bool rvp_device_blocks_take(struct rvp_device_blocks *blocks, const struct rvp_moment *moment)
{
	blocks->count = 0;
	if (moment->process == RVP_NO_PROCESS)
		return true;
	if (moment->kind == RVP_MOMENT_END)
		rvp_holdings_forget(blocks, moment->process);
	if (moment->kind == RVP_MOMENT_RECORD)
		take_record(blocks, moment);
	return !blocks->no_memory;
}

const struct rvp_block *rvp_device_block_at(const struct rvp_device_blocks *blocks, uint32_t process,
					    uint64_t address)
{
	const struct rvp_block *tensor = rvp_live_index_find(&blocks->tensors, process, address);
	const struct rvp_holding *holding = tensor ? NULL : rvp_holding_at(blocks, process, address);

	return tensor ? tensor : holding ? &holding->block : NULL;
}

struct rvp_block *rvp_device_block_born(const struct rvp_device_blocks *blocks, uint32_t process,
					uint64_t address, uint32_t birth, uint64_t *counted_bytes)
{
	const struct rvp_block *tensor = rvp_live_index_find(&blocks->tensors, process, address);
	struct rvp_holding *holding = rvp_holding_at(blocks, process, address);

	if (tensor && tensor->birth == birth && tensor->address == address) {
		*counted_bytes = tensor->bytes;
		return (struct rvp_block *)tensor;
	}
	if (!holding || holding->block.birth != birth || holding->block.address != address)
		return NULL;
	*counted_bytes = rvp_holding_counts(holding);
	return &holding->block;
}

/* ---- what a caching allocator holds ---- */

struct walk {
	const struct rvp_device_blocks *blocks;
	struct rvp_device_segments sums;
	uint32_t process;
	uint64_t free_from, end; /* of the stretch at hand */
	bool is_mapped;
};

static void see_gap(struct walk *walk, uint64_t to)
{
	if (to > walk->free_from && to - walk->free_from > walk->sums.largest_free_bytes)
		walk->sums.largest_free_bytes = to - walk->free_from;
}

static void walk_holding(struct walk *walk, const struct rvp_holding *holding)
{
	uint64_t begin = holding->block.address, end = begin + holding->block.bytes;
	const struct rvp_live_index *tensors = &walk->blocks->tensors;
	const struct rvp_block *tensor;

	if (!walk->is_mapped || !holding->physical || walk->end != begin)
		walk->free_from = begin; /* a stretch of its own */
	walk->is_mapped = holding->physical != 0;
	walk->end = end;
	walk->sums.count++;
	walk->sums.reserved_bytes += holding->block.bytes;
	walk->sums.allocated_bytes += holding->inside_bytes;
	tensor = rvp_live_index_find(tensors, walk->process, begin);
	if (!tensor)
		tensor = rvp_live_index_next(tensors, walk->process, begin);
	for (; tensor && tensor->address < end;
	     tensor = rvp_live_index_next(tensors, walk->process, tensor->address + 1)) {
		see_gap(walk, tensor->address);
		walk->free_from = tensor->address + tensor->bytes;
	}
	see_gap(walk, end);
}

struct rvp_device_segments rvp_device_segments(const struct rvp_device_blocks *blocks, uint32_t device)
{
	struct walk walk = {.blocks = blocks};

	for (size_t i = 0; i < blocks->told_count; i++) {
		if (blocks->told[i].device != device)
			continue;
		walk.sums.told_allocated_bytes += blocks->told[i].allocated_bytes;
		walk.sums.told_reserved_bytes += blocks->told[i].reserved_bytes;
	}
	for (uint32_t process = 0; process < blocks->run->process_count; process++) {
		const struct rvp_block *at = rvp_live_index_next(&blocks->drivers, process, 0);

		walk.process = process;
		walk.end = 0;
		for (; at; at = rvp_live_index_next(&blocks->drivers, process, at->address + 1)) {
			const struct rvp_holding *holding = &blocks->holdings[at->stream];

			if (holding->block.flags & RVP_BLOCK_SEGMENT &&
			    rvp_block_device(&holding->block) == device)
				walk_holding(&walk, holding);
		}
	}
	return walk.sums;
}

void rvp_device_blocks_free(struct rvp_device_blocks *blocks)
{
	for (size_t i = 0; blocks->handles && i < blocks->run->process_count; i++)
		rvp_block_table_free(&blocks->handles[i]);
	rvp_live_index_free(&blocks->drivers);
	rvp_live_index_free(&blocks->tensors);
	free(blocks->handles);
	free(blocks->births);
	free(blocks->holdings);
	free(blocks->physicals);
	free(blocks->pools);
	free(blocks->contexts);
	free(blocks->told);
	free(blocks->events);
	memset(blocks, 0, sizeof *blocks);
}
