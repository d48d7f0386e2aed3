/* SPDX-License-Identifier: MIT */
/* memory.c: a device's addresses, pages and blocks; cuMemAlloc and its relatives, arrays, IPC. */
#include "cupti/abi.h"
#include "tests/fakes/driver.h"
#include "tests/fakes/engine.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { SPAN = 4, SMALL = 1 << 20, BUCKETS = 1 << 14, GRAIN = 512, PITCH = 512 };

static struct {
	uint64_t base, used;
	struct sim_space free, reservations;
	uint32_t *pages; /* how many blocks lie in each */
} devices[SIM_DEVICES];
static struct sim_block *buckets[BUCKETS];
static uint64_t allocations;

static uint64_t round_up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

/* Free ranges, sorted by address, neighbours joined. */
void sim_space_give(struct sim_space *space, uint64_t from, uint64_t bytes)
{
	struct sim_range **at = &space->first, *range;

	while (*at && (*at)->from + (*at)->bytes < from)
		at = &(*at)->next;
	range = *at;
	if (range && range->from + range->bytes == from) {
		range->bytes += bytes;
	} else if (range && from + bytes == range->from) {
		range->from = from;
		range->bytes += bytes;
	} else {
		range = malloc(sizeof *range);
		if (!range)
			abort();
		*range = (struct sim_range){from, bytes, *at};
		*at = range;
	}
	if (range->next && range->from + range->bytes == range->next->from) {
		struct sim_range *eaten = range->next;

		range->bytes += eaten->bytes;
		range->next = eaten->next;
		free(eaten);
	}
}

bool sim_space_take_at(struct sim_space *space, uint64_t from, uint64_t bytes)
{
	for (struct sim_range **at = &space->first; *at; at = &(*at)->next) {
		struct sim_range *range = *at, found = *range;

		if (from < found.from || from + bytes > found.from + found.bytes)
			continue;
		*at = found.next;
		free(range);
		if (from > found.from)
			sim_space_give(space, found.from, from - found.from);
		if (from + bytes < found.from + found.bytes)
			sim_space_give(space, from + bytes, found.from + found.bytes - from - bytes);
		return true;
	}
	return false;
}

uint64_t sim_space_take(struct sim_space *space, uint64_t bytes, uint64_t alignment)
{
	for (struct sim_range *range = space->first; range; range = range->next) {
		uint64_t from = round_up(range->from, alignment);

		if (from + bytes <= range->from + range->bytes) {
			sim_space_take_at(space, from, bytes);
			return from;
		}
	}
	return 0;
}

/* Addresses are real and nobody's: reading one by accident is a crash, not a wrong number. */
static void reserve_addresses(void)
{
	uint64_t bytes = sim_scenario()->memory_bytes * SPAN;

	for (uint64_t i = 0; i < sim_scenario()->devices; i++) {
		void *from = mmap(NULL, bytes * 2 + SIM_PAGE, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		devices[i].pages = calloc(bytes / SIM_PAGE + 1, sizeof *devices[i].pages);
		if (from == MAP_FAILED || !devices[i].pages)
			abort();
		devices[i].base = round_up((uint64_t)(uintptr_t)from, SIM_PAGE);
		sim_space_give(&devices[i].free, devices[i].base, bytes);
		sim_space_give(&devices[i].reservations, devices[i].base + bytes, bytes);
	}
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, reserve_addresses);
}

struct sim_space *sim_reservations(uint32_t device)
{
	prepare();
	return &devices[device].reservations;
}

uint64_t sim_memory_used(uint32_t device)
{
	return devices[device].used;
}

static bool has_room(uint32_t device, uint64_t bytes)
{
	return devices[device].used + bytes + sim_scenario()->others_bytes <= sim_scenario()->memory_bytes;
}

bool sim_memory_refuses(uint64_t bytes)
{
	const struct sim_scenario *scenario = sim_scenario();
	uint64_t number = __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);

	return number == scenario->oom_at || (scenario->oom_every && number % scenario->oom_every == 0) ||
	       (scenario->oom_above && bytes > scenario->oom_above);
}

CUresult sim_memory_charge(uint32_t device, uint64_t bytes)
{
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

	sim_lock();
	if (has_room(device, bytes)) {
		devices[device].used += bytes;
		result = CUDA_SUCCESS;
	}
	sim_unlock();
	return result;
}

