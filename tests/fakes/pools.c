/* SPDX-License-Identifier: MIT */
/* pools.c: stream-ordered memory. A pool holds segments of 32 MiB and more and gives out pieces of them; what
 * is free above the threshold goes back at the next synchronisation, or by a trim. */
#include "cupti/abi.h"
#include "tests/fakes/driver.h"
#include "tests/fakes/engine.h"

#include <stdlib.h>

enum { SEGMENT = 32 << 20, PIECE = 256 };

struct segment {
	uint64_t address, bytes;
	struct segment *next;
};

struct CUmemPoolHandle_st {
	uint32_t device;
	uint64_t reserved, used, reserved_high, used_high, keep;
	struct sim_space free;
	struct segment *segments;
	struct CUmemPoolHandle_st *next;
};

static CUmemoryPool pools, defaults[SIM_DEVICES], chosen[SIM_DEVICES];

static void tell(CUmemoryPool pool, uint32_t operation, uint64_t trim_to)
{
	struct sim_activity activity = {.kind = RVP_CUPTI_MEMORY_POOL,
					.correlation = sim_correlation(),
					.device = pool->device,
					.start = sim_now()};

	activity.end = activity.start;
	activity.pool.address = (uint64_t)(uintptr_t)pool;
	activity.pool.bytes = pool->reserved;
	activity.pool.used = pool->used;
	activity.pool.keep = pool->keep;
	activity.pool.trim_to = trim_to;
	activity.pool.operation = operation;
	sim_tell(&activity);
}

void sim_pool_figures(CUmemoryPool pool, uint64_t *reserved, uint64_t *used, uint64_t *keep)
{
	*reserved = pool->reserved;
	*used = pool->used;
	*keep = pool->keep;
}

static CUmemoryPool make(uint32_t device)
{
	CUmemoryPool pool = calloc(1, sizeof *pool);

	if (!pool)
		abort();
	pool->device = device;
	sim_lock();
	pool->next = pools;
	pools = pool;
	sim_unlock();
	tell(pool, RVP_CUPTI_POOL_CREATED, 0);
	return pool;
}

static CUmemoryPool pool_of(uint32_t device)
{
	if (chosen[device])
		return chosen[device];
	if (!defaults[device])
		defaults[device] = make(device);
	return defaults[device];
}

static CUresult grow(CUmemoryPool pool, uint64_t bytes)
{
	struct segment *segment = malloc(sizeof *segment);
	CUresult result;

	if (!segment)
		abort();
	result = sim_memory_take(pool->device, bytes > SEGMENT ? bytes : SEGMENT, &segment->address,
				 &segment->bytes);
	if (result != CUDA_SUCCESS) {
		free(segment);
		return result;
	}
	sim_lock();
	segment->next = pool->segments;
	pool->segments = segment;
	pool->reserved += segment->bytes;
	if (pool->reserved > pool->reserved_high)
		pool->reserved_high = pool->reserved;
	sim_space_give(&pool->free, segment->address, segment->bytes);
	sim_unlock();
	return CUDA_SUCCESS;
}

static uint64_t take(CUmemoryPool pool, uint64_t held)
{
	sim_lock();
	uint64_t address = sim_space_take(&pool->free, held, PIECE);
	if (address) {
		pool->used += held;
		if (pool->used > pool->used_high)
			pool->used_high = pool->used;
	}
	sim_unlock();
	return address;
}

/* Gives wholly free segments back while more than `keep` is held. */
static uint64_t trim(CUmemoryPool pool, uint64_t keep)
{
	uint64_t given = 0;

	for (struct segment **at = &pool->segments; *at;) {
		struct segment *segment = *at;

		sim_lock();
		bool goes =
		    pool->reserved > keep && sim_space_take_at(&pool->free, segment->address, segment->bytes);
		if (goes)
			pool->reserved -= segment->bytes;
		sim_unlock();
		if (!goes) {
			at = &segment->next;
			continue;
		}
		*at = segment->next;
		given += segment->bytes;
		sim_memory_give(pool->device, segment->address, segment->bytes);
		free(segment);
	}
	return given;
}

void sim_pools_settle(uint32_t device)
{
	for (CUmemoryPool pool = pools; pool; pool = pool->next)
		if (pool->device == device && pool->reserved > pool->keep && pool->reserved > pool->used)
			trim(pool, pool->keep);
}

