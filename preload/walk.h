/* SPDX-License-Identifier: MIT */
/* walk.h: from where a hook was called to the numbers of its call paths. The interface of every unwinder.
 *
 * A walk reads the stack, finds or makes the nodes of the process's call-path tree, and emits NODE, CODE,
 * PYTHON_NODE and MODULE_LOAD records for what is new BEFORE any other thread can use their numbers, so that a
 * record never names a node that no log defines.
 */
#ifndef RVP_WALK_H
#define RVP_WALK_H

#include "preload/thread.h"

struct rvp_path {
	uint32_t stack;  /* native node; 0: none */
	uint32_t python; /* Python node; 0: none */
};

/* Once, from the constructor, single-threaded; may take its time (a millisecond), no dlopen. */
void rvp_walk_start(bool python);

/* The call path of the hook's caller. Called in phase OURS with RVP_WALK_STACK_BYTES of stack left (stack_room.h). On a
 * stack that is not the thread's own (coroutine, alternate signal stack) it walks whole with checked reads. Never
 * allocates by libc, never locks, never touches errno. */
struct rvp_path rvp_walk(struct rvp_thread *thread, struct rvp_caller caller);

/* The same behind a rvp_walk_known (walker.h) that knows nothing, where rvp_walk_is_easy. */
struct rvp_path rvp_walk_new(struct rvp_thread *thread, struct rvp_caller caller);

/* The Python part of it alone, for a thread that walked before. */
uint32_t rvp_walk_python(struct rvp_thread *thread);

/* A child by fork has logs of its own: all nodes, codes and modules are to be emitted again. Called with the child
 * single-threaded. */
void rvp_walk_after_fork(void);

/* dlclose, __deregister_frame: before the real call: what is known of code may be wrong from here on. */
void rvp_walk_forget_code(void);

/* After the real dlclose: emits MODULE_UNLOAD for what is gone. */
void rvp_walk_modules_changed(struct rvp_thread *thread);

#ifdef RVP_CHECK_WALK
/* For tests alone: called at the end of every walk, with what it gives. The path's NODE records were emitted before. */
void rvp_check_walk(struct rvp_thread *thread, struct rvp_caller caller, struct rvp_path path,
		    uint32_t native_frame_count);
/* A NODE record was emitted, and nobody has its number yet. `frame` is one of unwind.h. */
void rvp_check_node(uint32_t number, uint32_t parent, uint64_t frame);
#endif

#endif
