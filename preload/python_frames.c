/* SPDX-License-Identifier: MIT */
/* python_frames.c: see python_frames.h. */
#include "preload/python_frames.h"

#include "preload/emit.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/python_layouts.h"

#include <string.h>

enum { OWNER_GENERATOR = 1, OWNER_C_STACK = 3, INSTRUCTION_BYTES = 2 };

struct chain {
	struct rvp_python *python;
	struct rvp_thread *thread;
	struct rvp_memory memory;
	struct rvp_python_memo *memo;
	struct rvp_python_seen *seen;
};

/* A frame in one word: code << 32 | instruction << 1 | is_entry. */
static bool emit_python_node(struct rvp_thread *thread, uint32_t number, uint32_t parent, uint64_t frame,
			     void *context)
{
	(void)context;
	if (!RVP_EMIT(thread, PYTHON_NODE, 0, .node = number, .parent = parent, .code = frame >> 32,
		      .instruction = frame >> 1 & 0x7fffffff, .is_entry = frame & 1))
		return false;
	if (rvp_process.buffers)
		atomic_fetch_add_explicit(&rvp_process.buffers->python_node_count, 1, memory_order_relaxed);
	return true;
}

/* The last table: 1 MiB, 81,920 paths; `import torch` makes 40,000. */
static struct rvp_path_tree tree = {.emit = emit_python_node, .last_sets = 1 << 13};

/* The frame's word at the instruction that `at` tells, and whether it is complete: one that has not come to its first
 * traceable instruction is not on Python's own tracebacks either. Before 3.11 a frame is an object of its own, and so is
 * its C frame. `at` is stored last: who jumps away from here leaves a frame that will be seen to have moved. */
static inline bool take_instruction(const struct rvp_python_layout *layout, struct rvp_python_frame *frame, uint64_t at)
{
	int64_t instruction = (int32_t)at;

	frame->is_complete = true;
	if (layout->version == 0x30a)
		instruction *= INSTRUCTION_BYTES;
	if (layout->frame_owner != RVP_PYTHON_NONE) {
		int32_t first = *(const int32_t *)(frame->code.address + layout->code_first);

		instruction = (int64_t)(at - (frame->code.address + layout->code_adaptive));
		frame->is_complete =
		    frame->owner >> 8 == OWNER_GENERATOR || instruction >= (int64_t)first * INSTRUCTION_BYTES;
	}
	instruction = instruction < 0 ? 0 : instruction;
	frame->frame = (uint64_t)frame->code_number << 32 | (uint64_t)instruction << 1;
	atomic_signal_fence(memory_order_seq_cst);
	frame->at = at;
	return instruction <= 0x7fffffff;
}

static inline __attribute__((always_inline)) uint64_t read_at(const struct rvp_python_layout *layout, uint64_t address)
{
	if (layout->frame_owner == RVP_PYTHON_NONE)
		return *(const uint32_t *)(address + layout->frame_at);
	return *(const uint64_t *)(address + layout->frame_at);
}

static inline __attribute__((always_inline)) uint16_t read_owner(const struct rvp_python_layout *layout, uint64_t address)
{
	uint16_t owner = 0;

	if (layout->frame_is_entry != RVP_PYTHON_NONE) /* 3.11, where the two lie side by side */
		memcpy(&owner, (const void *)(address + layout->frame_is_entry), sizeof owner);
	else if (layout->frame_owner != RVP_PYTHON_NONE)
		owner = (uint16_t)(*(const uint8_t *)(address + layout->frame_owner) << 8);
	return owner;
}

/* Where C called: it stands for no code, and the frame that was called says so. */
static inline __attribute__((always_inline)) bool is_c_stack(const struct rvp_python_layout *layout, uint16_t owner)
{
	return layout->frame_owner != RVP_PYTHON_NONE && owner >> 8 >= OWNER_C_STACK;
}

/* Whether the frame has become one that adds to the path: then its code is known. */
static bool take_code(struct chain *chain, struct rvp_python_frame *frame)
{
	if (!rvp_python_code_read(chain->python, &chain->memory, &frame->code))
		return false;
	frame->code_number =
	    rvp_python_code_number(chain->python, chain->thread, &chain->memory, chain->seen, &frame->code);
	return frame->code_number != 0;
}

/* Reads all of a frame, whatever was known of it. */
static bool read_frame(struct chain *chain, uint64_t address, struct rvp_python_frame *frame)
{
	const struct rvp_python_layout *layout = &chain->python->layout;

	if (address & 7 || !rvp_memory_has(&chain->memory, address, layout->frame_bytes))
		return false;
	frame->address = address;
	frame->previous = *(const uint64_t *)(address + layout->frame_previous);
	frame->code.address = *(const uint64_t *)(address + layout->frame_code);
	frame->at = read_at(layout, address);
	frame->owner = read_owner(layout, address);
	frame->is_complete = false;
	frame->is_entry = layout->frame_owner == RVP_PYTHON_NONE || (frame->owner & 0xff) ||
			  is_c_stack(layout, frame->owner);
	return is_c_stack(layout, frame->owner) ||
	       (take_code(chain, frame) && take_instruction(layout, frame, read_at(layout, address)));
}

