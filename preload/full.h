/* SPDX-License-Identifier: MIT */
/* full.h: the short way of full mode: a malloc, calloc, realloc or free of a small block, whose event is recorded like
 * any other, without what only some events need.
 *
 * It goes from hook to record in one piece: phase, real function, counters, path (walker.h), record (events_plain.h),
 * phase. What is left out: asking libc for the size, which stands in front of the block; the places of those who follow
 * writes; pauses; and the looks at the clock, which the long way makes for all: every RVP_COST_EVERY-th event goes there.
 * What may change errno is a function of its own that keeps it: a path that is new, a stamp, a full slot.
 *
 * Invariants
 *   (W1) full_left > 0 only where quick.h's word in front of a block is known to be right for this thread's blocks, in
 *        full mode, writes are not followed, the thread has a slot, counters and a walker of its own (K2), and the
 *        processor has lzcnt. Then `full` is the thread. It is closed in a child by fork until the child learns anew.
 *   (W2) The counters, the record and their order are those of recorder.c.
 *   (W3) short_given - full_left events, of those that are no more in full_left, are not yet in cost_events; nor what they
 *        moved in moved_bytes: that is how far the counters are beyond short_moved.
 *   (W4) Events that a signal handler left inside a hook (rvp_event_defer) stay in the slot until the thread's next event,
 *        for which a stamp is due then, so that it goes another way than the plain one and finds them; or until its next
 *        hook of another kind. Whoever reads the buffers, takes over the thread or ends the process finds them too.
 */
#ifndef RVP_FULL_H
#define RVP_FULL_H

#include "preload/cost.h"

enum { RVP_FULL_BELOW_BYTES = 4096 };

/* A hook's call, which ends by one of these, as a jump; each goes on to the hook's long way where the short one is
 * closed or the block not small. */
void *rvp_full_malloc(size_t bytes);
void *rvp_full_calloc(size_t count, size_t each);
void *rvp_full_realloc(void *block, size_t bytes);
void rvp_full_free(void *block);

void *rvp_malloc_long_way(size_t bytes);
void *rvp_calloc_long_way(size_t count, size_t each);
void *rvp_realloc_long_way(void *block, size_t bytes);
void rvp_free_long_way(void *block);

/* Behind an alloc that went the long way: opens the thread's short way where that may be. */
void rvp_full_learn(struct rvp_thread *thread, const void *block, uint64_t usable);

/* In a child by fork, whose thread this is. */
void rvp_full_leave_parent(void);

/* Bytes that the thread's counters have given out and back. */
static inline uint64_t rvp_full_moved(void)
{
	const struct rvp_counters *counters = rvp_local.counters;

	return counters->alloc_bytes + counters->free_usable_bytes;
}

/* Events that went the short way since short_given was set: the one that finds 0 left goes the long way. */
static inline uint64_t rvp_full_gone(const struct rvp_thread *thread)
{
	if (rvp_local.full_left > 0)
		return (uint64_t)(thread->short_given - rvp_local.full_left);
	return thread->short_given > 0 ? (uint64_t)thread->short_given - 1 : 0;
}

/* Around an event that goes the long way: what went the short way since the last one is counted, and how many go from
 * here on. */
static inline void rvp_full_begin_long(struct rvp_thread *thread)
{
	if (rvp_local.full) {
		thread->moved_bytes += rvp_full_moved() - thread->short_moved;
		thread->cost_events += rvp_full_gone(thread);
		thread->short_given = rvp_local.full_left = 0;
	}
}

static inline void rvp_full_end_long(struct rvp_thread *thread)
{
	if (rvp_local.full) {
		thread->short_moved = rvp_full_moved();
		thread->short_given = rvp_local.full_left = (int64_t)(RVP_COST_EVERY - thread->cost_events);
	}
}

/* On the long way, at a look at the clock: the short way's events since the last one are no more left either. */
static inline void rvp_full_catch_up(struct rvp_thread *thread)
{
	uint64_t passed = rvp_local.full ? RVP_COST_EVERY : 0;

	thread->events_left -= passed < thread->events_left ? passed : thread->events_left;
}

#endif
