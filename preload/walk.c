/* SPDX-License-Identifier: MIT */
/* walk.c: see walk.h. A path that the thread met before is found by its words (unwind_shape.h); else the stack is
 * unwound up to where it is as it was (unwind_memo.h); a stack that is not the thread's own, or that has an odd frame,
 * whole (unwind.h).
 *
 *   (W1) What a thread remembers holds for one epoch (a fork starts another), one era of modules, one generation of code,
 *        and one thread: a struct rvp_thread passes on to others.
 *   (W2) A path that is found takes at most 256 bytes of stack below rvp_walk's caller (Python's another 256), a walk at
 *        most 3 KiB, but for the flush of a full slot.
 */
#include "preload/walk.h"

#include "preload/emit.h"
#include "preload/modules.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/unwind.h"
#include "preload/walker.h"

#include <string.h>

/* After so many walks in a row whose path was not known, only every COLD_EVERY-th is looked up and entered. */
enum { REACH_PAGES_MAX = 1024, MISSES_COLD = 64, COLD_EVERY = 8, REMEMBER_EVERY = 3 };

/* From a hook's caller to where it is asked whether there is room on the stack. */
enum { ASKED_BELOW_BYTES = 1024 };

static bool emit_node(struct rvp_thread *thread, uint32_t number, uint32_t parent, uint64_t frame,
		      void *context)
{
	(void)context;
	if (!RVP_EMIT(thread, NODE, 0, .node = number, .parent = parent, .pc = rvp_frame_pc(frame),
		      .exact = rvp_frame_is_exact(frame)))
		return false;
	if (rvp_process.buffers)
		atomic_fetch_add_explicit(&rvp_process.buffers->node_count, 1, memory_order_relaxed);
#ifdef RVP_CHECK_WALK
	rvp_check_node(number, parent, frame);
#endif
	return true;
}

/* The last table: 2 MiB, 163,840 paths. `import torch` makes 2.2 million and seldom comes back to one: so
 * many places as these are enough to give but 1 in 10,000 of them a second number. */
static struct rvp_path_tree tree = {.emit = emit_node, .last_sets = 1 << 14};
static _Atomic uint64_t epoch = 1;

void rvp_walk_start(bool python)
{
	rvp_modules_start();
	rvp_rules_start();
	rvp_python_start(python);
}

static struct rvp_walker *walker_of(struct rvp_thread *thread)
{
	struct rvp_walker *walker = thread->walker;

	if (!walker)
		walker = thread->walker = rvp_own_map(sizeof *walker);
	return walker;
}

/* What is known of the stack is of another thread's, or of nobody's. */
static void meet_thread(struct rvp_walker *walker, const struct rvp_thread *thread)
{
	bool is_main = thread->stack_high && thread->stack_high == rvp_process.main_stack_high;

	walker->tid = thread->tid;
	walker->generation = 0;
	rvp_walker_close(walker);
	walker->stack_high = thread->stack_high;
	walker->stack_low = is_main ? thread->stack_low : thread->stack_high;
}

/* Makes what is known of a thread's stack reach down to `sp`, page by page, up to the first that cannot be
 * read: below it lies another stack. Once for each page that the thread comes to use. */
static void reach_down(struct rvp_walker *walker, uint64_t sp)
{
	for (int i = 0; i < REACH_PAGES_MAX && sp < walker->stack_low; i++) {
		uint64_t page = (walker->stack_low - 1) & ~(RVP_MEMORY_PAGE_BYTES - 1ul);

		if (!rvp_memory_probe(page))
			return;
		walker->stack_low = page;
	}
}

/* What of the stack can be read directly. The main thread's grows when it is read, and nothing else lies
 * within its bounds; any other thread's bounds are a guess that other stacks may lie within. */
