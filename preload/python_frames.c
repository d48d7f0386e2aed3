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
	uint32_t count;
	struct rvp_python_seen *seen;
};
struct frame {
	uint64_t previous, code;
	int64_t instruction; /* in bytes from the code's first; negative: not begun */
	uint8_t owner;
	bool is_entry, is_complete;
};

/* A frame in thread->frames: code << 32 | instruction << 1 | is_entry. */
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

/* Before 3.11: a frame is an object of its own, and so is its C frame. */
static bool read_object_frame(const struct rvp_python_layout *layout, const char *at, struct frame *frame)
{
	int32_t last = *(const int32_t *)(at + layout->frame_at);

	frame->instruction = layout->version < 0x30a ? last : (int64_t)last * INSTRUCTION_BYTES;
	frame->is_entry = true;
	frame->is_complete = true;
	return true;
}

/* A frame that has not come to its first traceable instruction is not on Python's own tracebacks either. */
static bool find_instruction(struct chain *chain, struct frame *frame, uint64_t pointer)
{
	const struct rvp_python_layout *layout = &chain->python->layout;
	int32_t first;

	if (frame->code & 7 || !rvp_memory_has(&chain->memory, frame->code, layout->code_bytes))
		return false;
	first = *(const int32_t *)(frame->code + layout->code_first);
	frame->instruction = (int64_t)(pointer - (frame->code + layout->code_adaptive));
	frame->is_complete =
	    frame->owner == OWNER_GENERATOR || frame->instruction >= (int64_t)first * INSTRUCTION_BYTES;
	return true;
}

static bool read_interpreter_frame(struct chain *chain, const char *at, struct frame *frame)
{
	const struct rvp_python_layout *layout = &chain->python->layout;

	frame->owner = *(const uint8_t *)(at + layout->frame_owner);
	if (layout->frame_is_entry != RVP_PYTHON_NONE)
		frame->is_entry = *(at + layout->frame_is_entry) != 0;
	if (frame->owner >= OWNER_C_STACK) {
		frame->is_entry = true; /* stands where C called; of the frame that it called */
		return true;
	}
	return find_instruction(chain, frame, *(const uint64_t *)(at + layout->frame_at));
}

static bool read_frame(struct chain *chain, uint64_t address, struct frame *frame)
{
	const struct rvp_python_layout *layout = &chain->python->layout;
	const char *at = (const char *)address;

	*frame = (struct frame){0};
	if (address & 7 || !rvp_memory_has(&chain->memory, address, layout->frame_bytes))
		return false;
	frame->previous = *(const uint64_t *)(at + layout->frame_previous);
	frame->code = *(const uint64_t *)(at + layout->frame_code);
	return layout->frame_owner == RVP_PYTHON_NONE ? read_object_frame(layout, at, frame)
						      : read_interpreter_frame(chain, at, frame);
}

static bool add_frame(struct chain *chain, const struct frame *frame)
{
	uint32_t code =
	    rvp_python_code(chain->python, chain->thread, &chain->memory, chain->seen, frame->code);
	uint64_t instruction = frame->instruction < 0 ? 0 : (uint64_t)frame->instruction;

	if (!code || instruction > 0x7fffffff)
		return false;
	chain->thread->frames[chain->count++] = (uint64_t)code << 32 | instruction << 1 | frame->is_entry;
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

/* Collects the frames, innermost first. False: one could not be read. */
static bool collect(struct chain *chain, uint64_t at)
{
	struct frame frame;

	for (; at; at = frame.previous) {
		if (chain->count == RVP_FRAMES_MAX || !read_frame(chain, at, &frame))
			return false;
		if (frame.is_complete) {
			if (!add_frame(chain, &frame))
				return false;
		} else if (frame.is_entry && chain->count) {
			chain->thread->frames[chain->count - 1] |= 1;
		}
	}
	if (chain->count)
		chain->thread->frames[chain->count - 1] |= 1;
	return true;
}

uint32_t rvp_python_path(struct rvp_thread *thread, struct rvp_python_walker *walker, uint64_t epoch)
{
	struct rvp_python *python = rvp_python_current();
	struct chain chain = {.python = python, .thread = thread, .seen = walker->seen};
	uint64_t thread_state, at;
	bool is_good;

	if (!python)
		return 0;
	chain.memory = (struct rvp_memory){.pages = walker->pages, .page_count = RVP_PYTHON_PAGES};
	thread_state = rvp_python_thread_state(python, &chain.memory);
	if (!thread_state)
		return 0;
	is_good = first_frame(&chain, thread_state, &at) && collect(&chain, at);
	if (!is_good || chain.count)
		rvp_python_note(python, is_good);
	return is_good && chain.count
		   ? rvp_path_memo_number(&walker->memo, &tree, thread, chain.count, epoch << 32)
		   : 0;
}

void rvp_python_reset(void)
{
	rvp_path_tree_reset(&tree);
	rvp_python_code_reset();
	rvp_python_runtime_reset();
}
