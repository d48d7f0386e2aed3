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
#include "preload/sys.h"
#include "preload/unwind.h"
#include "preload/unwind_rule.h"

#include <signal.h>

struct walker {
	struct rvp_path_memo native;
	struct rvp_python_walker python;
};

static bool emit_node(struct rvp_thread *thread, uint32_t number, uint32_t parent, uint64_t frame,
		      void *context)
{
	(void)context;
	return RVP_EMIT(thread, NODE, 0, .node = number, .parent = parent, .pc = rvp_frame_pc(frame),
			.exact = rvp_frame_is_exact(frame));
}

static struct rvp_path_tree tree = {.emit = emit_node};
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

/* On a stack of which we know nothing: the alternate signal stack's size is the kernel's to say; below
 * another there is at best a page that cannot be read. */
static bool has_room_elsewhere(uint64_t sp)
{
	stack_t alternate = {0};

	if (atomic_load_explicit(&rvp_process.locked, memory_order_relaxed))
		return false;
	rvp_syscall6(SYS_sigaltstack, 0, (long)&alternate, 0, 0, 0, 0);
	if (alternate.ss_flags & SS_ONSTACK)
		return sp - (uint64_t)alternate.ss_sp >= RVP_WALK_STACK_BYTES;
	for (uint64_t below = 4096; below <= RVP_WALK_STACK_BYTES; below += 4096)
		if (!rvp_memory_probe(sp - below))
			return false;
	return true;
}

/* Whether there is stack enough for a walk; what of it can be read directly. */
static bool look_at_stack(const struct rvp_thread *thread, struct rvp_caller caller,
			  struct rvp_memory *memory)
{
	uint64_t sp = (uint64_t)__builtin_frame_address(0);

	if (sp < thread->stack_low || sp >= thread->stack_high)
		return has_room_elsewhere(sp);
	memory->low = caller.sp;
	memory->high = thread->stack_high;
	return sp - thread->stack_low >= RVP_WALK_STACK_BYTES;
}

static uint32_t native_path(struct rvp_thread *thread, struct walker *walker, uint32_t count)
{
	uint64_t now = atomic_load_explicit(&epoch, memory_order_acquire) << 32 | rvp_modules_era();

	return rvp_path_memo_node(&walker->native, &tree, thread, count, now);
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
	if (!look_at_stack(thread, caller, &memory)) {
		rvp_lose(RVP_LOSS_SMALL_STACK, 1);
		return path;
	}
	rvp_unwind(thread, caller, &memory, &count);
	path.stack = native_path(thread, walker, count);
	path.python =
	    rvp_python_path(thread, &walker->python, atomic_load_explicit(&epoch, memory_order_relaxed));
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
