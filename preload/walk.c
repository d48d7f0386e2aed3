/* SPDX-License-Identifier: MIT */
/* walk.c: see walk.h. Unwinds the stack, then finds the frames' nodes from the outermost inwards, beginning
 * where the stack differs from the thread's last one.
 *
 *   (W1) What a thread remembers of its last walk holds for one epoch (a fork starts another) and one era of
 * modules. (W2) Stack use below rvp_walk is at most 2 KiB, but for the flush of a full slot.
 */
#include "preload/walk.h"

#include "preload/emit.h"
#include "preload/modules.h"
#include "preload/own.h"
#include "preload/path_memo.h"
#include "preload/process.h"
#include "preload/python_frames.h"
#include "preload/unwind.h"
#include "preload/unwind_rule.h"

enum { REACH_PAGES_MAX = 1024 };

struct walker {
	uint32_t tid; /* whose stack the next two are of */
	uint64_t stack_low, stack_high;
	struct rvp_path_memo native;
	struct rvp_python_walker python;
};

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

static struct walker *walker_of(struct rvp_thread *thread)
{
	struct walker *walker = thread->walker;

	if (!walker)
		walker = thread->walker = rvp_own_map(sizeof *walker);
	return walker;
}

/* Makes what is known of a thread's stack reach down to `sp`, page by page, up to the first that cannot be
 * read: below it lies another stack. Once for each page that the thread comes to use. */
static void reach_down(struct walker *walker, const struct rvp_thread *thread, uint64_t sp)
{
	if (walker->tid != thread->tid || walker->stack_high != thread->stack_high) {
		walker->tid = thread->tid;
		walker->stack_high = walker->stack_low = thread->stack_high;
	}
	for (int i = 0; i < REACH_PAGES_MAX && sp < walker->stack_low; i++) {
		uint64_t page = (walker->stack_low - 1) & ~(RVP_MEMORY_PAGE_BYTES - 1ul);

		if (!rvp_memory_probe(page))
			return;
		walker->stack_low = page;
	}
}

/* What of the stack can be read directly. The main thread's grows when it is read, and nothing else lies
 * within its bounds; any other thread's bounds are a guess that other stacks may lie within. */
static void look_at_stack(struct walker *walker, const struct rvp_thread *thread, uint64_t sp,
			  struct rvp_memory *memory)
{
	memory->own_low = thread->stack_low;
	memory->own_high = thread->stack_high;
	if (thread->stack_high != rvp_process.main_stack_high || !thread->stack_high) {
		if (sp < thread->stack_high)
			reach_down(walker, thread, sp);
		memory->own_low = walker->stack_low;
		memory->own_high = walker->stack_high;
	}
	rvp_memory_stand(memory, sp);
}

static uint32_t native_path(struct rvp_thread *thread, struct walker *walker, uint32_t count)
{
	uint64_t now = atomic_load_explicit(&epoch, memory_order_acquire) << 32 | rvp_modules_era();

	return rvp_path_memo_number(&walker->native, &tree, thread, count, now);
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
	struct walker *walker = walker_of(thread);
	uint64_t pages[RVP_MEMORY_PAGES] = {0};
	struct rvp_memory memory = {.pages = pages, .page_count = RVP_MEMORY_PAGES};
	struct rvp_path path = {0, 0};
	uint32_t count;

	if (!walker) {
		rvp_lose(RVP_LOSS_STACK_TABLE, 1);
		return path;
	}
	look_at_stack(walker, thread, caller.sp, &memory);
	rvp_unwind(thread, caller, &memory, &count);
	path.stack = native_path(thread, walker, count);
	path.python =
	    rvp_python_path(thread, &walker->python, atomic_load_explicit(&epoch, memory_order_relaxed));
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
