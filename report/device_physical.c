/* SPDX-License-Identifier: MIT */
/* device_physical.c: see device_holdings.h: physical memory (cuMemCreate), which has an address only while it
 * is mapped.
 *
 * Its bytes are in one block without an address, or in its mappings: what is mapped leaves the first and is
 * born at its address, what is unmapped goes back as long as the memory was not released. Each such birth
 * behind the first is no alloc (RVP_BLOCK_AGAIN). A second mapping of the same bytes has an address but no
 * bytes, and is not followed. */
#include "report/device_holdings.h"

#include "report/grow.h"

static struct rvp_physical *find(struct rvp_device_blocks *blocks, uint32_t process, uint64_t handle)
{
	struct rvp_block *found =
	    rvp_block_find(&blocks->handles[process], rvp_handle_key(RVP_DEVICE_MEMORY_PHYSICAL, handle));

	return found ? &blocks->physicals[found->stream] : NULL;
}

static struct rvp_physical *free_place(struct rvp_device_blocks *blocks)
{
	for (size_t i = blocks->physical_hint; i < blocks->physical_count; i++)
		if (!blocks->physicals[i].is_used) {
			blocks->physical_hint = i + 1;
			return &blocks->physicals[i];
		}
	blocks->physical_hint = blocks->physical_count;
	if (!rvp_grow((void **)&blocks->physicals, &blocks->physical_room, blocks->physical_count + 1,
		      sizeof *blocks->physicals)) {
		blocks->no_memory = true;
		return NULL;
	}
	return &blocks->physicals[blocks->physical_count++];
}

/* The handle may be another's by now. */
static void forget_handle(struct rvp_device_blocks *blocks, const struct rvp_physical *physical)
{
	struct rvp_block *found =
	    rvp_block_find(&blocks->handles[physical->process],
			   rvp_handle_key(RVP_DEVICE_MEMORY_PHYSICAL, physical->handle));

	if (found && found->stream == (uint32_t)(physical - blocks->physicals))
		rvp_block_remove(&blocks->handles[physical->process], found);
}

static void remove_physical(struct rvp_device_blocks *blocks, struct rvp_physical *physical)
{
	size_t number = (size_t)(physical - blocks->physicals);

	forget_handle(blocks, physical);
	physical->is_used = false;
	if (number < blocks->physical_hint)
		blocks->physical_hint = number;
}

/* The block of what has no address. */
static void add_unmapped(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
			 struct rvp_physical *physical, uint64_t bytes, uint32_t flags)
{
	const struct rvp_new_holding birth = {.address = physical->handle,
					      .bytes = bytes,
					      .stack = physical->stack,
					      .python = physical->python,
					      .device = physical->device,
					      .flags = flags,
					      .kind = RVP_DEVICE_MEMORY_PHYSICAL};
	struct rvp_holding *holding = bytes ? rvp_holding_new(blocks, moment, &birth) : NULL;

	if (!holding)
		return;
	holding->physical = (uint32_t)(physical - blocks->physicals) + 1;
	physical->unmapped = rvp_holding_number(blocks, holding) + 1;
	rvp_holding_born(blocks, moment, holding);
}

static void end_unmapped(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
			 struct rvp_physical *physical)
{
	if (physical->unmapped)
		rvp_holding_end(blocks, moment, &blocks->holdings[physical->unmapped - 1]);
	physical->unmapped = 0;
}

/* What is mapped of it lives on without the handle. */
static void lose_handle(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
			struct rvp_physical *physical)
{
	physical->is_released = true;
	end_unmapped(blocks, moment, physical);
	if (physical->mapped_bytes)
		forget_handle(blocks, physical);
	else
		remove_physical(blocks, physical);
}

void rvp_physical_take(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t device)
{
	const struct rvp_record_DEVICE_ALLOC *record = &moment->record->DEVICE_ALLOC;
	struct rvp_physical *physical = find(blocks, moment->process, record->address);
	uint64_t key = rvp_handle_key(RVP_DEVICE_MEMORY_PHYSICAL, record->address);

	if (!record->bytes || record->bytes >= (uint64_t)1 << 48)
		return;
	if (physical) /* a handle is used again: the old one was released */
		lose_handle(blocks, moment, physical);
	physical = free_place(blocks);
	if (!physical)
		return;
	*physical = (struct rvp_physical){.handle = record->address,
					  .bytes = record->bytes,
					  .stack = record->stack,
					  .python = record->python,
					  .process = moment->process,
					  .device = device,
					  .is_used = true};
	blocks->no_memory |= !rvp_block_put(
	    &blocks->handles[moment->process],
	    &(struct rvp_block){.address = key, .stream = (uint32_t)(physical - blocks->physicals)});
	add_unmapped(blocks, moment, physical, record->bytes, 0);
}

