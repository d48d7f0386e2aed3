/* SPDX-License-Identifier: MIT */
/* path_memo.h: a thread's last call path with its nodes, outermost first: the next walk looks up only what
 * differs. */
#ifndef RVP_PATH_MEMO_H
#define RVP_PATH_MEMO_H

#include "preload/path_tree.h"

struct rvp_path_memo {
	uint64_t epoch; /* what is remembered holds only as long as this is the caller's */
	uint32_t depth;
	uint32_t nodes[RVP_FRAMES_MAX];
	uint64_t frames[RVP_FRAMES_MAX];
};

/* The node of the path in thread->frames[0, count), innermost first. Where a node cannot be had STACK_TABLE
 * is lost, and the deepest known node stands for the path. The low half of `epoch` is the nodes' era. */
uint32_t rvp_path_memo_node(struct rvp_path_memo *memo, struct rvp_path_tree *tree, struct rvp_thread *thread,
			    uint32_t count, uint64_t epoch);

#endif
