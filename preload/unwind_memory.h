/* SPDX-License-Identifier: MIT */
/* unwind_memory.h: reads of the program's memory that never fault.
 *
 * A walk reads its own stack between the stack pointer and the stack's end directly. Any other address is
 * asked of the kernel first: rt_sigprocmask with an impossible `how` copies eight bytes in and then refuses,
 * so that EFAULT means unreadable and EINVAL readable, nothing changes, and nearly every sandbox lets it
 * pass.
 *
 *   (M1) A word is read only inside [low, high) or on a page that answered within this view's life.
 *   (M2) When the process is locked in (seccomp) the kernel is not asked, and whatever is outside [low, high)
 * is unreadable.
 */
#ifndef RVP_UNWIND_MEMORY_H
#define RVP_UNWIND_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

enum { RVP_MEMORY_PAGES = 8, RVP_MEMORY_PAGE_BYTES = 4096 };

struct rvp_memory {
	uint64_t low, high;         /* read directly: the stack from where the walk stands */
	uint64_t own_low, own_high; /* all of the thread's own stack that is known to be there */
	uint64_t *pages;            /* numbers of readable pages, by their low bits; 0: none */
	uint64_t page_count;        /* a power of two */
};

/* Whether the 8 bytes at `address` (aligned to 8) can be read now. */
bool rvp_memory_probe(uint64_t address);

/* The word at `address` by way of the pages; false: misaligned or unreadable. */
bool rvp_memory_word_elsewhere(struct rvp_memory *memory, uint64_t address, uint64_t *word);

/* `length` bytes, of any alignment; false: not all readable, and `to` is not touched. */
bool rvp_memory_bytes(struct rvp_memory *memory, uint64_t address, void *to, uint64_t length);

/* Whether all of [address, address + length) can be read. */
bool rvp_memory_is_readable(struct rvp_memory *memory, uint64_t address, uint64_t length);

/* The same, inline where it lies on one page that is known. */
static inline bool rvp_memory_has(struct rvp_memory *memory, uint64_t address, uint64_t length)
{
	uint64_t page = address / RVP_MEMORY_PAGE_BYTES;

	if (page && memory->pages[page & (memory->page_count - 1)] == page &&
	    address % RVP_MEMORY_PAGE_BYTES + length <= RVP_MEMORY_PAGE_BYTES)
		return true;
	return rvp_memory_is_readable(memory, address, length);
}

/* The walk stands at `sp` now: on the thread's own stack it reads directly from there on, on another not at
 * all. */
static inline void rvp_memory_stand(struct rvp_memory *memory, uint64_t sp)
{
	bool is_own = sp >= memory->own_low && sp < memory->own_high;

	memory->low = is_own ? sp : 0;
	memory->high = is_own ? memory->own_high : 0;
}

static inline bool rvp_memory_word(struct rvp_memory *memory, uint64_t address, uint64_t *word)
{
	if (__builtin_expect(address >= memory->low && address < memory->high &&
				 memory->high - address >= 8 && !(address & 7),
			     1)) {
		*word = *(const uint64_t *)address;
		return true;
	}
	return rvp_memory_word_elsewhere(memory, address, word);
}

#endif