/* Of frames[0, count), the innermost of which the chain leads to: how many are left when those that are as they were are
 * passed over, from the innermost outwards. *has_moved: the innermost is passed over, but it has another instruction. */
static inline __attribute__((always_inline)) uint32_t pass_same_in(const struct rvp_python_layout *layout,
								   const struct rvp_python_frame *frames,
								   uint32_t count, bool *has_moved)
{
	const struct rvp_python_frame *inner = frames + count - 1, *frame = inner;

	for (*has_moved = false; frame >= frames; frame--) {
		uint64_t address = frame->address;

		if ((*(const uint64_t *)(address + layout->frame_previous) ^ frame->previous) |
		    (*(const uint64_t *)(address + layout->frame_code) ^ frame->code.address) |
		    (uint64_t)(read_owner(layout, address) ^ frame->owner))
			break;
		if (!is_c_stack(layout, frame->owner) && !rvp_python_code_is(layout, &frame->code))
			break;
		if (__builtin_expect(read_at(layout, address) != frame->at, 0)) {
			if (frame != inner || is_c_stack(layout, frame->owner))
				break;
			*has_moved = true;
		}
	}
	return (uint32_t)(frame + 1 - frames);
}

/* The same by a layout that is not known before. */
static __attribute__((noinline)) uint32_t pass_same_as_said(const struct rvp_python_layout *layout,
							    const struct rvp_python_frame *frames, uint32_t count,
							    bool *has_moved)
{
	return pass_same_in(layout, frames, count, has_moved);
}

static inline __attribute__((always_inline)) uint32_t pass_same(const struct rvp_python_layout *layout,
								const struct rvp_python_frame *frames,
								uint32_t count, bool *has_moved)
{
	switch (layout->version) {
	case 0x30b: return pass_same_in(&rvp_python_3_11, frames, count, has_moved);
	case 0x30c: return pass_same_in(&rvp_python_3_12, frames, count, has_moved);
	default: return pass_same_as_said(layout, frames, count, has_moved);
	}
}

enum looked { UNREADABLE, SAME, OTHER };

/* Takes over what is another in frame `i`: its instruction, or anything. */
static enum looked renew(struct chain *chain, uint32_t i, bool has_moved)
{
	const struct rvp_python_layout *layout = &chain->python->layout;
	struct rvp_python_memo *memo = chain->memo;
	struct rvp_python_frame *frame = &memo->frames[i];
	uint64_t previous = frame->previous;
	uint32_t count = memo->count, top = memo->top, told = memo->told < i ? memo->told : i;
	bool is_good;

	rvp_python_memo_forget(memo);
	atomic_signal_fence(memory_order_seq_cst);
	if (has_moved)
		is_good = take_instruction(layout, frame, read_at(layout, frame->address));
	else
		is_good = read_frame(chain, frame->address, frame);
	if (!is_good || frame->previous != previous)
		return is_good ? OTHER : UNREADABLE;
	atomic_signal_fence(memory_order_seq_cst);
	memo->told = told;
	memo->top = top;
	memo->count = count;
	return SAME;
}

/* Looks at frames[0, count) again, the innermost of which the chain leads to. OTHER: one has another outer frame. */
static inline enum looked look_again(struct chain *chain, uint32_t count)
{
	enum looked looked = SAME;

	while (count && looked == SAME) {
		bool has_moved;
		uint32_t left = pass_same(&chain->python->layout, chain->memo->frames, count, &has_moved);

		if (has_moved)
			looked = renew(chain, count - 1, true);
		if (looked == SAME && left)
			looked = renew(chain, left - 1, false);
		count = left ? left - 1 : 0;
	}
	return looked;
}

/* Follows the chain from `at`: fresh frames, up to one that is remembered if `joins`. False: one could not be read. */
static __attribute__((noinline)) bool follow(struct chain *chain, uint64_t at, bool joins, uint32_t *base, uint32_t *fresh_count)
{
	struct rvp_python_memo *memo = chain->memo;
	uint32_t count = 0;

	*base = 0;
	for (; at; at = memo->fresh[count++].previous) {
		if (joins && (*base = rvp_python_memo_find(memo, at)))
			break;
		if (count == memo->capacity && !rvp_python_memo_grow(memo))
			return false;
		if (!read_frame(chain, at, &memo->fresh[count]))
			return false;
	}
	*fresh_count = count;
	while (*base + count > memo->capacity)
		if (!rvp_python_memo_grow(memo))
			return false;
	return true;
}

