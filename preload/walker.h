/* SPDX-License-Identifier: MIT */
/* walker.h: what a thread keeps of its walks, and the short way to a path that it met before, for hooks that have it
 * inline (full.h). walk.c has all other ways, and makes what this one finds.
 *
 *   (K1) easy_span is not 0 only while what is remembered is of the thread that has the walker, and then a walk from
 *        any stack pointer in [easy_low, easy_low + easy_span) has RVP_WALK_STACK_BYTES of stack below it, and stands on
 *        the thread's own stack, which can be read from there to stack_high. Then easy_key is the shapes' key, else one that
 *        no shape has: a shape of that key says by itself that its caller stands so, since what entered it did.
 *        `generation` is compared at each walk.
 *   (K2) A thread that comes to a walker closes it (rvp_walker_meet) before it goes this way.
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
	uint64_t easy_low, easy_span, easy_key;
	uint32_t epoch, era; /* further, of what is remembered (N4) */
	uint32_t misses;     /* walks since the last path that was known */
	uint32_t branches;   /* walks whose path was not known */
	struct rvp_memo memo;
	struct rvp_shapes shapes;
	struct rvp_straight_steps steps;
	struct rvp_python_walker python;
};

/* Nobody goes this way. */
static inline void rvp_walker_close(struct rvp_walker *walker)
{
	walker->easy_span = 0;
	walker->easy_key = ~walker->shapes.key;
}

/* False: the thread has none. */
static inline bool rvp_walker_meet(struct rvp_thread *thread)
{
	struct rvp_walker *walker = thread->walker;

	if (walker)
		rvp_walker_close(walker);
	return walker != NULL;
}

/* The native call path of a caller, for a thread that has a walker. NULL: it is not known, and nothing happened; where
 * rvp_walk_is_easy, ask rvp_walk_new, else, which can have any caller, rvp_event_path. */
static inline __attribute__((always_inline)) const struct rvp_known_path *rvp_walk_known(struct rvp_thread *thread,
											 struct rvp_caller caller)
{
	struct rvp_walker *walker = thread->walker;
	uint32_t generation = atomic_load_explicit(&rvp_rule_generation, memory_order_relaxed);
	const struct rvp_known_path *known;

	atomic_thread_fence(memory_order_acquire); /* a load that acquires takes an instruction more */
	if (__builtin_expect(walker->generation != generation, 0))
		return NULL;
	known = rvp_shapes_find_first(&walker->shapes, &walker->memo, caller, walker->easy_key);
	if (__builtin_expect(known != NULL, 1))
		walker->misses = 0;
	return known;
}

/* A build that checks itself (tests/unwind) has a referee look at each path. */
static inline __attribute__((always_inline)) void rvp_walk_check(struct rvp_thread *thread, struct rvp_caller caller,
								 struct rvp_path path, const struct rvp_known_path *known)
{
#ifdef RVP_CHECK_WALK
	rvp_check_walk(thread, caller, path, known->depth);
#else
	(void)thread, (void)caller, (void)path, (void)known;
#endif
}

static inline bool rvp_walk_is_easy(const struct rvp_thread *thread, struct rvp_caller caller)
{
	const struct rvp_walker *walker = thread->walker;

	return caller.sp - walker->easy_low < walker->easy_span &&
	       walker->generation == atomic_load_explicit(&rvp_rule_generation, memory_order_acquire);
}

#endif
