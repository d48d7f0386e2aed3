/* SPDX-License-Identifier: MIT */
/* cost.h: what the library's part of an alloc or free takes, timed on one event in RVP_COST_EVERY of each
 * thread.
 *
 * The distance is a prime, so that no pattern of the program's (alloc, free, alloc, free) is met at one of
 * its places only. A thread that was put aside meanwhile did not work: one event counts with 60,000 ticks at
 * the most. */
#ifndef RVP_COST_H
#define RVP_COST_H

#include "preload/process.h"
#include "preload/thread.h"

enum { RVP_COST_EVERY = 1021 };

/* 0: this event is not timed. */
static inline uint64_t rvp_cost_begin(struct rvp_thread *thread)
{
	if (__builtin_expect(++thread->cost_events < RVP_COST_EVERY, 1))
		return 0;
	thread->cost_events = 0;
	return rvp_stamp();
}

void rvp_cost_add(uint64_t begin_stamp);

static inline void rvp_cost_end(uint64_t begin_stamp)
{
	if (__builtin_expect(begin_stamp != 0, 0))
		rvp_cost_add(begin_stamp);
}

/* Emits EVENT_COST with the process's processor time so far, if any event was timed. */
void rvp_cost_emit(struct rvp_thread *thread, uint64_t stamp, uint64_t cpu_ns);

void rvp_cost_after_fork(void);

#endif
