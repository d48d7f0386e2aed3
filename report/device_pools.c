/* SPDX-License-Identifier: MIT */
/* device_pools.c: see device_holdings.h: what the driver's pools (cudaMallocAsync) hold and have not given
 * out.
 *
 * Of a pool the driver says now and then what it holds; what is given out of it we count. The difference is a
 * block of its own, which moves with every block of the pool until the driver says something else. A pool
 * that gave out more than was said holds that. */
#include "report/device_holdings.h"

#include "report/grow.h"

static struct rvp_kept_pool *find(struct rvp_device_blocks *blocks, uint32_t process, uint64_t address)
{
	for (size_t i = 0; i < blocks->pool_count; i++)
		if (blocks->pools[i].process == process && blocks->pools[i].address == address)
			return &blocks->pools[i];
	return NULL;
}

static struct rvp_kept_pool *pool_of(struct rvp_device_blocks *blocks, uint32_t process, uint64_t address,
				     uint32_t device)
{
	struct rvp_kept_pool *pool = find(blocks, process, address);

	if (pool)
		return pool;
	if (!rvp_grow((void **)&blocks->pools, &blocks->pool_room, blocks->pool_count + 1,
		      sizeof *blocks->pools)) {
		blocks->no_memory = true;
		return NULL;
	}
	pool = &blocks->pools[blocks->pool_count++];
	*pool = (struct rvp_kept_pool){.address = address, .process = process, .device = device};
	return pool;
}

/* The block of what is kept has the bytes that it should have. */
static void settle(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		   struct rvp_kept_pool *pool)
{
	struct rvp_holding *holding = pool->holding ? &blocks->holdings[pool->holding - 1] : NULL;
	uint64_t kept;

	if (pool->reserved_bytes < pool->live_bytes)
		pool->reserved_bytes = pool->live_bytes;
	kept = pool->reserved_bytes - pool->live_bytes;
	if (holding) {
		rvp_holding_resize(blocks, moment, holding, kept);
		return;
	}
	if (!kept)
		return;
	holding = rvp_holding_new(blocks, moment,
				  &(struct rvp_new_holding){.address = pool->address,
							    .bytes = kept,
							    .device = pool->device,
							    .flags = RVP_BLOCK_POOL,
							    .kind = RVP_DEVICE_MEMORY_ORDERED});
	if (!holding)
		return;
	pool->holding = rvp_holding_number(blocks, holding) + 1;
	rvp_holding_born(blocks, moment, holding);
}

static void forget(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		   struct rvp_kept_pool *pool)
{
	if (pool->holding)
		rvp_holding_end(blocks, moment, &blocks->holdings[pool->holding - 1]);
	*pool = blocks->pools[--blocks->pool_count];
}

void rvp_pools_end(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t device)
{
	for (size_t i = blocks->pool_count; i-- > 0;)
		if (blocks->pools[i].process == moment->process && blocks->pools[i].device == device)
			forget(blocks, moment, &blocks->pools[i]);
}

void rvp_pool_take(struct rvp_device_blocks *blocks, const struct rvp_moment *moment, uint32_t device)
{
	const struct rvp_record_DEVICE_POOL *record = &moment->record->DEVICE_POOL;
	struct rvp_kept_pool *pool = pool_of(blocks, moment->process, record->pool, device);

	if (!pool)
		return;
	if (record->change == RVP_DEVICE_POOL_DESTROYED) {
		forget(blocks, moment, pool);
		return;
	}
	if (!record->reserved_bytes && record->change != RVP_DEVICE_POOL_TRIMMED &&
	    !(pool->is_told && !pool->live_bytes))
		return; /* not told; of an empty pool of which it was told before it holds nothing */
	pool->is_told = true;
	pool->reserved_bytes = record->reserved_bytes;
	settle(blocks, moment, pool);
}

void rvp_pool_moved(struct rvp_device_blocks *blocks, const struct rvp_moment *moment,
		    const struct rvp_holding *holding, int64_t bytes)
{
	struct rvp_kept_pool *pool;

	if (!holding->pool)
		return;
	/* A pool may go before its blocks do: what goes then was not in the sum of one at its address. */
	pool = bytes < 0 ? find(blocks, holding->process, holding->pool)
			 : pool_of(blocks, holding->process, holding->pool, rvp_block_device(&holding->block));
	if (!pool)
		return;
	if (bytes < 0 && pool->live_bytes < -(uint64_t)bytes)
		pool->live_bytes = 0;
	else
		pool->live_bytes += (uint64_t)bytes;
	if (pool->is_told)
		settle(blocks, moment, pool);
}