void sim_memory_discharge(uint32_t device, uint64_t bytes)
{
	sim_lock();
	devices[device].used -= bytes;
	sim_unlock();
}

/* A page is used from its first block to its last. */
static void touch(uint32_t device, uint64_t from, uint64_t bytes, int change)
{
	uint64_t first = (from - devices[device].base) / SIM_PAGE,
		 last = (from + bytes - 1 - devices[device].base) / SIM_PAGE;

	for (uint64_t page = first; page <= last; page++) {
		if (change > 0 && devices[device].pages[page]++ == 0)
			devices[device].used += SIM_PAGE;
		if (change < 0 && --devices[device].pages[page] == 0)
			devices[device].used -= SIM_PAGE;
	}
}

CUresult sim_memory_take(uint32_t device, uint64_t bytes, uint64_t *address, uint64_t *held)
{
	CUresult result = CUDA_SUCCESS;

	prepare();
	*held = bytes < SMALL ? round_up(bytes, GRAIN) : round_up(bytes, SIM_PAGE);
	sim_lock();
	*address = sim_space_take(&devices[device].free, *held, bytes < SMALL ? GRAIN : SIM_PAGE);
	if (*address == 0) {
		result = CUDA_ERROR_OUT_OF_MEMORY;
	} else {
		touch(device, *address, *held, 1);
		if (!has_room(device, 0)) {
			touch(device, *address, *held, -1);
			sim_space_give(&devices[device].free, *address, *held);
			result = CUDA_ERROR_OUT_OF_MEMORY;
		}
	}
	sim_unlock();
	return result;
}

void sim_memory_give(uint32_t device, uint64_t address, uint64_t held)
{
	sim_lock();
	touch(device, address, held, -1);
	sim_space_give(&devices[device].free, address, held);
	sim_unlock();
}

static struct sim_block **bucket(uint64_t address)
{
	return &buckets[(address >> 9) * 0x9E3779B97F4A7C15ULL >> 50];
}

struct sim_block *sim_block_add(uint64_t address, uint64_t bytes, uint64_t held, enum sim_memory kind,
				uint32_t device)
{
	struct sim_block *block = malloc(sizeof *block);

	if (!block)
		abort();
	sim_lock();
	*block = (struct sim_block){address, bytes, held, kind, device, NULL, *bucket(address)};
	*bucket(address) = block;
	sim_unlock();
	return block;
}

struct sim_block *sim_block_at(uint64_t address)
{
	sim_lock();
	struct sim_block *block = *bucket(address);
	while (block && block->address != address)
		block = block->next;
	sim_unlock();
	return block;
}

/* The one with an address inside. Slow: all are looked at. */
struct sim_block *sim_block_holding(uint64_t address)
{
	struct sim_block *found = sim_block_at(address);

	sim_lock();
	for (unsigned int i = 0; !found && i < BUCKETS; i++)
		for (struct sim_block *block = buckets[i]; block && !found; block = block->next)
			if (address >= block->address && address < block->address + block->bytes)
				found = block;
	sim_unlock();
	return found;
}

struct sim_block *sim_block_remove(uint64_t address)
{
	struct sim_block *found = NULL;

	sim_lock();
	for (struct sim_block **at = bucket(address); *at; at = &(*at)->next)
		if ((*at)->address == address) {
			found = *at;
			*at = found->next;
			break;
		}
	sim_unlock();
	return found;
}

uint8_t sim_memory_kind(uint64_t address)
{
	static const uint8_t kinds[] = {
	    [SIM_PLAIN] = RVP_CUPTI_MEMORY_DEVICE,      [SIM_ORDERED] = RVP_CUPTI_MEMORY_DEVICE,
	    [SIM_MANAGED] = RVP_CUPTI_MEMORY_MANAGED,   [SIM_PINNED] = RVP_CUPTI_MEMORY_PINNED,
	    [SIM_REGISTERED] = RVP_CUPTI_MEMORY_PINNED, [SIM_ARRAY] = RVP_CUPTI_MEMORY_ARRAY,
	    [SIM_IMPORTED] = RVP_CUPTI_MEMORY_DEVICE};
	struct sim_block *block;

	for (uint64_t i = 0; i < sim_scenario()->devices; i++) /* mapped physical memory has no block */
		if (devices[i].base && address >= devices[i].base &&
		    address < devices[i].base + 2 * SPAN * sim_scenario()->memory_bytes)
			return RVP_CUPTI_MEMORY_DEVICE;
	block = sim_block_holding(address);
	return block ? kinds[block->kind] : RVP_CUPTI_MEMORY_PAGEABLE;
}

