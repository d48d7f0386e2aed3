/* SPDX-License-Identifier: MIT */
/* python_memo.c: see python_memo.h. */
#include "preload/python_memo.h"

#include "preload/own.h"

#include <string.h>

enum { FRAMES_FIRST = 32, FRAMES_MOST = 2048 };

static size_t bytes_for(uint32_t capacity)
{
	return 2ul * capacity * sizeof(struct rvp_python_frame);
}

bool rvp_python_memo_grow(struct rvp_python_memo *memo)
{
	struct rvp_python_memo old = *memo;
	uint32_t capacity = old.capacity ? 4 * old.capacity : FRAMES_FIRST;
	struct rvp_python_frame *frames = capacity <= FRAMES_MOST ? rvp_own_map(bytes_for(capacity)) : NULL;

	if (!frames)
		return false;
	memo->frames = frames;
	memo->fresh = frames + capacity;
	memo->capacity = capacity;
	if (!old.capacity)
		return true;
	memcpy(memo->frames, old.frames, old.count * sizeof *old.frames);
	memcpy(memo->fresh, old.fresh, old.capacity * sizeof *old.fresh);
	rvp_own_unmap(old.frames, bytes_for(old.capacity));
	return true;
}

void rvp_python_memo_join(struct rvp_python_memo *memo, uint32_t base, uint32_t fresh_count)
{
	memo->count = fresh_count ? 0 : memo->count;
	atomic_signal_fence(memory_order_seq_cst);
	for (uint32_t i = 0; i < fresh_count; i++)
		memo->frames[base + i] = memo->fresh[fresh_count - 1 - i];
	atomic_signal_fence(memory_order_seq_cst);
	memo->top = base + fresh_count;
	memo->count = fresh_count ? memo->top : memo->count;
	memo->told = memo->told < base || !fresh_count ? memo->told : base;
}

/* The path of one frame more; an incomplete one is passed over, but where C called stays told. */
static void tell(struct rvp_python_frame *frame, const struct rvp_python_frame *outer)
{
	uint64_t instruction = frame->frame;

	frame->path = outer->path;
	frame->number = outer->number;
	frame->depth = outer->depth;
	frame->is_entry_next = outer->is_entry_next || frame->is_entry;
	if (!frame->is_complete)
		return;
	frame->frame = (instruction & ~1ul) | frame->is_entry_next;
	frame->path = rvp_path_below(outer->path, frame->frame);
	frame->number = 0;
	frame->depth++;
	frame->is_entry_next = false;
}

/* Numbers frames[0, count), each from the outermost inwards, as far as they have none. False: one cannot be
 * had, and the deepest known path stands for it. */
static bool number_all(struct rvp_python_memo *memo, uint32_t count, struct rvp_path_tree *tree,
		       struct rvp_thread *thread, uint32_t *number)
{
	*number = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct rvp_python_frame *frame = &memo->frames[i];

		if (frame->is_complete && !frame->number)
			frame->number =
			    rvp_path_tree_number(tree, thread, frame->path, *number, frame->frame, NULL);
		if (!frame->is_complete)
			frame->number = *number;
		if (frame->depth && !frame->number) {
			rvp_lose(RVP_LOSS_STACK_TABLE, 1);
			return false;
		}
		*number = frame->number;
	}
	return true;
}

uint32_t rvp_python_memo_number(struct rvp_python_memo *memo, struct rvp_path_tree *tree,
				struct rvp_thread *thread)
{
	static const struct rvp_python_frame outside = {.is_entry_next = true};
	struct rvp_python_frame *inner = &memo->frames[memo->top - 1];
	const struct rvp_known_path *known;
	uint32_t number;

	for (uint32_t i = memo->told; i < memo->top; i++)
		tell(&memo->frames[i], i ? &memo->frames[i - 1] : &outside);
	memo->told = memo->told > memo->top ? memo->told : memo->top;
	if (inner->number || !inner->depth || inner->depth > RVP_FRAMES_MAX)
		return inner->number;
	known = rvp_path_cache_find(&memo->numbers, inner->path);
	if (known)
		return inner->number = known->number;
	if (number_all(memo, memo->top, tree, thread, &number))
		rvp_path_cache_enter(&memo->numbers, inner->path, number, inner->depth);
	return number;
}