static void look_at_stack(struct rvp_walker *walker, const struct rvp_thread *thread, uint64_t sp,
			  struct rvp_memory *memory)
{
	if (walker->tid != thread->tid || walker->stack_high != thread->stack_high)
		meet_thread(walker, thread);
	if (sp < walker->stack_low && thread->stack_high != rvp_process.main_stack_high)
		reach_down(walker, sp);
	memory->own_low = walker->stack_low;
	memory->own_high = walker->stack_high;
	rvp_memory_stand(memory, sp);
}

/* Any stack, and nothing remembered. */
static __attribute__((noinline)) uint32_t walk_whole(struct rvp_thread *thread, struct rvp_caller caller,
						     struct rvp_memory *memory, uint32_t *count)
{
	rvp_unwind(thread, caller, memory, count);
	return rvp_path_tree_frames(&tree, thread, *count, rvp_modules_era());
}

/* Whether what is remembered can be used and added to. Nothing is from before a change. */
static bool is_current(struct rvp_walker *walker, uint32_t generation)
{
	uint32_t now = (uint32_t)atomic_load_explicit(&epoch, memory_order_relaxed), era = rvp_modules_era();
	uint64_t key = rvp_path_below((uint64_t)now << 32 | era, (uint64_t)generation << 32 | walker->tid);

	if (walker->generation == generation && walker->epoch == now && walker->era == era)
		return true;
	walker->generation = 0;
	rvp_memo_forget(&walker->memo);
	if (!rvp_shapes_start(&walker->shapes, rvp_path_below(key, walker->stack_high)))
		return false;
	walker->epoch = now;
	walker->era = era;
	walker->generation = generation;
	return true;
}

/* Whether the caller stands on the thread's own stack, and what is remembered is of that and of the code as it is. */
static inline bool can_be_known(const struct rvp_walker *walker, const struct rvp_thread *thread, uint64_t sp,
				uint32_t generation)
{
	return walker->generation == generation && walker->tid == thread->tid &&
	       walker->stack_high == thread->stack_high && sp >= walker->stack_low && sp < walker->stack_high;
}

/* Which callers go the short way from here on: what is remembered is current, and of this thread. */
static void ease(struct rvp_walker *walker, const struct rvp_thread *thread)
{
	uint64_t low = thread->stack_low + RVP_WALK_STACK_BYTES + ASKED_BELOW_BYTES;

	low = low > walker->stack_low ? low : walker->stack_low;
	walker->easy_low = low;
	if (low < walker->stack_high && walker->misses < MISSES_COLD) {
		walker->easy_span = walker->stack_high - low;
		walker->easy_key = walker->shapes.key;
	} else {
		rvp_walker_close(walker);
	}
}

/* The path of a walk that comes after many whose path was not known; NULL: not known, or not looked up. */
static const struct rvp_known_path *known_after_all(struct rvp_walker *walker, const struct rvp_thread *thread,
						    struct rvp_caller caller, uint32_t generation)
{
	if (walker->misses < MISSES_COLD || walker->misses % COLD_EVERY != COLD_EVERY - 1 ||
	    !can_be_known(walker, thread, caller.sp, generation))
		return NULL;
	return rvp_shapes_find(&walker->shapes, &walker->memo, caller);
}

/* Whether this walk, whose path is not known, is one to look up (again) and to enter. */
static bool is_worth_it(struct rvp_walker *walker)
{
	walker->misses++;
	if (walker->misses == MISSES_COLD)
		rvp_walker_close(walker);
	return walker->misses < MISSES_COLD || walker->misses % COLD_EVERY == 0;
}

static uint32_t walk_by_memo(struct rvp_thread *thread, struct rvp_walker *walker, struct rvp_caller caller,
			     struct rvp_memory *memory, uint32_t *count)
{
	struct rvp_memo *memo = &walker->memo;
	uint32_t number;
	enum rvp_unwound how = rvp_memo_walk(memo, thread, caller, memory, &tree, walker->era, &number);

