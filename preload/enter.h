/* SPDX-License-Identifier: MIT */
/* enter.h: the way into a hook and out of it. See thread.h for the phases and process.h for *rvp_alive. */
#ifndef RVP_ENTER_H
#define RVP_ENTER_H

#include "preload/process.h"

/* Not the usual case: first call of a thread, child by fork, before the constructor, or already inside. */
struct rvp_thread *rvp_enter_slow(void);

/* Turns events of signal handlers that ran inside this hook into records. */
void rvp_drain_deferred(struct rvp_thread *thread);

/* NULL: this call is not to be recorded as an event of its own (rvp_beside_* in recorder.h count it). */
static inline struct rvp_thread *rvp_enter(void)
{
	struct rvp_thread *thread = rvp_local.thread;

	if (__builtin_expect(thread && rvp_local.phase == RVP_OUTSIDE &&
				 atomic_load_explicit(rvp_alive, memory_order_relaxed),
			     1)) {
		rvp_local.phase = RVP_OURS;
		return thread;
	}
	return rvp_enter_slow();
}

static inline void rvp_leave(struct rvp_thread *thread)
{
	if (__builtin_expect(thread->slot != 0, 1) &&
	    __builtin_expect(atomic_load_explicit(&thread->slot->deferred_count, memory_order_relaxed) != 0, 0))
		rvp_drain_deferred(thread);
	rvp_local.phase = RVP_OUTSIDE;
}

#endif
