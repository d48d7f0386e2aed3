/* SPDX-License-Identifier: MIT */
/* python_layout.c: see python_layout.h. To add a version: offsetof on its internal headers, and a run of
 * tests/unit/check_python_frames.py by its interpreter. */
#include "preload/python_layouts.h"

#include <stddef.h>
#include <string.h>

static const struct rvp_python_layout *const layouts[] = {&rvp_python_3_9, &rvp_python_3_10, &rvp_python_3_11,
							   &rvp_python_3_12};

/* The head of _Py_DebugOffsets in 3.13, as 64-bit words. */
enum {
	WORD_COOKIE = 0,
	WORD_VERSION = 1,
	WORD_FREE_THREADED = 2,
	WORD_FINALIZING = 4,
	WORD_THREAD_INTERP = 22,
	WORD_THREAD_FRAME = 23,
	WORD_THREAD_ID = 24,
	WORD_FRAME_PREVIOUS = 29,
	WORD_FRAME_CODE = 30,
	WORD_FRAME_AT = 31,
	WORD_FRAME_OWNER = 33,
	WORD_CODE_FILE = 35,
	WORD_CODE_QUALNAME = 37,
	WORD_CODE_LINES = 38,
	WORD_CODE_LINE = 39,
	WORD_CODE_ADAPTIVE = 43,
	WORD_COUNT = 44,
};

static bool take_debug_offsets(uint64_t version, uint64_t runtime, struct rvp_memory *memory,
			       struct rvp_python_layout *layout)
{
	uint64_t word[WORD_COUNT];

	if (!rvp_memory_bytes(memory, runtime, word, sizeof word) || memcmp(word, "xdebugpy", 8) != 0 ||
	    word[WORD_VERSION] != version || word[WORD_FREE_THREADED])
		return false;
	for (int i = WORD_THREAD_INTERP; i < WORD_COUNT; i++)
		if (word[i] > 4096)
			return false;
	*layout = (struct rvp_python_layout){
	    .version = 0x30d,
	    .runtime_finalizing = (uint16_t)word[WORD_FINALIZING],
	    .thread_interp = (uint16_t)word[WORD_THREAD_INTERP],
	    .thread_id = (uint16_t)word[WORD_THREAD_ID],
	    .thread_frame = (uint16_t)word[WORD_THREAD_FRAME],
	    .cframe_frame = RVP_PYTHON_NONE,
	    .frame_previous = (uint16_t)word[WORD_FRAME_PREVIOUS],
	    .frame_code = (uint16_t)word[WORD_FRAME_CODE],
	    .frame_at = (uint16_t)word[WORD_FRAME_AT],
	    .frame_is_entry = RVP_PYTHON_NONE,
	    .frame_owner = (uint16_t)word[WORD_FRAME_OWNER],
	    .code_name = (uint16_t)word[WORD_CODE_QUALNAME],
	    .code_file = (uint16_t)word[WORD_CODE_FILE],
	    .code_line = (uint16_t)word[WORD_CODE_LINE],
	    .code_lines = (uint16_t)word[WORD_CODE_LINES],
	    .code_first =
		(uint16_t)(word[WORD_CODE_ADAPTIVE] - 16), /* then co_extra, then the instructions */
	    .code_adaptive = (uint16_t)word[WORD_CODE_ADAPTIVE],
	    .ascii_bytes = 40,
	    .compact_bytes = 56,
	};
	return true;
}

static void reach(uint16_t *bytes, uint16_t field)
{
	if (field != RVP_PYTHON_NONE && field + 8 > *bytes)
		*bytes = (uint16_t)(field + 8);
}

static void measure(struct rvp_python_layout *layout)
{
	reach(&layout->frame_bytes, layout->frame_previous);
	reach(&layout->frame_bytes, layout->frame_code);
	reach(&layout->frame_bytes, layout->frame_at);
	reach(&layout->frame_bytes, layout->frame_is_entry);
	reach(&layout->frame_bytes, layout->frame_owner);
	reach(&layout->thread_bytes, layout->thread_interp);
	reach(&layout->thread_bytes, layout->thread_id);
	reach(&layout->thread_bytes, layout->thread_frame);
	reach(&layout->code_bytes, layout->code_name);
	reach(&layout->code_bytes, layout->code_file);
	reach(&layout->code_bytes, layout->code_line);
	reach(&layout->code_bytes, layout->code_lines);
	reach(&layout->code_bytes, layout->code_first);
}

static bool find(uint64_t version, uint64_t runtime, struct rvp_memory *memory,
		 struct rvp_python_layout *layout)
{
	if (version >> 16 == 0x30d)
		return take_debug_offsets(version, runtime, memory, layout);
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (layouts[i]->version == version >> 16) {
			*layout = *layouts[i];
			return true;
		}
	return false;
}

bool rvp_python_layout_find(uint64_t version, uint64_t runtime, struct rvp_memory *memory,
			    struct rvp_python_layout *layout)
{
	if (!find(version, runtime, memory, layout))
		return false;
	measure(layout);
	return true;
}
