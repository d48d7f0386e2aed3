/* SPDX-License-Identifier: MIT */
/* full.h: the short way of full mode: a malloc, calloc or free of a small block, whose event is recorded like
 * any other, without what only some events need.
 *
 * It goes from hook to record in one piece: phase, real function, counters, record (events.c), phase. What is
 * left out: asking libc for the size and for errno's place (one stands in front of the block, the other in
 * the thread's struct), the places of those who follow writes, pauses, and the looks at the clock, which the
 * long way makes for all: every RVP_COST_EVERY-th event goes there.
 *
 * Invariants
 *   (W1) `full` is set only where quick.h's word in front of a block is known to be right for this thread's
 * blocks, in full mode, and writes are not followed. It is NULL in a child by fork until the child learns
 * anew. (W2) The counters, the record and their order are those of recorder.c.
 */
#ifndef RVP_FULL_H
#define RVP_FULL_H

#include "preload/bootstrap.h"
#include "preload/cost.h"
#include "preload/count.h"
#include "preload/events.h"
#include "preload/pause.h"
#include "preload/quick.h"

enum { RVP_FULL_BELOW_BYTES = 4096 };

/* NULL: go the long way. */
static inline struct rvp_thread *rvp_full_enter(void)
{
	struct rvp_thread *thread = rvp_local.full;

	if (__builtin_expect(!thread || rvp_local.phase != RVP_OUTSIDE || !rvp_quick_is_alive() ||
				 thread->cost_events + 1 >= RVP_COST_EVERY || rvp_pause_matters(),
			     0))
		return NULL;
	thread->cost_events++;
	return thread;
}

static inline struct rvp_thread *rvp_full_enter_alloc(uint64_t bytes)
{
	struct rvp_thread *thread = bytes < RVP_FULL_BELOW_BYTES ? rvp_full_enter() : NULL;

	if (thread)
		rvp_local.phase = RVP_REAL;
	return thread;
}

static inline uint64_t rvp_full_usable(void *block)
{
	uint64_t word = rvp_word_of(block);

	return __builtin_expect(word & RVP_WORD_MAPPED, 0) ? rvp_real.malloc_usable_size(block)
							   : rvp_word_usable(word);
}

/* The end of a hook that entered by rvp_full_enter_alloc. */
static inline void *rvp_full_given(struct rvp_thread *thread, void *block, uint64_t bytes,
				   enum rvp_family family, struct rvp_caller caller)
{
	int error = *thread->errno_place;

	rvp_local.phase = RVP_OURS;
	if (__builtin_expect(block != NULL, 1)) {
		rvp_count_alloc(bytes, rvp_full_usable(block));
		thread->moved_bytes += bytes;
		rvp_event_alloc(thread, RVP_ALLOC, block, bytes, family, caller);
	}
	rvp_leave(thread);
	*thread->errno_place = error;
	return block;
}

/* A whole free. False: go the long way. */
static inline bool rvp_full_free(void *block)
{
	struct rvp_thread *thread;
	uint64_t word;
	int error;

	if (!rvp_local.full || !block || rvp_bootstrap_owns(block))
		return false;
	word = rvp_word_of(block);
	if (word & RVP_WORD_MAPPED || rvp_word_usable(word) >= RVP_FULL_BELOW_BYTES ||
	    !(thread = rvp_full_enter()))
		return false;
	error = *thread->errno_place;
	rvp_local.phase = RVP_OURS;
	rvp_count_free(rvp_word_usable(word));
	thread->moved_bytes += rvp_word_usable(word);
	rvp_event_free(thread, block, rvp_word_usable(word), RVP_FAMILY_FREE);
	*thread->errno_place = error;
	rvp_local.phase = RVP_REAL;
	rvp_real.free(block);
	rvp_local.phase = RVP_OURS;
	error = *thread->errno_place;
	rvp_leave(thread);
	*thread->errno_place = error;
	return true;
}

/* Behind an alloc that went the long way: opens the thread's short way where that may be. */
void rvp_full_learn(struct rvp_thread *thread, const void *block, uint64_t usable);

/* On the long way: what the short way left for it since the last one. */
static inline void rvp_full_catch_up(struct rvp_thread *thread)
{
	uint64_t passed = rvp_local.full ? RVP_COST_EVERY : 0;

	thread->events_left -= passed < thread->events_left ? passed : thread->events_left;
}

#endif