/* Makes the memo's path the one that begins at `at`. */
static bool remember(struct chain *chain, uint64_t at)
{
	uint32_t base, fresh_count;
	enum looked looked;

	if (!follow(chain, at, true, &base, &fresh_count))
		return false;
	looked = look_again(chain, base);
	if (looked == UNREADABLE || (looked == OTHER && !follow(chain, at, false, &base, &fresh_count)))
		return false;
	rvp_python_memo_join(chain->memo, base, fresh_count);
	return true;
}

/* The address of the innermost frame, by a state that was read; false: not to be read. */
static bool first_frame(struct chain *chain, uint64_t thread_state, uint64_t *at)
{
	const struct rvp_python_layout *layout = &chain->python->layout;

	*at = *(const uint64_t *)(thread_state + layout->thread_frame);
	if (layout->cframe_frame == RVP_PYTHON_NONE || !*at)
		return true;
	if (*at & 7 || !rvp_memory_has(&chain->memory, *at, layout->cframe_frame + 8u))
		return false;
	chain->memo->cframe = *at;
	*at = *(const uint64_t *)(*at + layout->cframe_frame);
	return true;
}

/* Whether the walker can remember what is read; nothing is from before a change. */
static bool is_current(struct rvp_python_memo *memo, uint64_t key)
{
	if (__builtin_expect(memo->key == key, 1))
		return true;
	memo->key = 0;
	rvp_python_memo_forget(memo);
	if (!rvp_path_cache_reset(&memo->numbers) || (!memo->capacity && !rvp_python_memo_grow(memo))) {
		rvp_lose(RVP_LOSS_PYTHON, 1);
		return false;
	}
	memo->key = key;
	return true;
}

/* The number of the path that begins at `at`; false: it could not be read. */
static bool path_from(struct chain *chain, uint64_t at, uint32_t *number)
{
	*number = 0;
	if (!remember(chain, at)) {
		rvp_python_memo_forget(chain->memo);
		return false;
	}
	*number = rvp_python_memo_number(chain->memo, &tree, chain->thread);
	return chain->memo->frames[chain->memo->top - 1].depth <= RVP_FRAMES_MAX;
}

/* All of a walk; what is remembered is of this interpreter. */
static __attribute__((noinline)) uint32_t path_slowly(struct rvp_thread *thread, struct rvp_python *python,
						      struct rvp_python_walker *walker)
{
	struct chain chain = {.python = python, .thread = thread, .memo = &walker->memo, .seen = walker->seen};
	uint64_t at;
	uint32_t number;
	bool is_good;

	chain.memory = (struct rvp_memory){.pages = walker->pages, .page_count = RVP_PYTHON_PAGES};
	walker->memo.thread_state = rvp_python_thread_state(python, &chain.memory);
	if (!walker->memo.thread_state)
		return 0;
	is_good = first_frame(&chain, walker->memo.thread_state, &at);
	if (is_good && !at)
		return 0;
	is_good = is_good && path_from(&chain, at, &number);
	rvp_python_note(python, is_good);
	return is_good ? number : 0;
}

/* Whether the path is the last one, but for the instruction of its innermost frame. */
static inline bool is_last_path(const struct rvp_python_layout *layout, struct rvp_python_memo *memo)
{
	uint64_t at = *(const uint64_t *)(memo->thread_state + layout->thread_frame);
	struct rvp_python_frame *inner = &memo->frames[memo->top - 1];
	bool has_moved;

	if (layout->cframe_frame != RVP_PYTHON_NONE) {
		if (!at || at != memo->cframe)
			return false;
		at = *(const uint64_t *)(at + layout->cframe_frame);
	}
	if (!memo->top || inner->address != at || pass_same(layout, memo->frames, memo->top, &has_moved))
		return false;
	if (!has_moved)
		return true;
	memo->told = memo->told < memo->top ? memo->told : memo->top - 1;
	return take_instruction(layout, inner, read_at(layout, at));
}

uint32_t rvp_python_path(struct rvp_thread *thread, struct rvp_python_walker *walker, uint64_t epoch)
{
	struct rvp_python *python = rvp_python_current();
	struct rvp_python_memo *memo = &walker->memo;

	if (!python || !is_current(memo, epoch << 32 | atomic_load_explicit(&python->serial, memory_order_relaxed)))
		return 0;
	if (__builtin_expect(rvp_python_state_is(python, memo->thread_state) && is_last_path(&python->layout, memo), 1))
		return memo->told >= memo->top && memo->frames[memo->top - 1].number
			   ? memo->frames[memo->top - 1].number
			   : rvp_python_memo_number(memo, &tree, thread);
	return path_slowly(thread, python, walker);
}

void rvp_python_reset(void)
{
	rvp_path_tree_reset(&tree);
	rvp_python_code_reset();
	rvp_python_runtime_reset();
}
