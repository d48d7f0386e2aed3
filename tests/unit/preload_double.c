/* SPDX-License-Identifier: MIT */
#include "tests/unit/preload_double.h"

#include "preload/own.h"

#include <sys/mman.h>

struct rvp_process rvp_process;
_Atomic uint64_t double_lost[RVP_LOSS_COUNT];
_Atomic int double_maps_refused;
_Atomic int64_t double_mapped_bytes;
_Atomic unsigned double_maps;

void *rvp_own_map(size_t bytes)
{
	void *at = MAP_FAILED;

	if (!double_maps_refused)
		at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	double_mapped_bytes += (int64_t)bytes;
	double_maps++;
	return at;
}

void rvp_own_unmap(void *address, size_t bytes)
{
	double_mapped_bytes -= (int64_t)bytes;
	munmap(address, bytes);
}

void rvp_lose(enum rvp_loss reason, uint64_t count)
{
	atomic_fetch_add(&double_lost[reason], count);
}
