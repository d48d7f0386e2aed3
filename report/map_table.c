/* SPDX-License-Identifier: MIT */
/* map_table.c: see map_table.h. */
#include "report/map_table.h"

#include "report/device_pinned.h"
#include "report/grow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool rvp_map_table_open(struct rvp_map_table *table, size_t process_count, struct rvp_site_table *sites,
			struct rvp_classifier classifier)
{
	*table = (struct rvp_map_table){.sites = sites, .classifier = classifier};
	return rvp_live_index_open(&table->index, process_count);
}

static struct rvp_event *add_event(struct rvp_map_table *table, enum rvp_event_kind kind,
				   const struct rvp_moment *moment, const struct rvp_block *block)
{
	if (!rvp_grow((void **)&table->events, &table->room, table->count + 1, sizeof *table->events)) {
		table->no_memory = true;
		return NULL;
	}
	table->events[table->count] = (struct rvp_event){
	    .kind = kind, .moment = moment, .block = *block, .weight = {.amount = {block->bytes, 1}}};
	return &table->events[table->count++];
}

static void put(struct rvp_map_table *table, uint32_t process, const struct rvp_block *block)
{
	if (!rvp_live_index_put(&table->index, process, block))
		table->no_memory = true;
}

void rvp_map_table_restore(struct rvp_map_table *table, const struct rvp_moment *moment, struct rvp_block piece,
		    uint64_t address, uint64_t end)
{
	if (address >= end)
		return;
	piece.address = address;
	piece.bytes = end - address;
	put(table, moment->process, &piece);
	add_event(table, RVP_EVENT_RESTORED, moment, &piece);
}

/* What lies in [address, end) goes; what of it lies outside stays. */
void rvp_map_table_cut(struct rvp_map_table *table, const struct rvp_moment *moment, uint64_t address, uint64_t end)
{
	const struct rvp_block *found = rvp_live_index_find(&table->index, moment->process, address);

	if (!found)
		found = rvp_live_index_next(&table->index, moment->process, address);
	while (found && found->address < end && !table->no_memory) {
		struct rvp_block whole = *found;

		rvp_live_index_remove(&table->index, moment->process, whole.address);
		add_event(table, RVP_EVENT_DIED, moment, &whole);
		rvp_map_table_restore(table, moment, whole, whole.address, address);
		rvp_map_table_restore(table, moment, whole, end, whole.address + whole.bytes);
		found = rvp_live_index_next(&table->index, moment->process, address);
	}
}

bool rvp_is_mapped_range(uint64_t address, uint64_t bytes)
{
	return bytes && bytes < (uint64_t)1 << 48 && address < (uint64_t)1 << 57;
}

/* Flags of the block that a mapping makes; 0: none. */
static uint32_t block_flags(const struct rvp_record_MAP *map)
{
	if (map->device || map->inode)
		return RVP_BLOCK_MAPPED | RVP_BLOCK_FILE;
	if (!(map->protection & PROT_WRITE) || map->flags & (MAP_NORESERVE | MAP_STACK | MAP_GROWSDOWN))
		return 0;
	return RVP_BLOCK_MAPPED;
}

static uint32_t number_of(uint64_t node)
{
	return node <= UINT32_MAX ? (uint32_t)node : 0;
}

void rvp_map_table_bear(struct rvp_map_table *table, const struct rvp_moment *moment, struct rvp_block *block,
		       uint64_t stack, uint64_t python)
{
	struct rvp_event *event;

	block->site = rvp_site_number(table->sites, moment->process, number_of(stack), number_of(python));
	block->stream = moment->stream;
	block->thread = (uint32_t)moment->thread_serial;
	if (block->site == UINT32_MAX) {
		table->no_memory = true;
		return;
	}
	event = add_event(table, RVP_EVENT_BORN, moment, block);
	if (!event)
		return;
	event->stack = number_of(stack);
	event->python = number_of(python);
	event->block.split = block->split = table->classifier.classify(table->classifier.context, event);
	put(table, moment->process, block);
}

static void take_map(struct rvp_map_table *table, const struct rvp_moment *moment)
{
	const struct rvp_record_MAP *map = &moment->record->MAP;
	struct rvp_block block = {.address = map->address, .bytes = map->bytes, .birth_ns = moment->ns};

	if (!rvp_is_mapped_range(map->address, map->bytes))
		return;
	rvp_map_table_cut(table, moment, map->address, map->address + map->bytes);
	block.flags = block_flags(map);
	if (block.flags)
		rvp_map_table_bear(table, moment, &block, map->stack, map->python);
}

/* A moved or resized mapping is a new block, as a realloc's is. */
static void take_remap(struct rvp_map_table *table, const struct rvp_moment *moment)
{
	const struct rvp_record_REMAP *remap = &moment->record->REMAP;
	const struct rvp_block *old;
	struct rvp_block block = {.address = remap->address, .bytes = remap->bytes, .birth_ns = moment->ns};

	if (!rvp_is_mapped_range(remap->address, remap->bytes) ||
	    !rvp_is_mapped_range(remap->old_address, remap->old_bytes ? remap->old_bytes : 1))
		return;
	old = rvp_live_index_find(&table->index, moment->process, remap->old_address);
	block.flags = old ? old->flags : 0;
	if (remap->old_bytes)
		rvp_map_table_cut(table, moment, remap->old_address, remap->old_address + remap->old_bytes);
	rvp_map_table_cut(table, moment, remap->address, remap->address + remap->bytes);
	if (block.flags)
		rvp_map_table_bear(table, moment, &block, remap->stack, remap->python);
}

bool rvp_map_table_take(struct rvp_map_table *table, const struct rvp_moment *moment)
{
	table->count = 0;
	if (moment->process == RVP_NO_PROCESS)
		return true;
	if (moment->kind == RVP_MOMENT_END) {
		rvp_live_index_clear(&table->index, moment->process);
		rvp_pinned_forget(table, moment->process);
	}
	if (moment->kind != RVP_MOMENT_RECORD)
		return true;
	switch (moment->record->kind) {
	case RVP_MAP: take_map(table, moment); break;
	case RVP_REMAP: take_remap(table, moment); break;
	case RVP_UNMAP:
		if (rvp_is_mapped_range(moment->record->UNMAP.address, moment->record->UNMAP.bytes))
			rvp_map_table_cut(table, moment, moment->record->UNMAP.address,
			    moment->record->UNMAP.address + moment->record->UNMAP.bytes);
		break;
	default: rvp_pinned_take(table, moment); break;
	}
	return !table->no_memory;
}

struct rvp_block *rvp_mapped_block(const struct rvp_map_table *table, uint32_t process, uint64_t address)
{
	const struct rvp_block *block = rvp_live_index_find(&table->index, process, address);

	return block && block->address == address ? (struct rvp_block *)block : NULL;
}

void rvp_map_table_free(struct rvp_map_table *table)
{
	rvp_live_index_free(&table->index);
	free(table->events);
	free(table->pinned);
	memset(table, 0, sizeof *table);
}
