/* SPDX-License-Identifier: MIT */
/* virtual_memory.c: addresses and physical memory apart: reserve, create, map, unmap, release. */
#include "tests/fakes/driver.h"
#include "tests/fakes/engine.h"

#include <stdlib.h>

struct physical {
	uint64_t bytes;
	uint32_t device, users, maps; /* it lives while it has one */
	bool is_imported;
};
struct mapping {
	uint64_t from, bytes;
	struct physical *physical;
	struct mapping *next;
};

static struct mapping *mappings;

static struct physical *physical_of(CUmemGenericAllocationHandle handle)
{
	return (struct physical *)(uintptr_t)handle;
}

static void end_if_unused(struct physical *physical)
{
	if (physical->users || physical->maps)
		return;
	if (!physical->is_imported)
		sim_memory_discharge(physical->device, physical->bytes);
	free(physical);
}

CUresult sim_cuMemAddressReserve(CUdeviceptr *from, size_t bytes, size_t alignment, CUdeviceptr wish,
				 unsigned long long flags)
{
	uint32_t device = 0;
	struct sim_space *space;

	(void)wish, (void)flags;
	sim_current_device(&device);
	if (bytes == 0 || bytes % SIM_PAGE)
		return CUDA_ERROR_INVALID_VALUE;
	space = sim_reservations(device);
	sim_lock();
	*from = sim_space_take(space, bytes, alignment > SIM_PAGE ? alignment : SIM_PAGE);
	sim_unlock();
	return *from ? sim_ready() : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult sim_cuMemAddressFree(CUdeviceptr from, size_t bytes)
{
	uint32_t device = 0;
	struct sim_space *space;

	sim_current_device(&device);
	space = sim_reservations(device);
	sim_lock();
	sim_space_give(space, from, bytes);
	sim_unlock();
	return sim_ready();
}

CUresult sim_cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
			 const CUmemAllocationProp *properties, unsigned long long flags)
{
	struct physical *physical;
	CUresult result = sim_ready();

	(void)flags;
	if (result != CUDA_SUCCESS)
		return result;
	if (bytes == 0 || bytes % SIM_PAGE || properties->location.id < 0 ||
	    (uint64_t)properties->location.id >= sim_scenario()->devices)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_memory_refuses(bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = sim_memory_charge((uint32_t)properties->location.id, bytes);
	if (result != CUDA_SUCCESS)
		return result;
	physical = malloc(sizeof *physical);
	if (!physical)
		abort();
	*physical =
	    (struct physical){.bytes = bytes, .device = (uint32_t)properties->location.id, .users = 1};
	*handle = (uint64_t)(uintptr_t)physical;
	return CUDA_SUCCESS;
}

CUresult sim_cuMemRelease(CUmemGenericAllocationHandle handle)
{
	if (handle == 0 || physical_of(handle)->users == 0)
		return CUDA_ERROR_INVALID_VALUE;
	physical_of(handle)->users--;
	end_if_unused(physical_of(handle));
	return sim_ready();
}

CUresult sim_cuMemMap(CUdeviceptr from, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
		      unsigned long long flags)
{
	struct mapping *mapping;

	(void)flags;
	if (handle == 0 || offset + bytes > physical_of(handle)->bytes)
		return CUDA_ERROR_INVALID_VALUE;
	mapping = malloc(sizeof *mapping);
	if (!mapping)
		abort();
	sim_lock();
	*mapping = (struct mapping){from, bytes, physical_of(handle), mappings};
	mappings = mapping;
	physical_of(handle)->maps++;
	sim_unlock();
	return sim_ready();
}

/* All mappings within the range. */
CUresult sim_cuMemUnmap(CUdeviceptr from, size_t bytes)
{
	struct mapping *gone = NULL;

	sim_lock();
	for (struct mapping **at = &mappings; *at;) {
		struct mapping *mapping = *at;

		if (mapping->from < from || mapping->from + mapping->bytes > from + bytes) {
			at = &mapping->next;
			continue;
		}
		*at = mapping->next;
		mapping->next = gone;
		gone = mapping;
	}
	sim_unlock();
	if (!gone)
		return CUDA_ERROR_NOT_MAPPED;
	while (gone) {
		struct mapping *next = gone->next;

		gone->physical->maps--;
		end_if_unused(gone->physical);
		free(gone);
		gone = next;
	}
	return sim_ready();
}

CUresult sim_cuMemSetAccess(CUdeviceptr from, size_t bytes, const CUmemAccessDesc *access, size_t count)
{
	(void)from, (void)bytes, (void)access, (void)count;
	return sim_ready();
}

CUresult sim_cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *properties,
					   unsigned int option)
{
	(void)properties, (void)option;
	*granularity = SIM_PAGE;
	return sim_ready();
}

CUresult sim_cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
	uint64_t at = (uint64_t)(uintptr_t)address;
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	sim_lock();
	for (struct mapping *mapping = mappings; mapping; mapping = mapping->next)
		if (at >= mapping->from && at < mapping->from + mapping->bytes) {
			mapping->physical->users++;
			*handle = (uint64_t)(uintptr_t)mapping->physical;
			result = CUDA_SUCCESS;
		}
	sim_unlock();
	return result;
}

/* The handle that others get says how large the memory is. */
CUresult sim_cuMemExportToShareableHandle(void *shared, CUmemGenericAllocationHandle handle,
					  unsigned int type, unsigned long long flags)
{
	(void)type, (void)flags;
	if (handle == 0)
		return CUDA_ERROR_INVALID_VALUE;
	*(int *)shared = (int)(physical_of(handle)->bytes / SIM_PAGE);
	return sim_ready();
}

CUresult sim_cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shared,
					    unsigned int type)
{
	struct physical *physical = malloc(sizeof *physical);
	uint32_t device = 0;

	(void)type;
	if (!physical)
		abort();
	sim_current_device(&device);
	*physical = (struct physical){.bytes = (uint64_t)(uintptr_t)shared * SIM_PAGE,
				      .device = device,
				      .users = 1,
				      .is_imported = true};
	*handle = (uint64_t)(uintptr_t)physical;
	return sim_ready();
}
