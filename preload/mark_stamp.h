/* SPDX-License-Identifier: MIT */
/* mark_stamp.h: a record that somebody said (api.c, functions.c, rows.c), a scope, a step, a call: the way in, and its stamp. */
#ifndef RVP_MARK_STAMP_H
#define RVP_MARK_STAMP_H

#include "preload/enter.h"
#include "preload/events.h"
#include "preload/order.h"
#include "preload/own.h"
#include "preload/stamp.h"
#include "preload/thread.h"

/* As rvp_enter, and a record that there is no way in for is counted. */
static inline struct rvp_thread *rvp_enter_for_mark(void)
{
	struct rvp_thread *thread = rvp_enter();

	if (__builtin_expect(!thread, 0) && atomic_load(&rvp_process.state) == RVP_READY &&
	    atomic_load_explicit(rvp_alive, memory_order_relaxed))
		rvp_lose(rvp_local.phase == RVP_OUTSIDE ? RVP_LOSS_NO_BUFFER : RVP_LOSS_MARK_REENTRANT, 1);
	return thread;
}

/* `is_shared`: other threads' records may have to do with it, so it must not overtake them, if there ever was
 * another thread. What concerns this thread alone (scopes, operators, calls) is put in order by its place in
 * the thread's stream. */
static inline uint64_t rvp_mark_stamp(struct rvp_thread *thread, bool is_shared)
{
	uint64_t stamp;

	if (thread->slot && atomic_load_explicit(&thread->slot->deferred_count, memory_order_relaxed))
		return rvp_event_stamp(thread);
	is_shared = is_shared && atomic_load_explicit(&rvp_order.epoch, memory_order_relaxed) & 1;
	stamp = is_shared ? rvp_stamp() : rvp_stamp_unordered();
	if (stamp < thread->last_stamp)
		stamp = thread->last_stamp;
	thread->last_stamp = stamp;
	thread->order.stamp_at = 0;
	if (is_shared)
		rvp_order_mark();
	return stamp;
}

#endif
