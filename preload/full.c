/* SPDX-License-Identifier: MIT */
/* full.c: when a thread's short way of full mode opens. See full.h. */
#include "preload/full.h"

#include <errno.h>

enum { AGREED = 8 }; /* blocks of a thread whose size word says what malloc_usable_size says */

/* Some block's did not: the allocator is none that we know. */
static atomic_bool is_unknown;

static bool is_possible(void)
{
	return rvp_is_full_mode() && !rvp_process.options.writes && rvp_real.is_libcs &&
	       !rvp_real.is_shadowed && rvp_local.counters &&
	       !atomic_load_explicit(&is_unknown, memory_order_relaxed);
}

void rvp_full_learn(struct rvp_thread *thread, const void *block, uint64_t usable)
{
	uint64_t word;

	if (__builtin_expect(rvp_local.full != NULL, 1) || !is_possible())
		return;
	word = rvp_word_of(block);
	if (word & RVP_WORD_MAPPED)
		return;
	if (rvp_word_usable(word) != usable) {
		atomic_store(&is_unknown, true);
	} else if (++thread->agreed_count >= AGREED) {
		thread->errno_place = &errno;
		rvp_local.full = thread;
	}
}
