/* SPDX-License-Identifier: MIT */
/* host_memory.c: memory that the host can read: pinned, registered and managed. Real pages. */
#include "cupti/abi.h"
#include "tests/fakes/driver.h"
#include "tests/fakes/engine.h"

#include <stdlib.h>
#include <sys/mman.h>

void *sim_host_pages(uint64_t bytes)
{
	void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

static CUresult allocate(void **address, uint64_t bytes, enum sim_memory kind, uint64_t page)
{
	uint64_t held = (bytes + page - 1) / page * page;
	uint32_t device;
	CUresult result = sim_may_allocate(bytes, &device);
	struct sim_block *block;

	if (result == CUDA_SUCCESS && kind == SIM_MANAGED)
		result = sim_memory_charge(device, held);
	if (result != CUDA_SUCCESS)
		return result;
	*address = sim_host_pages(held);
	if (!*address)
		return CUDA_ERROR_OUT_OF_MEMORY;
	block = sim_block_add((uint64_t)(uintptr_t)*address, bytes, held, kind, device);
	sim_memory_tell(block, RVP_CUPTI_MEMORY_ALLOCATION, false, NULL);
	return CUDA_SUCCESS;
}

CUresult sim_cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned int flags)
{
	void *at = NULL;
	CUresult result = allocate(&at, bytes, SIM_MANAGED, SIM_PAGE);

	(void)flags;
	if (result == CUDA_SUCCESS)
		*address = (uint64_t)(uintptr_t)at;
	return result;
}

CUresult sim_cuMemHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	(void)flags;
	return allocate(address, bytes, SIM_PINNED, 4096);
}

CUresult sim_cuMemAllocHost_v2(void **address, size_t bytes)
{
	return allocate(address, bytes, SIM_PINNED, 4096);
}

CUresult sim_cuMemFreeHost(void *address)
{
	struct sim_block *block = sim_block_at((uint64_t)(uintptr_t)address);

	if (!block || block->kind != SIM_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	sim_memory_tell(block, RVP_CUPTI_MEMORY_RELEASE, false, NULL);
	sim_block_remove(block->address);
	munmap(address, block->held);
	free(block);
	return sim_ready();
}

CUresult sim_cuMemHostRegister_v2(void *address, size_t bytes, unsigned int flags)
{
	uint32_t device;

	(void)flags;
	if (!sim_current_device(&device))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (sim_block_at((uint64_t)(uintptr_t)address))
		return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	sim_block_add((uint64_t)(uintptr_t)address, bytes, bytes, SIM_REGISTERED, device);
	return sim_ready();
}

CUresult sim_cuMemHostUnregister(void *address)
{
	struct sim_block *block = sim_block_at((uint64_t)(uintptr_t)address);

	if (!block || block->kind != SIM_REGISTERED)
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	free(sim_block_remove(block->address));
	return sim_ready();
}

CUresult sim_cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned int flags)
{
	(void)flags;
	if (!sim_block_holding((uint64_t)(uintptr_t)host))
		return CUDA_ERROR_INVALID_VALUE;
	*address = (uint64_t)(uintptr_t)host;
	return CUDA_SUCCESS;
}
