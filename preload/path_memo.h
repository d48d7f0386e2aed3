/* SPDX-License-Identifier: MIT */
/* path_memo.h: a thread's last call path with its numbers, outermost first: the next walk looks up only what
 * differs. Of a very deep path the outer part is remembered. */
#ifndef RVP_PATH_MEMO_H
#define RVP_PATH_MEMO_H

#include "preload/path_tree.h"

enum { RVP_MEMO_STEPS = RVP_FRAMES_MAX / 2 };

struct rvp_path_memo {
	uint64_t epoch; /* what is remembered holds only as long as this is the caller's */
	uint32_t depth;
	struct rvp_path_memo_step {
		uint64_t frame, path;
		uint32_t number;
	} steps[RVP_MEMO_STEPS]; /* in one piece, so that a usual path is within a page */
};

/* The number of the path in thread->frames[0, count), innermost first. Where a number cannot be had
 * STACK_TABLE is lost, and the deepest known path stands for it. The low half of `epoch` is the paths' era.
 */
uint32_t rvp_path_memo_number(struct rvp_path_memo *memo, struct rvp_path_tree *tree,
			      struct rvp_thread *thread, uint32_t count, uint64_t epoch);

#endif
