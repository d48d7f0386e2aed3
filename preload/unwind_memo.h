/* SPDX-License-Identifier: MIT */
/* unwind_memo.h: a thread's last walk, with every word that it read, so that the next one begins where the
 * stack differs.
 *
 * A walk from a state (return address, stack pointer, and the frame pointer where a rule further out uses it)
 * is a function of that state, of the words that it reads, and of the unwind tables. Kept are the states of
 * the last walk, outermost first, and the words, in the same order: those that the walk from state i on reads
 * are the first words_of(i).
 *
 *   (N1) A state is joined only where stack pointer, address, exactness and, if it matters, frame pointer are
 * equal AND each of its words was read again in this walk and is the same. No frame is trusted unread: what
 * was popped and pushed again with the same words is the same path by definition. (N2) Words lie on the
 * thread's own stack, at or above the stack pointer of the state that read them, and only those at or above
 * the present stack pointer are read again: no remembered address can fault. (N3) A state is joinable only if
 * all further out is of usual frames of known objects: nothing beyond a signal frame's inner side, a frame in
 * unknown code, an odd rule, or in a stack that was cut. (N4) What is remembered holds for one `key` of the
 * caller's: generation of code, process, era of modules, thread. (N5) While it is being changed it is empty,
 * so that a handler that jumps away leaves no half-written state.
 */
#ifndef RVP_UNWIND_MEMO_H
#define RVP_UNWIND_MEMO_H

#include "preload/path_tree.h"
#include "preload/unwind.h"
#include "preload/unwind_rule.h"

enum { RVP_MEMO_FRAMES_FIRST = 28, RVP_MEMO_WORDS_A_FRAME = 3, RVP_MEMO_BRANCH_MAX = 8 }; /* 28: a page in all */

struct rvp_memo_frame {
	uint64_t sp, bp;     /* when the frame's own call returns */
	uint64_t frame;      /* as rvp_frame() makes it */
	uint64_t path;       /* of this frame and all further out */
	uint32_t number;     /* the path's; 0: not looked up yet */
	uint16_t word_count; /* that the walk from here on reads */
	bool is_bp_used;     /* by it */
};

struct rvp_memo_word {
	uint64_t at, value;
	uint64_t content; /* hash of all words up to this one, addresses and values */
};

/* A step of the walk that is going on. */
struct rvp_memo_step {
	uint64_t sp, bp, frame;
	rvp_rule rule;
};

struct rvp_memo {
	uint64_t key;
	uint64_t version;             /* 2 more whenever the words change */
	struct rvp_memo_frame *frames;
	struct rvp_memo_word *words; /* from 1 on; word 0 lies above every stack and its content is 0 */
	struct rvp_memo_step *steps;
	uint32_t capacity;      /* frames and steps that there is room for */
	uint32_t frame_count;   /* that can be joined */
	uint32_t word_count;    /* that the walk from the innermost of these reads */
	uint32_t depth;         /* of the last walk: its frames */
};

/* Walks from a caller on the thread's own stack. WHOLE or CUT: *number is the path's (0: it cannot be had),
 * and memo->depth its frames. ODD: this way cannot, and nothing was remembered; also where there is no
 * memory. `era` begins each path. */
enum rvp_unwound rvp_memo_walk(struct rvp_memo *memo, struct rvp_thread *thread, struct rvp_caller caller,
			       struct rvp_memory *memory, struct rvp_path_tree *tree, uint64_t era,
			       uint32_t *number);

/* The number of a path that leaves the remembered walk by RVP_MEMO_BRANCH_MAX usual frames at the most, and *depth its
 * frames; 0: not such a one, or it has no number. Of it nothing is remembered. The caller is on the thread's own stack,
 * which ends at `high`, and the key holds. */
uint32_t rvp_memo_branch(const struct rvp_memo *memo, struct rvp_caller caller, uint64_t high, uint32_t generation,
			 struct rvp_path_tree *tree, uint32_t *depth);

/* Nothing is remembered any more. */
static inline void rvp_memo_forget(struct rvp_memo *memo)
{
	memo->frame_count = memo->word_count = 0;
	memo->version += 2;
}

#endif
