/* SPDX-License-Identifier: MIT */
/* own.c: see own.h. */
#include "preload/own.h"

#include "preload/process.h"
#include "preload/sys.h"

#include <sys/mman.h>

static _Atomic uint64_t own_bytes;

/* Where it is, for the ledger: what finds no place here is in own_bytes alone. `taken` goes first, `address` last. */
static struct {
	_Atomic uint32_t taken;
	_Atomic uint64_t bytes, address;
} ranges[RVP_OWN_RANGES_MAX];

static void note(uint64_t address, uint64_t bytes)
{
	for (unsigned i = 0; i < RVP_OWN_RANGES_MAX; i++) {
		uint32_t no = 0;

		if (atomic_load_explicit(&ranges[i].taken, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&ranges[i].taken, &no, 1))
			continue;
		atomic_store(&ranges[i].bytes, bytes);
		atomic_store(&ranges[i].address, address);
		return;
	}
}

static void forget(uint64_t address)
{
	for (unsigned i = 0; i < RVP_OWN_RANGES_MAX; i++) {
		if (atomic_load_explicit(&ranges[i].address, memory_order_relaxed) != address)
			continue;
		atomic_store(&ranges[i].address, 0);
		atomic_store(&ranges[i].taken, 0);
		return;
	}
}

bool rvp_own_range(unsigned number, uint64_t *address, uint64_t *bytes)
{
	*address = atomic_load(&ranges[number].address);
	*bytes = atomic_load(&ranges[number].bytes);
	return *address != 0;
}

static size_t whole_pages(size_t bytes)
{
	return (bytes + 4095) & ~(size_t)4095;
}

void *rvp_own_map(size_t bytes)
{
	if (atomic_load_explicit(&rvp_process.locked, memory_order_relaxed))
		return NULL;

	long at = rvp_sys_mmap(NULL, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at < 0 && at > -4096)
		return NULL;
	atomic_fetch_add_explicit(&own_bytes, whole_pages(bytes), memory_order_relaxed);
	note((uint64_t)at, whole_pages(bytes));
	return (void *)at;
}

void rvp_own_unmap(void *address, size_t bytes)
{
	if (atomic_load_explicit(&rvp_process.locked, memory_order_relaxed))
		return;
	forget((uint64_t)address);
	rvp_sys_munmap(address, whole_pages(bytes));
	atomic_fetch_sub_explicit(&own_bytes, whole_pages(bytes), memory_order_relaxed);
}

uint64_t rvp_own_bytes(void)
{
	return atomic_load_explicit(&own_bytes, memory_order_relaxed);
}

void rvp_lose(enum rvp_loss reason, uint64_t count)
{
	struct rvp_buffers *buffers = rvp_process.buffers;
	struct rvp_tree *tree = rvp_process.tree;
	_Atomic uint64_t *place = buffers ? &buffers->loss[reason] : tree ? &tree->loss[reason] : &rvp_process.loss[reason];

	atomic_fetch_add_explicit(place, count, memory_order_relaxed);
}
