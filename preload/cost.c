/* SPDX-License-Identifier: MIT */
/* cost.c: see cost.h. The reader turns ticks into time: here nobody knows how long one is. */
#include "preload/cost.h"

#include "preload/emit.h"

enum { MOST_TICKS = 60000 }; /* 12 to 60 microseconds; a flush is shorter */

static _Atomic uint64_t timed_count, timed_ticks;

static void add(uint64_t count, uint64_t ticks_each)
{
	atomic_fetch_add_explicit(&timed_ticks, count * ticks_each, memory_order_relaxed);
	atomic_fetch_add_explicit(&timed_count, count, memory_order_relaxed);
}

static uint64_t events_of_all(void)
{
	return rvp_local.counters->alloc_count + rvp_local.counters->free_count;
}

void rvp_cost_begin_short(struct rvp_thread *thread)
{
	thread->cost_events = 0;
	thread->cost_seen = events_of_all();
}

/* The events since the last that was timed but `long_ways` of them. */
static void add_short(struct rvp_thread *thread, uint64_t long_ways)
{
	uint64_t all = events_of_all(), since = all - thread->cost_seen;

	thread->cost_seen = all;
	if (since > long_ways)
		add(since - long_ways,
		    rvp_process.clock == RVP_CLOCK_TSC ? RVP_COST_SHORT_TICKS : RVP_COST_SHORT_NS);
}

void rvp_cost_add(struct rvp_thread *thread, uint64_t begin_stamp)
{
	uint64_t end = rvp_stamp(), ticks = end - begin_stamp, of_the_clock = rvp_stamp() - end;
	uint64_t count = thread->cost_events;

	/* Some events are no longer than a look at the clock. */
	ticks -= of_the_clock < ticks ? of_the_clock : ticks;
	thread->cost_events = 0;
	if (atomic_load_explicit(&rvp_process.locked, memory_order_relaxed))
		return;
	add(count, ticks < MOST_TICKS ? ticks : MOST_TICKS);
	if (rvp_local.is_quick)
		add_short(thread, count);
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
