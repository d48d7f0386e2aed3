/* SPDX-License-Identifier: MIT */
/* device_pinned.c: see device_pinned.h. */
#include "report/device_pinned.h"

#include "report/grow.h"

static struct rvp_pinned *find(struct rvp_map_table *table, uint32_t process, uint64_t address)
{
	for (size_t i = table->pinned_count; i-- > 0;)
		if (table->pinned[i].process == process && table->pinned[i].block.address == address)
			return &table->pinned[i];
	return NULL;
}

static struct rvp_pinned *add(struct rvp_map_table *table)
{
	if (rvp_grow((void **)&table->pinned, &table->pinned_room, table->pinned_count + 1,
		     sizeof *table->pinned))
		return &table->pinned[table->pinned_count++];
	table->no_memory = true;
	return NULL;
}

static void take_alloc(struct rvp_map_table *table, const struct rvp_moment *moment)
{
	const struct rvp_record_DEVICE_ALLOC *record = &moment->record->DEVICE_ALLOC;
	uint64_t end = record->address + record->bytes;
	struct rvp_pinned pinned = {.process = moment->process};
	const struct rvp_block *under;

	if (!rvp_is_mapped_range(record->address, record->bytes))
		return;
	under = rvp_live_index_find(&table->index, moment->process, record->address);
	if (under && under->address + under->bytes >= end) {
		pinned.has_under = true;
		pinned.under = *under;
	}
	rvp_map_table_cut(table, moment, record->address, end);
	pinned.block = (struct rvp_block){.address = record->address,
					  .bytes = record->bytes,
					  .birth_ns = moment->ns,
					  .flags = RVP_BLOCK_MAPPED};
	rvp_map_table_bear(table, moment, &pinned.block, record->stack, record->python);
	struct rvp_pinned *place = table->no_memory ? NULL : add(table);

	if (place)
		*place = pinned;
}

/* The driver's own mapping is there still. */
static void take_free(struct rvp_map_table *table, const struct rvp_moment *moment, uint64_t address)
{
	struct rvp_pinned *pinned = find(table, moment->process, address);
	uint64_t end = pinned ? address + pinned->block.bytes : 0;

	if (!pinned)
		return;
	rvp_map_table_cut(table, moment, address, end);
	if (pinned->has_under)
		rvp_map_table_restore(table, moment, pinned->under, address, end);
	table->pinned_freed = *pinned;
	table->has_pinned_freed = true;
	*pinned = table->pinned[--table->pinned_count];
}

static void take_unfree(struct rvp_map_table *table, const struct rvp_moment *moment, uint64_t address)
{
	struct rvp_pinned pinned = table->pinned_freed, *place;
	uint64_t end = address + pinned.block.bytes;

	if (!table->has_pinned_freed || pinned.process != moment->process || pinned.block.address != address)
		return;
	table->has_pinned_freed = false;
	rvp_map_table_cut(table, moment, address, end);
	rvp_map_table_restore(table, moment, pinned.block, address, end);
	place = add(table);
	if (place)
		*place = pinned;
}

void rvp_pinned_take(struct rvp_map_table *table, const struct rvp_moment *moment)
{
	const struct rvp_record *record = moment->record;

	if (record->kind == RVP_DEVICE_ALLOC && record->DEVICE_ALLOC.kind == RVP_DEVICE_MEMORY_PINNED)
		take_alloc(table, moment);
	else if (record->kind == RVP_DEVICE_FREE && record->DEVICE_FREE.kind == RVP_DEVICE_MEMORY_PINNED)
		take_free(table, moment, record->DEVICE_FREE.address);
	else if (record->kind == RVP_DEVICE_UNFREE)
		take_unfree(table, moment, record->DEVICE_UNFREE.address);
}

void rvp_pinned_forget(struct rvp_map_table *table, uint32_t process)
{
	for (size_t i = table->pinned_count; i-- > 0;)
		if (table->pinned[i].process == process)
			table->pinned[i] = table->pinned[--table->pinned_count];
}
