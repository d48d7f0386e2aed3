/* SPDX-License-Identifier: MIT */
/* python_frames.c: see python_frames.h. */
#include "preload/python_frames.h"

#include "preload/emit.h"
#include "preload/own.h"
#include "preload/process.h"
#include "preload/python_code.h"

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

/* The frame's word, and whether it is complete: one that has not come to its first traceable instruction is not on
 * Python's own tracebacks either. Before 3.11 a frame is an object of its own, and so is its C frame. */
static bool take_instruction(const struct chain *chain, struct rvp_python_frame *frame)
{
	const struct rvp_python_layout *layout = &chain->python->layout;
	int64_t instruction = (int32_t)frame->at;

	frame->is_complete = true;
	if (layout->version == 0x30a)
		instruction *= INSTRUCTION_BYTES;
	if (layout->frame_owner != RVP_PYTHON_NONE) {
		int32_t first = *(const int32_t *)(frame->code.address + layout->code_first);

		instruction = (int64_t)(frame->at - (frame->code.address + layout->code_adaptive));
		frame->is_complete = (uint8_t)frame->owner == OWNER_GENERATOR ||
				     instruction >= (int64_t)first * INSTRUCTION_BYTES;
	}
	instruction = instruction < 0 ? 0 : instruction;
	frame->frame = (uint64_t)frame->code_number << 32 | (uint64_t)instruction << 1;
	return instruction <= 0x7fffffff;
}

static uint64_t read_at(const struct rvp_python_layout *layout, uint64_t address)
{
	if (layout->frame_owner == RVP_PYTHON_NONE)
		return *(const uint32_t *)(address + layout->frame_at);
	return *(const uint64_t *)(address + layout->frame_at);
}

static uint16_t read_owner(const struct rvp_python_layout *layout, uint64_t address)
{
	uint16_t owner = 0;

	if (layout->frame_owner != RVP_PYTHON_NONE)
		owner = *(const uint8_t *)(address + layout->frame_owner);
	if (layout->frame_is_entry != RVP_PYTHON_NONE)
		owner |= (uint16_t)(*(const uint8_t *)(address + layout->frame_is_entry) << 8);
	return owner;
}

/* Where C called: it stands for no code, and the frame that was called says so. */
static bool is_c_stack(const struct rvp_python_layout *layout, uint16_t owner)
{
	return layout->frame_owner != RVP_PYTHON_NONE && (uint8_t)owner >= OWNER_C_STACK;
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
	frame->is_entry = layout->frame_owner == RVP_PYTHON_NONE || frame->owner >> 8 ||
			  is_c_stack(layout, frame->owner);
	return is_c_stack(layout, frame->owner) ||
	       (take_code(chain, frame) && take_instruction(chain, frame));
}

/* Whether a remembered frame that the chain leads to is as it was; *moved: but for its instruction. */
static inline __attribute__((always_inline)) bool is_same(const struct chain *chain,
							  const struct rvp_python_frame *frame, bool *moved)
{
	const struct rvp_python_layout *layout = &chain->python->layout;
	uint64_t address = frame->address;

	if (*(const uint64_t *)(address + layout->frame_previous) != frame->previous ||
	    *(const uint64_t *)(address + layout->frame_code) != frame->code.address ||
	    read_owner(layout, address) != frame->owner)
		return false;
	*moved = read_at(layout, address) != frame->at;
	return is_c_stack(layout, frame->owner) || rvp_python_code_is(chain->python, &frame->code);
}

enum looked { UNREADABLE, SAME, OTHER };

/* Looks at frames[0, base) again, which the chain leads to. OTHER: one has another outer frame. */
static enum looked look_again(struct chain *chain, uint32_t base)
{
	struct rvp_python_memo *memo = chain->memo;
	uint32_t first = base;

	for (uint32_t i = base; i--;) {
		struct rvp_python_frame *frame = &memo->frames[i];
		uint64_t previous = frame->previous;
		bool has_moved = false, is_good = true;

		if (__builtin_expect(is_same(chain, frame, &has_moved) && !has_moved, 1))
			continue;
		first = i;
		if (has_moved && !is_c_stack(&chain->python->layout, frame->owner)) {
			frame->at = read_at(&chain->python->layout, frame->address);
			is_good = take_instruction(chain, frame);
		} else {
			is_good = read_frame(chain, frame->address, frame);
		}
		memo->told = memo->told < first ? memo->told : first;
		if (!is_good || frame->previous != previous) {
			memo->count = memo->top = memo->told = 0;
			return is_good ? OTHER : UNREADABLE;
		}
	}
	return SAME;
}

/* Follows the chain from `at`: fresh frames, up to one that is remembered if `joins`. False: one could not be read. */
static bool follow(struct chain *chain, uint64_t at, bool joins, uint32_t *base, uint32_t *fresh_count)
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
	if (looked == OTHER) {
		if (!follow(chain, at, false, &base, &fresh_count))
			return false;
	} else if (looked == UNREADABLE) {
		return false;
	}
	rvp_python_memo_join(chain->memo, base, fresh_count);
	return true;
}

/* The address of the innermost frame; false: not to be read. */
static bool first_frame(struct chain *chain, uint64_t thread_state, uint64_t *at)
{
	const struct rvp_python_layout *layout = &chain->python->layout;

	if (!rvp_memory_word(&chain->memory, thread_state + layout->thread_frame, at))
		return false;
	if (layout->cframe_frame == RVP_PYTHON_NONE || !*at)
		return true;
	return rvp_memory_word(&chain->memory, *at + layout->cframe_frame, at);
}

/* Whether the walker can remember what is read; nothing is from before a change. */
static bool is_current(struct rvp_python_memo *memo, uint64_t key)
{
	if (__builtin_expect(memo->key == key, 1))
		return true;
	memo->key = memo->count = memo->top = memo->told = 0;
	if (!rvp_path_cache_reset(&memo->numbers) || (!memo->capacity && !rvp_python_memo_grow(memo)))
		return false;
	memo->key = key;
	return true;
}

/* The number of the path that begins at `at`; false: it could not be read. */
static bool path_from(struct chain *chain, uint64_t at, uint32_t *number)
{
	*number = 0;
	if (!remember(chain, at)) {
		chain->memo->count = chain->memo->top = chain->memo->told = 0;
		return false;
	}
	*number = rvp_python_memo_number(chain->memo, &tree, chain->thread);
	return chain->memo->frames[chain->memo->top - 1].depth <= RVP_FRAMES_MAX;
}

uint32_t rvp_python_path(struct rvp_thread *thread, struct rvp_python_walker *walker, uint64_t epoch)
{
	struct rvp_python *python = rvp_python_current();
	struct chain chain = {.python = python, .thread = thread, .memo = &walker->memo, .seen = walker->seen};
	uint64_t thread_state, at;
	uint32_t number;
	bool is_good;

	if (!python || !is_current(&walker->memo, epoch << 32 | atomic_load(&python->serial)))
		return 0;
	chain.memory = (struct rvp_memory){.pages = walker->pages, .page_count = RVP_PYTHON_PAGES};
	thread_state = rvp_python_thread_state(python, &chain.memory);
	if (!thread_state)
		return 0;
	is_good = first_frame(&chain, thread_state, &at);
	if (is_good && !at)
		return 0;
	is_good = is_good && path_from(&chain, at, &number);
	rvp_python_note(python, is_good);
	return is_good ? number : 0;
}

void rvp_python_reset(void)
{
	rvp_path_tree_reset(&tree);
	rvp_python_code_reset();
	rvp_python_runtime_reset();
}