void sim_memory_tell(const struct sim_block *block, uint32_t operation, bool is_async, CUstream stream)
{
	CUcontext context = sim_current();
	struct sim_activity activity = {.kind = RVP_CUPTI_MEMORY2,
					.correlation = sim_correlation(),
					.device = block->device,
					.context = context ? context->number : 0,
					.stream = stream ? stream->number : UINT32_MAX,
					.start = sim_now()};

	activity.end = activity.start;
	activity.memory.address = block->address;
	activity.memory.bytes = block->bytes;
	activity.memory.operation = operation;
	activity.memory.is_async = is_async;
	activity.memory.kind = block->kind == SIM_MANAGED  ? RVP_CUPTI_MEMORY_MANAGED
			       : block->kind == SIM_PINNED ? RVP_CUPTI_MEMORY_PINNED
			       : block->kind == SIM_ARRAY  ? RVP_CUPTI_MEMORY_ARRAY
							   : RVP_CUPTI_MEMORY_DEVICE;
	if (block->pool) {
		activity.memory.pool = (uint64_t)(uintptr_t)block->pool;
		sim_pool_figures(block->pool, &activity.memory.pool_bytes, &activity.memory.pool_used,
				 &activity.memory.pool_keep);
	}
	sim_tell(&activity);
}

CUresult sim_may_allocate(uint64_t bytes, uint32_t *device)
{
	CUresult result = sim_ready();

	if (result != CUDA_SUCCESS)
		return result;
	if (!sim_current_device(device))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (bytes == 0)
		return CUDA_ERROR_INVALID_VALUE;
	return sim_memory_refuses(bytes) ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

static CUresult take_block(uint64_t bytes, enum sim_memory kind, struct sim_block **block)
{
	uint64_t address, held;
	uint32_t device;
	CUresult result = sim_may_allocate(bytes, &device);

	if (result == CUDA_SUCCESS)
		result = sim_memory_take(device, bytes, &address, &held);
	if (result != CUDA_SUCCESS)
		return result;
	*block = sim_block_add(address, bytes, held, kind, device);
	sim_memory_tell(*block, RVP_CUPTI_MEMORY_ALLOCATION, false, NULL);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemGetInfo_v2(size_t *available, size_t *total)
{
	uint32_t device;
	uint64_t taken;

	if (!sim_current_device(&device))
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_lock();
	taken = devices[device].used + sim_scenario()->others_bytes;
	sim_unlock();
	*total = sim_scenario()->memory_bytes;
	*available = *total - taken;
	return sim_ready();
}

CUresult sim_cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
	struct sim_block *block;
	CUresult result = take_block(bytes, SIM_PLAIN, &block);

	if (result == CUDA_SUCCESS)
		*address = block->address;
	return result;
}

CUresult sim_cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
				unsigned int element)
{
	(void)element;
	*pitch = round_up(width, PITCH);
	return sim_cuMemAlloc_v2(address, *pitch * height);
}

/* Also of blocks from pools, as the driver allows. */
CUresult sim_cuMemFree_v2(CUdeviceptr address)
{
	struct sim_block *block;

	if (address == 0)
		return CUDA_SUCCESS;
	block = sim_block_at(address);
	if (!block)
		return CUDA_ERROR_INVALID_VALUE;
	if (block->kind == SIM_ORDERED)
		return sim_cuMemFreeAsync(address, NULL);
	if (block->kind != SIM_PLAIN && block->kind != SIM_MANAGED)
		return CUDA_ERROR_INVALID_VALUE;
	sim_memory_tell(block, RVP_CUPTI_MEMORY_RELEASE, false, NULL);
	sim_block_remove(address);
	if (block->kind == SIM_MANAGED) {
		munmap((void *)(uintptr_t)address, block->held);
		sim_memory_discharge(block->device, block->held);
	} else {
		sim_memory_give(block->device, address, block->held);
	}
	free(block);
	return sim_ready();
}