	if (how == RVP_UNWOUND_ODD) {
		look_at_stack(walker, thread, caller.sp, memory);
		return walk_whole(thread, caller, memory, count);
	}
	*count = memo->depth;
	if (how == RVP_UNWOUND_CUT)
		rvp_lose(RVP_LOSS_STACK_CUT, 1);
	else if (number && memo->frame_count == memo->depth && is_worth_it(walker))
		rvp_shapes_enter(&walker->shapes, memo, caller, number);
	return number;
}

static __attribute__((noinline)) uint32_t walk_anew(struct rvp_thread *thread, struct rvp_walker *walker,
						    struct rvp_caller caller, uint32_t generation, uint32_t *count)
{
	uint64_t pages[RVP_MEMORY_PAGES] = {0};
	struct rvp_memory memory = {.pages = pages, .page_count = RVP_MEMORY_PAGES};

	look_at_stack(walker, thread, caller.sp, &memory);
	if (!memory.high || !is_current(walker, generation))
		return walk_whole(thread, caller, &memory, count);
	ease(walker, thread);
	return walk_by_memo(thread, walker, caller, &memory, count);
}

/* The number of a path near the last one that was remembered, for most of those that are not known: remembering each
 * costs more than it brings where they are too many. 0: none, or it is this one's turn to be remembered. */
static uint32_t branch(struct rvp_walker *walker, const struct rvp_thread *thread, struct rvp_caller caller,
		       uint32_t generation, uint32_t *count)
{
	if (++walker->branches % REMEMBER_EVERY == 0 || !can_be_known(walker, thread, caller.sp, generation) ||
	    walker->era != rvp_modules_era())
		return 0;
	return rvp_memo_branch(&walker->memo, caller, walker->stack_high, generation, &tree, count);
}

static __attribute__((noinline)) uint32_t walk_slowly(struct rvp_thread *thread, struct rvp_walker *walker,
						      struct rvp_caller caller, uint32_t generation,
						      uint32_t *count)
{
	const struct rvp_known_path *path = known_after_all(walker, thread, caller, generation);
	uint32_t number;

	if (path) {
		walker->misses = 0;
		ease(walker, thread);
		*count = path->depth;
		return path->number;
	}
	number = branch(walker, thread, caller, generation, count);
	if (!number)
		return walk_anew(thread, walker, caller, generation, count);
	is_worth_it(walker);
	return number;
}

/* The number of a straight walk's path. 0: it has none. */
static uint32_t number_of_straight(struct rvp_walker *walker, const struct rvp_straight *walk, uint64_t pc,
				   uint32_t generation)
{
	const struct rvp_known_path *known = rvp_path_cache_find(&walker->steps.paths, walk->hash);
	uint64_t path;
	uint32_t number;

	if (known)
		return known->number;
	path = rvp_straight_path(walk, pc, generation, walker->era);
	number = path ? rvp_path_tree_known(&tree, path) : 0;
	if (number)
		rvp_path_cache_enter(&walker->steps.paths, walk->hash, number, walk->frame_count);
	return number;
}

/* The path of a straight walk that nobody met before. */
static __attribute__((noinline)) uint32_t walk_first(struct rvp_thread *thread, struct rvp_walker *walker,
						     struct rvp_caller caller, uint32_t generation,
						     const struct rvp_straight *walk, uint32_t *count)
{
	uint32_t number = walk_anew(thread, walker, caller, generation, count);

	if (number && *count == walk->frame_count && walker->steps.key == walker->shapes.key)
		rvp_path_cache_enter(&walker->steps.paths, walk->hash, number, *count);
	return number;
}

/* What the shape that comes first did not find, of a walk that can be known. Each third path that is found here gets a
 * shape: one for each would cost more than it brings where functions lie in many orders. */
static __attribute__((noinline)) uint32_t path_further(struct rvp_thread *thread, struct rvp_walker *walker,
						       struct rvp_caller caller, uint32_t generation, uint32_t *count)
{
	const struct rvp_known_path *path;
	struct rvp_straight walk;
	bool is_straight = walker->era == rvp_modules_era() &&
			   rvp_straight_walk(&walker->steps, walker->shapes.key, caller, walker->stack_high, generation, &walk);
	uint32_t number = is_straight ? number_of_straight(walker, &walk, caller.pc, generation) : 0;

