/* SPDX-License-Identifier: MIT */
/* device_memory.c: see device_memory.h. */
#include "cupti/device_memory.h"

#include "cupti/captures.h"
#include "cupti/follower.h"
#include "cupti/library.h"
#include "cupti/nvml.h"
#include "cupti/places.h"

#include <stdatomic.h>
#include <time.h>

enum { DEVICES_MAX = 128, POOLS_MAX = 64, MOVED_PARTS = 20 /* 5 % */, ASKING_MOMENTS = 100 };
static const uint64_t look_gap_ns = 100000000u, idle_gap_ns = 1000000000u;

static struct {
	_Atomic uint64_t moved_bytes, moves; /* since the last look; bytes given out, allocs and frees */
	_Atomic uint64_t total_bytes, looked_ns;
} devices[DEVICES_MAX];
static _Atomic(void *) pools[POOLS_MAX];
static uint32_t pool_device[POOLS_MAX];
static _Atomic int pool_asked[POOLS_MAX]; /* how many threads ask the driver of it just now */
static _Atomic uint32_t has_buffers;

void rvp_device_memory_tracer_has_buffers(void)
{
	atomic_store(&has_buffers, 1);
}

struct rvp_device_room rvp_device_memory_room(void)
{
	size_t free_bytes = 0, total_bytes = 0;

	if (!rvp_driver.cuMemGetInfo_v2 || rvp_is_capturing())
		return (struct rvp_device_room){0};
	rvp_recorder->begin_own();
	if (rvp_driver.cuMemGetInfo_v2(&free_bytes, &total_bytes) != RVP_CU_SUCCESS)
		free_bytes = total_bytes = 0;
	rvp_recorder->end_own();
	return (struct rvp_device_room){total_bytes, free_bytes};
}

/* ---- pools ---- */

static uint64_t pool_attribute(void *pool, int which)
{
	uint64_t value = 0;

	if (!rvp_driver.cuMemPoolGetAttribute || rvp_driver.cuMemPoolGetAttribute(pool, which, &value) != RVP_CU_SUCCESS)
		return 0;
	return value;
}

static void tell_pool(uint32_t device, void *pool, enum rvp_device_pool change)
{
	struct rvp_record record = {.kind = RVP_DEVICE_POOL};

	record.DEVICE_POOL = (struct rvp_record_DEVICE_POOL){.device = device, .pool = (uint64_t)pool, .change = change};
	if (change != RVP_DEVICE_POOL_DESTROYED) {
		rvp_recorder->begin_own();
		record.DEVICE_POOL.reserved_bytes = pool_attribute(pool, RVP_CU_POOL_RESERVED);
		record.DEVICE_POOL.used_bytes = pool_attribute(pool, RVP_CU_POOL_USED);
		record.DEVICE_POOL.keep_bytes = pool_attribute(pool, RVP_CU_POOL_KEEP);
		rvp_recorder->end_own();
	}
	rvp_recorder->write(&record, 1);
}

/* True: it is new. One that finds no place is not asked again. */
static bool remember(uint32_t device, void *pool)
{
	for (int i = 0; i < POOLS_MAX; i++) {
		void *there = NULL;

		if (atomic_compare_exchange_strong(&pools[i], &there, pool)) {
			pool_device[i] = device;
			return true;
		}
		if (there == pool)
			return false;
	}
	return false;
}

/* A pool that is about to go is not asked any more: who asks takes microseconds. Not for ever: the thread that asks may be put
 * aside, below this very call even. */
static void wait_for_asking(int number)
{
	static const struct timespec moment = {.tv_nsec = 100000};

	for (int i = 0; i < ASKING_MOMENTS && atomic_load(&pool_asked[number]); i++)
		nanosleep(&moment, NULL);
}

void rvp_device_memory_pool(uint32_t device, void *pool, enum rvp_device_pool change)
{
	bool is_new;

	if (!pool)
		return;
	if (change == RVP_DEVICE_POOL_DESTROYED) {
		for (int i = 0; i < POOLS_MAX; i++) {
			void *there = pool;

			if (!atomic_compare_exchange_strong(&pools[i], &there, NULL))
				continue;
			device = pool_device[i];
			wait_for_asking(i);
		}
		tell_pool(device, pool, change);
		return;
	}
	is_new = remember(device, pool);
	if (is_new || change != RVP_DEVICE_POOL_SEEN)
		tell_pool(device, pool, change);
}

