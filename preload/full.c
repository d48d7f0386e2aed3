/* SPDX-License-Identifier: MIT */
/* full.c: when a thread's short way of full mode opens. See full.h. */
#include "preload/full.h"

#include <errno.h>

static bool is_possible(void)
{
	return rvp_is_full_mode() && !rvp_process.options.writes && rvp_real.is_libcs &&
	       !rvp_real.is_shadowed && rvp_local.counters;
}

void rvp_full_learn(struct rvp_thread *thread, const void *block, uint64_t usable)
{
	if (__builtin_expect(rvp_local.full != NULL, 1) || !is_possible())
		return;
	if (rvp_word_is_confirmed(thread, block, usable)) {
		thread->errno_place = &errno;
		rvp_local.full = thread;
	}
}
