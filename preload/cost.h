/* SPDX-License-Identifier: MIT */
/* cost.h: what the library's part of an alloc or free takes, timed on one event in RVP_COST_EVERY of each thread.
 *
 * A thread whose small blocks go the short way (quick.h) times one in RVP_COST_EVERY_LONG of those that go the long
 * way, and takes the others, which are shorter than a look at the clock, for RVP_COST_SHORT_TICKS each. So the sums are
 * of all events that the timed ones stand for, not of the timed ones alone.
 *
 * The distances are primes, so that no pattern of the program's (alloc, free, alloc, free) is met at one of its places
 * only. A thread that was put aside meanwhile did not work: one event counts with 60,000 ticks at the most. */
#ifndef RVP_COST_H
#define RVP_COST_H

#include "preload/process.h"
#include "preload/thread.h"

enum {
	RVP_COST_EVERY = 1021,
	RVP_COST_EVERY_LONG = 13,
	RVP_COST_SHORT_TICKS = 3, /* 1 ns at 3 GHz: bench/overhead's pairs with and without, no block sampled, halved */
	RVP_COST_SHORT_NS = 1,
};

/* 0: this event is not timed. */
static inline uint64_t rvp_cost_begin(struct rvp_thread *thread)
{
	if (__builtin_expect(++thread->cost_events < (rvp_local.is_quick ? RVP_COST_EVERY_LONG : RVP_COST_EVERY), 1))
		return 0;
	return rvp_stamp();
}

void rvp_cost_add(struct rvp_thread *thread, uint64_t begin_stamp);

static inline void rvp_cost_end(struct rvp_thread *thread, uint64_t begin_stamp)
{
	if (__builtin_expect(begin_stamp != 0, 0))
		rvp_cost_add(thread, begin_stamp);
}

/* The thread's short way opens. */
void rvp_cost_begin_short(struct rvp_thread *thread);

/* Emits EVENT_COST with the process's processor time so far, if any event was timed. */
void rvp_cost_emit(struct rvp_thread *thread, uint64_t stamp, uint64_t cpu_ns);

void rvp_cost_after_fork(void);

#endif
