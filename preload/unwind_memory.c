/* SPDX-License-Identifier: MIT */
/* unwind_memory.c: see unwind_memory.h. */
#include "preload/unwind_memory.h"

#include "preload/arch/x86_64/syscall.h"
#include "preload/arch/x86_64/unwind.h"
#include "preload/process.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

bool rvp_memory_probe(uint64_t address)
{
	if (atomic_load_explicit(&rvp_process.locked, memory_order_relaxed) ||
	    address < RVP_MEMORY_PAGE_BYTES || address >= RVP_ADDRESS_END)
		return false;
	return rvp_syscall6(SYS_rt_sigprocmask, -1, (long)(address & ~7ul), 0, 8, 0, 0) == -EINVAL;
}

static bool page_is_good(struct rvp_memory *memory, uint64_t address)
{
	uint64_t page = address / RVP_MEMORY_PAGE_BYTES,
		 *known = &memory->pages[page & (memory->page_count - 1)];

	if (*known == page && page)
		return true;
	if (!rvp_memory_probe(address))
		return false;
	*known = page;
	return true;
}

bool rvp_memory_word_elsewhere(struct rvp_memory *memory, uint64_t address, uint64_t *word)
{
	if (address & 7 || !page_is_good(memory, address))
		return false;
	*word = *(const uint64_t *)address;
	return true;
}

bool rvp_memory_is_readable(struct rvp_memory *memory, uint64_t address, uint64_t length)
{
	uint64_t end = address + length;

	if (end < address || end > RVP_ADDRESS_END)
		return false;
	if (address >= memory->low && end <= memory->high)
		return true;
	for (uint64_t at = address & ~(RVP_MEMORY_PAGE_BYTES - 1ul); at < end; at += RVP_MEMORY_PAGE_BYTES)
		if (!page_is_good(memory, at))
			return false;
	return true;
}

bool rvp_memory_bytes(struct rvp_memory *memory, uint64_t address, void *to, uint64_t length)
{
	if (!rvp_memory_is_readable(memory, address, length))
		return false;
	memcpy(to, (const void *)address, length);
	return true;
}
