/* SPDX-License-Identifier: MIT */
/* device_holdings.c: see device_holdings.h: what the driver gave, and the tensors of caching allocators in
 * it.
 *
 * Where a tensor comes, its holdings shrink before it is born; where it goes, they grow behind its death: the
 * sum never shows it twice. */
#include "report/device_holdings.h"

#include "report/grow.h"

/* ---- events ---- */

static struct rvp_event *add_event(struct rvp_device_blocks *blocks, enum rvp_event_kind kind,
				   const struct rvp_moment *moment, const struct rvp_block *block,
				   uint64_t counted_bytes)
{
	if (!rvp_grow((void **)&blocks->events, &blocks->room, blocks->count + 1, sizeof *blocks->events)) {
		blocks->no_memory = true;
		return NULL;
	}
	blocks->events[blocks->count] = (struct rvp_event){.kind = kind,
							   .moment = moment,
							   .block = *block,
							   .weight = {.amount = {counted_bytes, 1}},
							   .before_bytes = counted_bytes};
	return &blocks->events[blocks->count++];
}

static void tell_birth(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		       struct rvp_block *block, uint64_t counted_bytes)
{
	struct rvp_event *event = add_event(blocks, RVP_EVENT_BORN, moment, block, counted_bytes);

	if (!event)
		return;
	event->stack = blocks->sites->keys[block->site].stack;
	event->python = blocks->sites->keys[block->site].python;
	event->block.split = block->split = blocks->classifier.classify(blocks->classifier.context, event);
}

static uint32_t number_of(uint64_t node)
{
	return node <= UINT32_MAX ? (uint32_t)node : 0;
}

static bool make_block(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		       const struct rvp_new_holding *birth, struct rvp_block *block)
{
	*block =
	    (struct rvp_block){.address = birth->address,
			       .bytes = birth->bytes,
			       .birth_ns = moment->ns,
			       .site = rvp_site_number_on(blocks->sites, moment->process, birth->device,
							  number_of(birth->stack), number_of(birth->python)),
			       .stream = moment->stream,
			       .thread = (uint32_t)moment->thread_serial,
			       .birth = ++blocks->births[moment->process],
			       .flags = birth->flags | birth->device << RVP_BLOCK_DEVICE_SHIFT};
	blocks->no_memory |= block->site == UINT32_MAX;
	return block->site != UINT32_MAX;
}

/* ---- holdings ---- */

uint64_t rvp_holding_counts(const struct rvp_holding *holding)
{
	uint64_t bytes = holding->own_bytes;

	return bytes > holding->inside_bytes ? bytes - holding->inside_bytes : 0;
}

/* Into the sums of its device, or out of them. */
static void account(struct rvp_device_blocks *blocks, const struct rvp_holding *holding, uint64_t bytes)
{
	struct rvp_device_sums *sums = &blocks->sums[rvp_block_device(&holding->block)];

	if (holding->kind == RVP_DEVICE_MEMORY_MANAGED)
		sums->managed_bytes += bytes;
	if (holding->kind == RVP_DEVICE_MEMORY_PHYSICAL && !holding->has_address)
		sums->unmapped_bytes += bytes;
}

/* A place that nobody uses. */
static struct rvp_holding *free_place(struct rvp_device_blocks *blocks)
{
	if (blocks->free_holding) {
		struct rvp_holding *holding = &blocks->holdings[blocks->free_holding - 1];

		blocks->free_holding = holding->next_free;
		return holding;
	}
	if (!rvp_grow((void **)&blocks->holdings, &blocks->holding_room, blocks->holding_count + 1,
		      sizeof *blocks->holdings)) {
		blocks->no_memory = true;
		return NULL;
	}
	return &blocks->holdings[blocks->holding_count++];
}

static void give_place_back(struct rvp_device_blocks *blocks, struct rvp_holding *holding)
{
	*holding = (struct rvp_holding){.next_free = blocks->free_holding};
	blocks->free_holding = rvp_holding_number(blocks, holding) + 1;
}

static void enter(struct rvp_device_blocks *blocks, const struct rvp_holding *holding)
{
	struct rvp_block block = holding->block;

	if (!holding->has_address)
		return;
	block.stream = rvp_holding_number(blocks, holding);
	blocks->no_memory |= !rvp_live_index_put(&blocks->drivers, holding->process, &block);
}

struct rvp_holding *rvp_holding_new(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
				    const struct rvp_new_holding *birth)
{
	struct rvp_block block;
	struct rvp_holding *holding;

	if (!make_block(blocks, moment, birth, &block) || !(holding = free_place(blocks)))
		return NULL;
	*holding = (struct rvp_holding){.block = block,
					.own_bytes = block.bytes,
					.process = moment->process,
					.kind = birth->kind,
					.is_used = true,
					.has_address = birth->has_address};
	enter(blocks, holding);
	account(blocks, holding, block.bytes);
	return holding;
}

