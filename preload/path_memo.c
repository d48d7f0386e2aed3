/* SPDX-License-Identifier: MIT */
/* path_memo.c: see path_memo.h. */
#include "preload/path_memo.h"

#include "preload/own.h"

/* How many of the outermost frames are those of the last walk. */
static uint32_t shared_depth(const struct rvp_path_memo *memo, const struct rvp_thread *thread,
			     uint32_t count)
{
	uint32_t most = count < memo->depth ? count : memo->depth, depth = 0;

	while (depth < most && memo->steps[depth].frame == thread->frames[count - 1 - depth])
		depth++;
	return depth;
}

/* The last of `depth` remembered steps, or where every path begins. */
static struct rvp_path_memo_step step_at(const struct rvp_path_memo *memo, uint32_t depth)
{
	return depth ? memo->steps[depth - 1] : (struct rvp_path_memo_step){.path = (uint32_t)memo->epoch};
}

uint32_t rvp_path_memo_number(struct rvp_path_memo *memo, struct rvp_path_tree *tree,
			      struct rvp_thread *thread, uint32_t count, uint64_t epoch)
{
	struct rvp_path_memo_step step, next;
	uint32_t depth;

	if (memo->epoch != epoch) {
		memo->epoch = epoch;
		memo->depth = 0;
	}
	depth = shared_depth(memo, thread, count);
	step = step_at(memo, depth);
	memo->depth = depth; /* a handler that jumps away leaves no half-written step behind */
	atomic_signal_fence(memory_order_seq_cst);
	for (; depth < count; depth++, step = next) {
		next.frame = thread->frames[count - 1 - depth];
		next.path = rvp_path_below(step.path, next.frame);
		next.number = rvp_path_tree_number(tree, thread, next.path, step.number, next.frame, NULL);
		if (!next.number) {
			rvp_lose(RVP_LOSS_STACK_TABLE, 1);
			break;
		}
		if (depth < RVP_MEMO_STEPS)
			memo->steps[depth] = next;
	}
	memo->depth = depth < RVP_MEMO_STEPS ? depth : RVP_MEMO_STEPS;
	return step.number;
}