static void look_at_pools(uint32_t device)
{
	for (int i = 0; i < POOLS_MAX; i++) {
		void *pool;

		atomic_fetch_add(&pool_asked[i], 1);
		pool = atomic_load(&pools[i]);
		if (pool && pool_device[i] == device)
			tell_pool(device, pool, RVP_DEVICE_POOL_SEEN);
		atomic_fetch_sub(&pool_asked[i], 1);
	}
}

/* ---- looks ---- */

static size_t tracer_attribute(uint32_t which)
{
	size_t value = 0, bytes = sizeof value;

	if (!rvp_cupti.ActivityGetAttribute || rvp_cupti.ActivityGetAttribute(which, &bytes, &value) != RVP_CUPTI_SUCCESS)
		return 0;
	return value;
}

/* What is allocated in advance for each context: less than there may be later. */
static uint64_t tracer_bytes(uint32_t device)
{
	struct rvp_place_context context;
	uint64_t count = 0;

	if (!atomic_load(&has_buffers))
		return 0;
	for (unsigned i = 0; rvp_places_context(i, &context); i++)
		count += context.device == device;
	return count * tracer_attribute(RVP_CUPTI_DEVICE_BUFFER_BYTES) * tracer_attribute(RVP_CUPTI_DEVICE_BUFFER_PREALLOCATE);
}

void rvp_device_memory_look(uint32_t device, enum rvp_device_occasion occasion)
{
	struct rvp_device_room room = rvp_device_memory_room();
	struct rvp_nvml_figures figures;
	uint64_t own;

	if (!room.total_bytes)
		return;
	if (device < DEVICES_MAX) {
		atomic_store(&devices[device].moved_bytes, 0);
		atomic_store(&devices[device].moves, 0);
		atomic_store(&devices[device].total_bytes, room.total_bytes);
		atomic_store(&devices[device].looked_ns, rvp_coarse_ns());
	}
	rvp_recorder->begin_own();
	own = tracer_bytes(device);
	figures = rvp_nvml_figures(device);
	rvp_recorder->end_own();
	RVP_TELL(DEVICE_MEMORY, .device = device, .total_bytes = room.total_bytes, .free_bytes = room.free_bytes,
		 .process_bytes = figures.process_bytes, .has_process = figures.has_process,
		 .others_bytes = figures.others_bytes, .tracer_bytes = own, .occasion = occasion);
	look_at_pools(device);
}

/* One context of each device is enough. */
static bool is_first_of_device(unsigned number, const struct rvp_place_context *context)
{
	struct rvp_place_context earlier;

	for (unsigned i = 0; i < number && rvp_places_context(i, &earlier); i++)
		if (earlier.device == context->device)
			return false;
	return true;
}

void rvp_device_memory_look_at_all(enum rvp_device_occasion occasion)
{
	struct rvp_place_context context;
	void *popped;

	if (!rvp_driver.cuCtxPushCurrent_v2 || !rvp_driver.cuCtxPopCurrent_v2)
		return;
	for (unsigned i = 0; rvp_places_context(i, &context); i++) {
		if (!is_first_of_device(i, &context) ||
		    rvp_driver.cuCtxPushCurrent_v2(context.context) != RVP_CU_SUCCESS)
			continue;
		rvp_device_memory_look(context.device, occasion);
		rvp_driver.cuCtxPopCurrent_v2(&popped);
	}
}

/* Whether the last look was so long ago. */
static bool is_old(uint32_t device, uint64_t ns)
{
	return rvp_coarse_ns() - atomic_load_explicit(&devices[device].looked_ns, memory_order_relaxed) >= ns;
}

void rvp_device_memory_moved(uint32_t device, uint64_t bytes)
{
	uint64_t moved, total;

	if (device >= DEVICES_MAX)
		return;
	atomic_fetch_add_explicit(&devices[device].moves, 1, memory_order_relaxed);
	moved = atomic_fetch_add_explicit(&devices[device].moved_bytes, bytes, memory_order_relaxed) + bytes;
	total = atomic_load_explicit(&devices[device].total_bytes, memory_order_relaxed);
	if (total && moved >= total / MOVED_PARTS && is_old(device, look_gap_ns))
		rvp_device_memory_look(device, RVP_DEVICE_OCCASION_MOVED);
}

void rvp_device_memory_now_and_then(uint32_t device)
{
	if (device < DEVICES_MAX && atomic_load_explicit(&devices[device].moves, memory_order_relaxed) &&
	    is_old(device, idle_gap_ns))
		rvp_device_memory_look(device, RVP_DEVICE_OCCASION_MOVED);
}