void rvp_holding_born(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		      struct rvp_holding *holding)
{
	tell_birth(blocks, moment, &holding->block, rvp_holding_counts(holding));
}

struct rvp_holding *rvp_holding_at(const struct rvp_device_blocks *blocks, uint32_t process, uint64_t address)
{
	const struct rvp_block *found = rvp_live_index_find(&blocks->drivers, process, address);

	return found ? &blocks->holdings[found->stream] : NULL;
}

/* The first one that has something of [address, end). */
static const struct rvp_block *first_in(const struct rvp_live_index *index, uint32_t process,
					uint64_t address, uint64_t end)
{
	const struct rvp_block *found = rvp_live_index_find(index, process, address);

	if (!found)
		found = rvp_live_index_next(index, process, address);
	return found && found->address < end ? found : NULL;
}

static void end_tensors(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t process,
			uint64_t address, uint64_t end)
{
	const struct rvp_block *tensor;

	while (!blocks->no_memory && (tensor = first_in(&blocks->tensors, process, address, end)))
		rvp_tensor_end(blocks, moment, tensor->address);
}

/* However it ends, by its free or with its context: its place is another's soon. */
static void forget_handle(struct rvp_device_blocks *blocks, const struct rvp_holding *array)
{
	struct rvp_block_table *table = &blocks->handles[array->process];
	struct rvp_block *found = rvp_block_find(table, rvp_handle_key(array->kind, array->block.address));

	if (found)
		rvp_block_remove(table, found);
}

void rvp_holding_end(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		     struct rvp_holding *holding)
{
	uint64_t address = holding->block.address;
	struct rvp_holding old;

	if (holding->has_address) {
		end_tensors(blocks, moment, holding->process, address, address + holding->block.bytes);
		rvp_live_index_remove(&blocks->drivers, holding->process, address);
	}
	if (holding->kind == RVP_DEVICE_MEMORY_ARRAY)
		forget_handle(blocks, holding);
	old = *holding;
	add_event(blocks, RVP_EVENT_DIED, moment, &old.block, rvp_holding_counts(&old));
	account(blocks, &old, -old.own_bytes);
	blocks->freed[blocks->next_freed++ % RVP_FREED_HOLDINGS] = old;
	give_place_back(blocks, holding);
	rvp_pool_moved(blocks, moment, &old, -(int64_t)old.block.bytes);
}

void rvp_holdings_end(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint64_t address,
		      uint64_t end)
{
	const struct rvp_block *found;

	while (!blocks->no_memory && (found = first_in(&blocks->drivers, moment->process, address, end))) {
		struct rvp_holding *holding = &blocks->holdings[found->stream];
		uint32_t physical = holding->physical;
		uint64_t bytes = holding->block.bytes;

		rvp_holding_end(blocks, moment, holding);
		if (physical)
			rvp_physical_back(blocks, moment, physical, bytes);
	}
	end_tensors(blocks, moment, moment->process, address, end); /* those whose holding was never told of */
}

void rvp_holding_resize(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
			struct rvp_holding *holding, uint64_t bytes)
{
	uint64_t before = rvp_holding_counts(holding);
	struct rvp_event *event;

	if (bytes == holding->own_bytes)
		return;
	account(blocks, holding, bytes - holding->own_bytes);
	holding->own_bytes = bytes;
	event = add_event(blocks, RVP_EVENT_RESIZED, moment, &holding->block, rvp_holding_counts(holding));
	if (event)
		event->before_bytes = before;
}

/* Whether something else stands where this stood: then it did go (N1). */
static bool is_succeeded(struct rvp_device_blocks *blocks, const struct rvp_holding *old)
{
	uint64_t address = old->block.address;

	if (old->kind == RVP_DEVICE_MEMORY_ARRAY)
		return rvp_block_find(&blocks->handles[old->process], rvp_handle_key(old->kind, address)) != NULL;
	return !old->has_address || first_in(&blocks->drivers, old->process, address, address + old->block.bytes);
}

static void put_handle(struct rvp_device_blocks *blocks, const struct rvp_holding *array)
{
	struct rvp_block handle = {.address = rvp_handle_key(array->kind, array->block.address),
				   .stream = rvp_holding_number(blocks, array)};

	blocks->no_memory |= !rvp_block_put(&blocks->handles[array->process], &handle);
}

