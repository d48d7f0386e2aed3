/* SPDX-License-Identifier: MIT */
/* python_layout.h: where CPython keeps what a stack needs, by version: offsets in bytes in its structures.
 *
 * 3.9 to 3.12 from the headers of 3.9.18, 3.10.13, 3.11.2, 3.11.7 and 3.12.1 (x86-64, release builds);
 * from 3.13 on the interpreter says most of it itself (_Py_DebugOffsets at the start of _PyRuntime). Builds
 * without the GIL and other versions have no layout: their stacks are native only.
 */
#ifndef RVP_PYTHON_LAYOUT_H
#define RVP_PYTHON_LAYOUT_H

#include "preload/unwind_memory.h"

#define RVP_PYTHON_NONE 0xffff /* this version has no such field */

struct rvp_python_layout {
	uint16_t version; /* 0x30b: 3.11 */
	uint16_t runtime_finalizing;
	uint16_t thread_interp, thread_id;
	uint16_t thread_frame; /* the current frame, or what leads to it */
	uint16_t cframe_frame; /* in what leads to it; NONE: thread_frame is the frame itself */
	uint16_t frame_previous, frame_code;
	uint16_t frame_at;       /* the instruction: a pointer, or f_lasti before 3.11 */
	uint16_t frame_is_entry; /* 3.11 only */
	uint16_t frame_owner;    /* 3.11 and later */
	uint16_t code_name, code_file, code_line, code_lines;
	uint16_t code_first;                 /* _co_firsttraceable; NONE before 3.11 */
	uint16_t code_adaptive;              /* the instructions; NONE before 3.11 */
	uint16_t ascii_bytes, compact_bytes; /* heads of a string of ASCII and of another */
	/* Of a frame, a code object and a thread's state, as far as the fields above reach. */
	uint16_t frame_bytes, code_bytes, thread_bytes;
};

/* Fills `layout` for a version as Py_Version gives it (0x030b02f0). False: there is none. */
bool rvp_python_layout_find(uint64_t version, uint64_t runtime, struct rvp_memory *memory,
			    struct rvp_python_layout *layout);

#endif
