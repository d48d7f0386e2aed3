/* SPDX-License-Identifier: MIT */
/* cost.c: see cost.h. The reader turns ticks into time: here nobody knows how long one is. */
#include "preload/cost.h"

#include "preload/emit.h"

enum { MOST_TICKS = 60000 }; /* 12 to 60 microseconds; a flush is shorter */

static _Atomic uint64_t timed_count, timed_ticks;

void rvp_cost_add(uint64_t begin_stamp)
{
	uint64_t end = rvp_stamp(), ticks = end - begin_stamp, of_the_clock = rvp_stamp() - end;

	/* In sampled mode most events are no longer than a look at the clock. */
	ticks -= of_the_clock < ticks ? of_the_clock : ticks;
	if (atomic_load_explicit(&rvp_process.locked, memory_order_relaxed))
		return;
	atomic_fetch_add_explicit(&timed_ticks, ticks < MOST_TICKS ? ticks : MOST_TICKS,
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&timed_count, 1, memory_order_relaxed);
}

void rvp_cost_emit(struct rvp_thread *thread, uint64_t stamp, uint64_t cpu_ns)
{
	uint64_t count = atomic_load_explicit(&timed_count, memory_order_relaxed);

	if (count)
		RVP_EMIT(thread, EVENT_COST, 0, .stamp = stamp, .timed_count = count,
			 .timed_ticks = atomic_load_explicit(&timed_ticks, memory_order_relaxed),
			 .cpu_ns = cpu_ns);
}

void rvp_cost_after_fork(void)
{
	atomic_store(&timed_count, 0);
	atomic_store(&timed_ticks, 0);
}