	if (is_straight && !number)
		return walk_first(thread, walker, caller, generation, &walk, count);
	if (number && (++walker->branches % REMEMBER_EVERY != 0 ||
		       rvp_shapes_enter_straight(&walker->shapes, &walk, caller, number))) {
		walker->misses = 0;
		*count = walk.frame_count;
		return number;
	}
	path = rvp_shapes_find_further(&walker->shapes, &walker->memo, caller);
	if (!path)
		return walk_slowly(thread, walker, caller, generation, count);
	walker->misses = 0;
	*count = path->depth;
	return path->number;
}

static inline __attribute__((always_inline)) uint32_t native_path(struct rvp_thread *thread, struct rvp_walker *walker,
								  struct rvp_caller caller, uint32_t *count)
{
	uint32_t generation = atomic_load_explicit(&rvp_rule_generation, memory_order_acquire);
	const struct rvp_known_path *path;

	if (__builtin_expect(!can_be_known(walker, thread, caller.sp, generation) || walker->misses >= MISSES_COLD, 0))
		return walk_slowly(thread, walker, caller, generation, count);
	path = rvp_shapes_find_first(&walker->shapes, &walker->memo, caller, walker->shapes.key);
	if (__builtin_expect(!path, 0))
		return path_further(thread, walker, caller, generation, count);
	walker->misses = 0;
	ease(walker, thread);
	*count = path->depth;
	return path->number;
}

/* A build that checks itself (tests/unwind) has a referee look at each path. */
static inline void check_walk(struct rvp_thread *thread, struct rvp_caller caller, struct rvp_path path,
			      uint32_t native_frame_count)
{
#ifdef RVP_CHECK_WALK
	rvp_check_walk(thread, caller, path, native_frame_count);
#else
	(void)thread, (void)caller, (void)path, (void)native_frame_count;
#endif
}

struct rvp_path rvp_walk(struct rvp_thread *thread, struct rvp_caller caller)
{
	struct rvp_walker *walker = walker_of(thread);
	struct rvp_path path = {0, 0};
	uint32_t count;

	if (!walker) {
		rvp_lose(RVP_LOSS_STACK_TABLE, 1);
		return path;
	}
	path.stack = native_path(thread, walker, caller, &count);
	if (__builtin_expect(rvp_python_current() != NULL, 0))
		path.python = rvp_walk_python(thread);
	check_walk(thread, caller, path, count);
	return path;
}

__attribute__((noinline)) uint32_t rvp_walk_python(struct rvp_thread *thread)
{
	struct rvp_walker *walker = thread->walker;

	return rvp_python_path(thread, &walker->python, atomic_load_explicit(&epoch, memory_order_relaxed));
}

struct rvp_path rvp_walk_new(struct rvp_thread *thread, struct rvp_caller caller)
{
	struct rvp_path path = {0, 0};
	uint32_t count;

	path.stack = path_further(thread, thread->walker, caller,
				  atomic_load_explicit(&rvp_rule_generation, memory_order_acquire), &count);
	if (__builtin_expect(rvp_python_current() != NULL, 0))
		path.python = rvp_walk_python(thread);
	check_walk(thread, caller, path, count);
	return path;
}

void rvp_walk_after_fork(void)
{
	rvp_path_tree_reset(&tree);
	rvp_modules_reset();
	rvp_rules_forget();
	rvp_python_reset();
	atomic_fetch_add(&epoch, 1);
}

void rvp_walk_forget_code(void)
{
	rvp_rules_forget();
}

void rvp_walk_modules_changed(struct rvp_thread *thread)
{
	rvp_rules_forget();
	rvp_modules_unload_gone(thread);
}