CUresult sim_cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream handle)
{
	CUstream stream = sim_stream(handle);
	uint64_t held = (bytes + PIECE - 1) / PIECE * PIECE, from;
	CUresult result = sim_ready();
	struct sim_block *block;

	if (result != CUDA_SUCCESS)
		return result;
	if (!stream || bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_memory_refuses(bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	from = take(pool, held);
	if (!from) {
		result = grow(pool, held);
		from = result == CUDA_SUCCESS ? take(pool, held) : 0;
	}
	if (!from)
		return CUDA_ERROR_OUT_OF_MEMORY;
	block = sim_block_add(from, bytes, held, SIM_ORDERED, pool->device);
	block->pool = pool;
	*address = from;
	sim_memory_tell(block, RVP_CUPTI_MEMORY_ALLOCATION, true, stream);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemAllocAsync(CUdeviceptr *address, size_t bytes, CUstream handle)
{
	CUstream stream = sim_stream(handle);

	if (!stream)
		return CUDA_ERROR_INVALID_CONTEXT;
	return sim_cuMemAllocFromPoolAsync(address, bytes, pool_of(stream->context->device), handle);
}

CUresult sim_cuMemFreeAsync(CUdeviceptr address, CUstream handle)
{
	struct sim_block *block = sim_block_at(address);
	CUstream stream = sim_stream(handle);

	if (!block || block->kind != SIM_ORDERED)
		return CUDA_ERROR_INVALID_VALUE;
	sim_memory_tell(block, RVP_CUPTI_MEMORY_RELEASE, true, stream);
	sim_block_remove(address);
	sim_lock();
	block->pool->used -= block->held;
	sim_space_give(&block->pool->free, address, block->held);
	sim_unlock();
	free(block);
	return sim_ready();
}

CUresult sim_cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
	if (device < 0 || (uint64_t)device >= sim_scenario()->devices)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!defaults[device])
		defaults[device] = make((uint32_t)device);
	*pool = defaults[device];
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
	if (device < 0 || (uint64_t)device >= sim_scenario()->devices)
		return CUDA_ERROR_INVALID_DEVICE;
	*pool = pool_of((uint32_t)device);
	return CUDA_SUCCESS;
}

CUresult sim_cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
	if (device < 0 || (uint64_t)device >= sim_scenario()->devices)
		return CUDA_ERROR_INVALID_DEVICE;
	chosen[device] = pool;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
	if (properties->location.id < 0 || (uint64_t)properties->location.id >= sim_scenario()->devices)
		return CUDA_ERROR_INVALID_VALUE;
	*pool = make((uint32_t)properties->location.id);
	return sim_ready();
}

CUresult sim_cuMemPoolDestroy(CUmemoryPool pool)
{
	if (pool->used != 0)
		return CUDA_ERROR_INVALID_VALUE; /* the driver would wait for the last free */
	trim(pool, 0);
	tell(pool, RVP_CUPTI_POOL_DESTROYED, 0);
	sim_lock();
	for (CUmemoryPool *at = &pools; *at; at = &(*at)->next)
		if (*at == pool) {
			*at = pool->next;
			break;
		}
	sim_unlock();
	free(pool);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	trim(pool, keep);
	tell(pool, RVP_CUPTI_POOL_TRIMMED, keep);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolGetAttribute(CUmemoryPool pool, unsigned int attribute, void *value)
{
	const uint64_t values[] = {[CU_MEMPOOL_ATTR_RELEASE_THRESHOLD] = pool->keep,
				   [CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT] = pool->reserved,
				   [CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH] = pool->reserved_high,
				   [CU_MEMPOOL_ATTR_USED_MEM_CURRENT] = pool->used,
				   [CU_MEMPOOL_ATTR_USED_MEM_HIGH] = pool->used_high};

	if (attribute < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD || attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH)
		return CUDA_ERROR_INVALID_VALUE;
	*(uint64_t *)value = values[attribute];
	return CUDA_SUCCESS;
}

CUresult sim_cuMemPoolSetAttribute(CUmemoryPool pool, unsigned int attribute, void *value)
{
	if (attribute != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		return CUDA_ERROR_INVALID_VALUE;
	pool->keep = *(uint64_t *)value;
	return CUDA_SUCCESS;
}
