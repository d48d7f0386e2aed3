/* SPDX-License-Identifier: MIT */
/* python_memo.h: a thread's last Python path, frame by frame, so that the next one reads again and does not
 * look up.
 *
 *   (Q1) A remembered frame is read only when the interpreter's own chain leads to it: its address is the
 * current frame's or the `previous` of one that was just read. So no address of a frame that is gone is read.
 *   (Q2) It is the same when its words are: previous, code, instruction, owner; and the code object's file,
 * line table, first line and its name's hash, for another may have come to lie at its address (that it is a
 * code object at all was seen when it was first read, and a frame holds no other kind). Each is read each
 * time. (Q3) frames[i].previous is frames[i - 1].address, and the outermost's is 0, for all that is
 * remembered, also for what lies further in than the last path and may come again. (Q4) What is remembered
 * holds for one key of the caller's (process, interpreter). While it is being changed it is empty, so that a
 * handler that jumps away leaves nothing half-written.
 */
#ifndef RVP_PYTHON_MEMO_H
#define RVP_PYTHON_MEMO_H

#include "preload/path_cache.h"
#include "preload/path_tree.h"
#include "preload/python_code.h"

struct rvp_python_frame {
	uint64_t address, previous, at; /* at: the word that tells the instruction */
	struct rvp_python_code_words code;
	uint32_t code_number;
	uint16_t owner; /* two bytes, as they are in the frame: is_entry, owner */
	bool is_entry, is_complete;
	/* Of the path to here: an incomplete frame adds nothing to it. */
	bool is_entry_next; /* the next complete frame was entered from C */
	uint16_t depth;
	uint32_t number;
	uint64_t frame, path;
};

struct rvp_python_memo {
	uint64_t key;
	uint64_t thread_state;           /* that could be read; 0: none */
	uint64_t cframe;                 /* likewise, what leads from it to the innermost frame */
	struct rvp_python_frame *frames; /* outermost first */
	struct rvp_python_frame *fresh;  /* of the walk that goes on, innermost first */
	uint32_t capacity;
	uint32_t count; /* frames that are remembered */
	uint32_t top;   /* of these the last path's */
	uint32_t told;  /* of these have their path right */
	struct rvp_path_cache numbers;
};

/* Four times as much room, for 32 at first; what is there stays. False: no memory, or too deep. */
bool rvp_python_memo_grow(struct rvp_python_memo *memo);

/* Where a frame of this address is remembered, near the last path's innermost: its number from 1; 0: nowhere.
 */
static inline uint32_t rvp_python_memo_find(const struct rvp_python_memo *memo, uint64_t address)
{
	enum { NEAR = 6 };
	uint32_t top = memo->top, from = top + NEAR < memo->count ? top + NEAR : memo->count;

	if (__builtin_expect(top && memo->frames[top - 1].address == address, 1))
		return top;
	for (uint32_t i = from; i && i + NEAR > top; i--)
		if (memo->frames[i - 1].address == address)
			return i;
	return 0;
}

static inline void rvp_python_memo_forget(struct rvp_python_memo *memo)
{
	memo->count = memo->top = memo->told = 0;
}

/* The first `base` frames stay and `fresh_count` fresh ones are further in. */
void rvp_python_memo_join(struct rvp_python_memo *memo, uint32_t base, uint32_t fresh_count);

/* The number of the path to the innermost frame of the last path. 0: it has no complete frame, or it cannot
 * be had. */
uint32_t rvp_python_memo_number(struct rvp_python_memo *memo, struct rvp_path_tree *tree,
				struct rvp_thread *thread);

#endif