/* So much of it gets an address: the block without one has as much less. */
static void move_to_address(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
			    struct rvp_physical *physical, uint64_t bytes)
{
	uint64_t left = physical->bytes - physical->mapped_bytes - bytes;

	if (left && physical->unmapped)
		rvp_holding_resize(blocks, moment, &blocks->holdings[physical->unmapped - 1], left);
	else
		end_unmapped(blocks, moment, physical);
	physical->mapped_bytes += bytes;
}

static void map(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		struct rvp_physical *physical, uint64_t address, uint64_t bytes)
{
	const struct rvp_new_holding birth = {.address = address,
					      .bytes = bytes,
					      .stack = physical->stack,
					      .python = physical->python,
					      .device = physical->device,
					      .flags = RVP_BLOCK_AGAIN,
					      .kind = RVP_DEVICE_MEMORY_PHYSICAL,
					      .has_address = true};
	struct rvp_holding *holding;

	if (physical->bytes - physical->mapped_bytes < bytes)
		return; /* these bytes have an address already */
	move_to_address(blocks, moment, physical, bytes);
	holding = rvp_holding_new(blocks, moment, &birth);
	if (!holding)
		return;
	holding->physical = (uint32_t)(physical - blocks->physicals) + 1;
	rvp_holding_born(blocks, moment, holding);
}

void rvp_physical_map(struct rvp_device_blocks *blocks, const struct rvp_moment *moment)
{
	const struct rvp_record_DEVICE_MAP *record = &moment->record->DEVICE_MAP;
	struct rvp_physical *physical;

	if (!find(blocks, moment->process, record->handle) ||
	    !rvp_is_device_range(record->address, record->bytes))
		return;
	rvp_holdings_end(blocks, moment, record->address, record->address + record->bytes);
	physical = find(blocks, moment->process, record->handle);
	if (physical)
		map(blocks, moment, physical, record->address, record->bytes);
}

void rvp_physical_map_again(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
			    const struct rvp_holding *mapping)
{
	struct rvp_physical *physical = &blocks->physicals[mapping->physical - 1];

	if (physical->is_used && physical->process == moment->process)
		map(blocks, moment, physical, mapping->block.address, mapping->block.bytes);
}

void rvp_physical_back(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t number,
		       uint64_t bytes)
{
	struct rvp_physical *physical = &blocks->physicals[number - 1];

	physical->mapped_bytes -= bytes;
	if (physical->is_released) {
		if (!physical->mapped_bytes)
			remove_physical(blocks, physical);
	} else if (physical->unmapped) {
		rvp_holding_resize(blocks, moment, &blocks->holdings[physical->unmapped - 1],
				   physical->bytes - physical->mapped_bytes);
	} else {
		add_unmapped(blocks, moment, physical, physical->bytes - physical->mapped_bytes,
			     RVP_BLOCK_AGAIN);
	}
}

void rvp_physical_unmap(struct rvp_device_blocks *blocks, const struct rvp_moment *moment)
{
	const struct rvp_record_DEVICE_UNMAP *unmap = &moment->record->DEVICE_UNMAP;
	uint64_t end = unmap->address + unmap->bytes;

	if (!rvp_is_device_range(unmap->address, unmap->bytes))
		return;
	for (uint64_t at = unmap->address; !blocks->no_memory;) {
		const struct rvp_block *next = rvp_live_index_next(&blocks->drivers, moment->process, at);
		struct rvp_holding *holding = next ? &blocks->holdings[next->stream] : NULL;
		uint64_t bytes;
		uint32_t number;

		if (!holding || next->address >= end)
			return;
		at = next->address + 1;
		number = holding->physical;
		bytes = holding->block.bytes;
		if (!number)
			continue; /* only mappings can be unmapped */
		rvp_holding_end(blocks, moment, holding);
		rvp_physical_back(blocks, moment, number, bytes);
	}
}

bool rvp_physical_release(struct rvp_device_blocks *blocks, const struct rvp_moment *moment)
{
	struct rvp_physical *physical = find(blocks, moment->process, moment->record->DEVICE_FREE.address);

	if (!physical || physical->is_released)
		return false;
	physical->is_released = true;
	end_unmapped(blocks, moment, physical);
	if (!physical->mapped_bytes)
		remove_physical(blocks, physical);
	return true;
}

/* One whose last byte went with the release is not known any more: its size is. */
bool rvp_physical_restore(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint64_t handle)
{
	struct rvp_physical *physical = find(blocks, moment->process, handle);

	if (!physical || !physical->is_released)
		return false;
	physical->is_released = false;
	add_unmapped(blocks, moment, physical, physical->bytes - physical->mapped_bytes, RVP_BLOCK_AGAIN);
	return true;
}
