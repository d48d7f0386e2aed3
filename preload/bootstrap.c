/* SPDX-License-Identifier: MIT */
/* bootstrap.c: see bootstrap.h.
 *
 * In front of each block stand 16 bytes: its size, and the flag of a block that is mapped by itself (quick.h), so that
 * no such block goes the short way. `used` moves by compare-and-swap, so threads and signal
 * handlers may meet here.
 *
 * Invariants
 *   (B1) Blocks do not overlap and lie wholly in the arena.
 *   (B2) Memory is handed out once and was never written before: it is zero.
 */
#include "preload/bootstrap.h"

#include "preload/quick.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { HEAD_BYTES = 16 };

static _Alignas(4096) unsigned char arena[RVP_BOOTSTRAP_BYTES];
static atomic_size_t used;

void *rvp_bootstrap_alloc(size_t alignment, size_t bytes)
{
	const uint64_t mapped = RVP_WORD_MAPPED;
	size_t from = atomic_load(&used), begin;

	if (alignment & (alignment - 1)) {
		errno = EINVAL;
		return NULL;
	}
	if (alignment < HEAD_BYTES)
		alignment = HEAD_BYTES;
	do {
		/* No wrap: `from` is below the arena's size, `alignment` at most half of size_t's range. */
		begin = (from + HEAD_BYTES + alignment - 1) & ~(alignment - 1);
		if (begin > sizeof arena || bytes > sizeof arena - begin) {
			errno = ENOMEM;
			return NULL;
		}
	} while (!atomic_compare_exchange_weak(&used, &from, begin + bytes));
	memcpy(arena + begin - HEAD_BYTES, &bytes, sizeof bytes);
	memcpy(arena + begin - sizeof mapped, &mapped, sizeof mapped);
	return arena + begin;
}

bool rvp_bootstrap_owns(const void *block)
{
	uintptr_t at = (uintptr_t)block, low = (uintptr_t)arena;

	return at >= low && at < low + sizeof arena;
}

size_t rvp_bootstrap_size(const void *block)
{
	size_t bytes;

	memcpy(&bytes, (const unsigned char *)block - HEAD_BYTES, sizeof bytes);
	return bytes;
}
