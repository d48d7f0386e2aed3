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
#include "preload/path_tree.h"
#include "preload/process.h"
#include "preload/python_frames.h"
#include "preload/sys.h"
#include "preload/unwind.h"
#include "preload/unwind_rule.h"

#include <signal.h>

/* The last walk, outermost first. */
struct walker {
	uint32_t epoch, era, depth;
	uint32_t nodes[RVP_FRAMES_MAX];
	uint64_t frames[RVP_FRAMES_MAX];
};

static bool emit_node(struct rvp_thread *thread, uint32_t number, uint32_t parent, uint64_t frame)
{
	return RVP_EMIT(thread, NODE, 0, .node = number, .parent = parent, .pc = rvp_frame_pc(frame),
			.exact = rvp_frame_is_exact(frame));
}

static struct rvp_path_tree tree = {.emit = emit_node};
static _Atomic uint32_t epoch = 1;
static bool is_python_wanted;

void rvp_walk_start(bool python)
{
	is_python_wanted = python;
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

/* How many of the outermost frames are those of the last walk. */
static uint32_t shared_depth(const struct rvp_thread *thread, const struct walker *walker, uint32_t count)
{
	uint32_t most = count < walker->depth ? count : walker->depth, depth = 0;

	while (depth < most && walker->frames[depth] == thread->frames[count - 1 - depth])
		depth++;
	return depth;
}

static void renew(struct walker *walker)
{
	uint32_t now = atomic_load_explicit(&epoch, memory_order_acquire), era = rvp_modules_era();

	if (walker->epoch == now && walker->era == era)
		return;
	walker->epoch = now;
	walker->era = era;
	walker->depth = 0;
}

static uint32_t native_node(struct rvp_thread *thread, struct walker *walker, uint32_t count)
{
	uint32_t depth, node;

	renew(walker);
	depth = shared_depth(thread, walker, count);
	node = depth ? walker->nodes[depth - 1] : 0;
	for (; depth < count; depth++) {
		uint64_t frame = thread->frames[count - 1 - depth];
		uint32_t next = rvp_path_tree_node(&tree, thread, node, frame, walker->era);

		if (!next) {
			rvp_lose(RVP_LOSS_STACK_TABLE, 1);
			break;
		}
		walker->frames[depth] = frame;
		walker->nodes[depth] = node = next;
	}
	walker->depth = depth;
	return node;
}

struct rvp_path rvp_walk(struct rvp_thread *thread, struct rvp_caller caller)
{
	struct walker *walker = walker_of(thread);
	struct rvp_memory memory = {0};
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
	path.stack = native_node(thread, walker, count);
	if (is_python_wanted)
		path.python = rvp_python_path(thread);
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