static CUresult create_array(CUarray *array, uint64_t bytes)
{
	struct sim_block *block;
	CUresult result = take_block(bytes, SIM_ARRAY, &block);

	if (result == CUDA_SUCCESS)
		*array = (CUarray)(uintptr_t)block->address;
	return result;
}

/* Bytes of a channel: formats 1 and 8 have 8 bits, 2, 9 and 16 have 16, 3, 10 and 32 have 32. */
static uint64_t channel_bytes(unsigned int format)
{
	return format == 1 || format == 8 ? 1 : format == 2 || format == 9 || format == 16 ? 2 : 4;
}

CUresult sim_cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *shape)
{
	return create_array(array, shape->Width * (shape->Height ? shape->Height : 1) * shape->NumChannels *
				       channel_bytes(shape->Format));
}

CUresult sim_cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	return create_array(array, shape->Width * (shape->Height ? shape->Height : 1) *
				       (shape->Depth ? shape->Depth : 1) * shape->NumChannels *
				       channel_bytes(shape->Format));
}

CUresult sim_cuArrayDestroy(CUarray array)
{
	struct sim_block *block = sim_block_at((uint64_t)(uintptr_t)array);

	if (!block || block->kind != SIM_ARRAY)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_memory_tell(block, RVP_CUPTI_MEMORY_RELEASE, false, NULL);
	sim_block_remove(block->address);
	sim_memory_give(block->device, block->address, block->held);
	free(block);
	return CUDA_SUCCESS;
}

CUresult sim_cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *shape,
				    unsigned int levels)
{
	CUDA_ARRAY3D_DESCRIPTOR all = *shape;

	all.Width *= levels > 1 ? 2 : 1; /* more than the levels hold together */
	return sim_cuArray3DCreate_v2((CUarray *)(void *)array, &all);
}

CUresult sim_cuMipmappedArrayDestroy(CUmipmappedArray array)
{
	return sim_cuArrayDestroy((CUarray)array);
}

CUresult sim_cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address)
{
	struct sim_block *block = sim_block_at(address);

	if (!block)
		return CUDA_ERROR_INVALID_VALUE;
	memset(handle, 0, sizeof *handle);
	memcpy(handle->reserved, &block->bytes, sizeof block->bytes);
	return CUDA_SUCCESS;
}

/* Another process's memory gets an address here; it is none of ours. */
CUresult sim_cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags)
{
	uint64_t bytes, from;
	uint32_t device;

	(void)flags;
	if (!sim_current_device(&device))
		return CUDA_ERROR_INVALID_CONTEXT;
	prepare();
	memcpy(&bytes, handle.reserved, sizeof bytes);
	sim_lock();
	from = sim_space_take(&devices[device].reservations, round_up(bytes, SIM_PAGE), SIM_PAGE);
	sim_unlock();
	if (bytes == 0 || from == 0)
		return CUDA_ERROR_INVALID_HANDLE;
	sim_block_add(from, bytes, round_up(bytes, SIM_PAGE), SIM_IMPORTED, device);
	*address = from;
	return CUDA_SUCCESS;
}

CUresult sim_cuIpcCloseMemHandle(CUdeviceptr address)
{
	struct sim_block *block = sim_block_at(address);

	if (!block || block->kind != SIM_IMPORTED)
		return CUDA_ERROR_INVALID_VALUE;
	sim_block_remove(address);
	sim_lock();
	sim_space_give(&devices[block->device].reservations, address, block->held);
	sim_unlock();
	free(block);
	return CUDA_SUCCESS;
}

CUresult sim_cuPointerGetAttribute(void *data, unsigned int attribute, CUdeviceptr address)
{
	struct sim_block *block = sim_block_holding(address);

	if (!block)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == 2) /* memory type: 1 host, 2 device */
		*(unsigned int *)data = block->kind == SIM_PINNED || block->kind == SIM_REGISTERED ? 1 : 2;
	else if (attribute == 9) /* ordinal */
		*(int *)data = (int)block->device;
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}
