/* SPDX-License-Identifier: MIT */
/* walker.h: what a thread keeps of its walks, and the short way to a path that it met before, for hooks that have it
 * inline (full.h). walk.c has all other ways, and makes what this one finds.
 *
 *   (K1) easy_span is not 0 only while what is remembered is of the thread that has the walker, and then a walk from
 *        any stack pointer in [easy_low, easy_low + easy_span) has RVP_WALK_STACK_BYTES of stack below it, and stands on
 *        the thread's own stack, which can be read from there to stack_high. `generation` is compared at each walk.
 *   (K2) A thread that comes to a walker makes it 0 (rvp_walker_meet) before it goes this way.
 */
#ifndef RVP_WALKER_H
#define RVP_WALKER_H

#include "preload/python_frames.h"
#include "preload/unwind_rule.h"
#include "preload/unwind_shape.h"
#include "preload/walk.h"

struct rvp_walker {
	uint32_t tid;        /* whose stack the next two are of */
	uint32_t generation; /* that what is remembered is of; 0: nothing is */
	uint64_t stack_low, stack_high;
	uint64_t easy_low, easy_span;
	uint32_t epoch, era; /* further, of what is remembered (N4) */
	uint32_t misses;     /* walks since the last path that was known */
	uint32_t branches;   /* walks whose path was not known */
	struct rvp_memo memo;
	struct rvp_shapes shapes;
	struct rvp_python_walker python;
};

/* False: the thread has none. */
static inline bool rvp_walker_meet(struct rvp_thread *thread)
{
	struct rvp_walker *walker = thread->walker;

	if (walker)
		walker->easy_span = 0;
	return walker != NULL;
}

enum rvp_walk_known { RVP_WALK_KNOWN, RVP_WALK_NEW, RVP_WALK_ELSEWHERE };

/* The call path of a caller, for a thread that has a walker. NEW, ELSEWHERE: it is not known, and nothing happened; ask
 * rvp_walk_new, or, which can have any caller, rvp_event_path. */
static inline __attribute__((always_inline)) enum rvp_walk_known rvp_walk_known(struct rvp_thread *thread,
										struct rvp_caller caller,
										struct rvp_path *path)
{
	struct rvp_walker *walker = thread->walker;
	uint32_t generation = atomic_load_explicit(&rvp_rule_generation, memory_order_relaxed);
	const struct rvp_known_path *known;

	atomic_thread_fence(memory_order_acquire); /* a load that acquires takes an instruction more */
	if (__builtin_expect(caller.sp - walker->easy_low >= walker->easy_span || walker->generation != generation, 0))
		return RVP_WALK_ELSEWHERE;
	known = rvp_shapes_find(&walker->shapes, &walker->memo, caller, walker->stack_high);
	if (__builtin_expect(!known, 0))
		return RVP_WALK_NEW;
	walker->misses = 0;
	path->stack = known->number;
	path->python = __builtin_expect(rvp_python_current() != NULL, 0) ? rvp_walk_python(thread) : 0;
#ifdef RVP_CHECK_WALK
	rvp_check_walk(thread, caller, *path, known->depth);
#endif
	return RVP_WALK_KNOWN;
}

#endif