/* The latest end of this address, by any thread: who was refused says so at once. */
void rvp_holding_restore(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint64_t address)
{
	for (unsigned i = 1; i <= RVP_FREED_HOLDINGS && i <= blocks->next_freed; i++) {
		struct rvp_holding *old = &blocks->freed[(blocks->next_freed - i) % RVP_FREED_HOLDINGS];
		struct rvp_holding *holding;

		if (!old->is_used || old->process != moment->process || old->block.address != address ||
		    is_succeeded(blocks, old))
			continue;
		old->is_used = false;
		if (old->physical) {
			rvp_physical_map_again(blocks, moment, old);
			return;
		}
		rvp_pool_moved(blocks, moment, old, (int64_t)old->block.bytes);
		if (!(holding = free_place(blocks)))
			return;
		*holding = *old;
		holding->is_used = true;
		holding->inside_bytes = 0;
		enter(blocks, holding);
		if (holding->kind == RVP_DEVICE_MEMORY_ARRAY)
			put_handle(blocks, holding);
		account(blocks, holding, holding->own_bytes);
		add_event(blocks, RVP_EVENT_RESTORED, moment, &holding->block, holding->block.bytes);
		return;
	}
	rvp_physical_restore(blocks, moment, address);
}

/* ---- tensors ---- */

/* Of the holdings that the tensor lies in; `by` is -1 where it goes. */
static void change_inside(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t process,
			  const struct rvp_block *tensor, int by)
{
	uint64_t end = tensor->address + tensor->bytes;
	const struct rvp_block *at = first_in(&blocks->drivers, process, tensor->address, end);

	for (; at && at->address < end;
	     at = rvp_live_index_next(&blocks->drivers, process, at->address + 1)) {
		struct rvp_holding *holding = &blocks->holdings[at->stream];
		uint64_t from = at->address > tensor->address ? at->address : tensor->address;
		uint64_t to = at->address + at->bytes < end ? at->address + at->bytes : end;
		uint64_t before = rvp_holding_counts(holding);
		uint64_t left = holding->inside_bytes > to - from ? holding->inside_bytes - (to - from) : 0;
		struct rvp_event *event;

		holding->block.flags |= RVP_BLOCK_SEGMENT;
		holding->inside_bytes = by < 0 ? left : holding->inside_bytes + (to - from);
		event = add_event(blocks, RVP_EVENT_RESIZED, moment, &holding->block,
				  rvp_holding_counts(holding));
		if (event)
			event->before_bytes = before;
	}
}

void rvp_tensor_born(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		     const struct rvp_record_DEVICE_TENSOR *record, uint32_t device)
{
	const struct rvp_new_holding birth = {.address = record->address,
					      .bytes = record->bytes,
					      .device = device,
					      .stack = record->stack,
					      .python = record->python};
	struct rvp_block block;

	end_tensors(blocks, moment, moment->process, record->address, record->address + record->bytes);
	if (!make_block(blocks, moment, &birth, &block))
		return;
	change_inside(blocks, moment, moment->process, &block, 1);
	tell_birth(blocks, moment, &block, block.bytes);
	blocks->no_memory |= !rvp_live_index_put(&blocks->tensors, moment->process, &block);
}

bool rvp_tensor_end(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint64_t address)
{
	const struct rvp_block *found = rvp_live_index_find(&blocks->tensors, moment->process, address);
	struct rvp_block tensor;

	if (!found || found->address != address)
		return false;
	tensor = *found;
	rvp_live_index_remove(&blocks->tensors, moment->process, address);
	add_event(blocks, RVP_EVENT_DIED, moment, &tensor, tensor.bytes);
	change_inside(blocks, moment, moment->process, &tensor, -1);
	return true;
}

/* ---- the end of a process ---- */

void rvp_holdings_forget(struct rvp_device_blocks *blocks, uint32_t process)
{
	rvp_live_index_clear(&blocks->drivers, process);
	rvp_live_index_clear(&blocks->tensors, process);
	rvp_block_table_free(&blocks->handles[process]);
	for (size_t i = 0; i < blocks->holding_count; i++)
		if (blocks->holdings[i].is_used && blocks->holdings[i].process == process) {
			account(blocks, &blocks->holdings[i], -blocks->holdings[i].own_bytes);
			give_place_back(blocks, &blocks->holdings[i]);
		}
	for (size_t i = 0; i < blocks->physical_count; i++)
		blocks->physicals[i].is_used &= blocks->physicals[i].process != process;
	for (size_t i = blocks->pool_count; i-- > 0;)
		if (blocks->pools[i].process == process)
			blocks->pools[i] = blocks->pools[--blocks->pool_count];
	for (size_t i = blocks->context_count; i-- > 0;)
		if (blocks->contexts[i].process == process)
			blocks->contexts[i] = blocks->contexts[--blocks->context_count];
	for (size_t i = blocks->told_count; i-- > 0;)
		if (blocks->told[i].process == process)
			blocks->told[i] = blocks->told[--blocks->told_count];
}
