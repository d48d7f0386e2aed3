/* SPDX-License-Identifier: MIT */
/* path_memo.c: see path_memo.h. */
#include "preload/path_memo.h"

#include "preload/own.h"

/* How many of the outermost frames are those of the last walk. */
static uint32_t shared_depth(const struct rvp_path_memo *memo, const struct rvp_thread *thread,
			     uint32_t count)
{
	uint32_t most = count < memo->depth ? count : memo->depth, depth = 0;

	while (depth < most && memo->frames[depth] == thread->frames[count - 1 - depth])
		depth++;
	return depth;
}

uint32_t rvp_path_memo_node(struct rvp_path_memo *memo, struct rvp_path_tree *tree, struct rvp_thread *thread,
			    uint32_t count, uint64_t epoch)
{
	uint32_t depth, node, next;

	if (memo->epoch != epoch) {
		memo->epoch = epoch;
		memo->depth = 0;
	}
	depth = shared_depth(memo, thread, count);
	node = depth ? memo->nodes[depth - 1] : 0;
	memo->depth = depth; /* a handler that jumps away leaves no half-written frame behind */
	atomic_signal_fence(memory_order_seq_cst);
	for (; depth < count; depth++, node = next) {
		uint64_t frame = thread->frames[count - 1 - depth];

		next = rvp_path_tree_node(tree, thread, node, frame, (uint32_t)epoch, NULL);
		if (!next) {
			rvp_lose(RVP_LOSS_STACK_TABLE, 1);
			break;
		}
		memo->frames[depth] = frame;
		memo->nodes[depth] = next;
	}
	memo->depth = depth;
	return node;
}
