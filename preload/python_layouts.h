/* SPDX-License-Identifier: MIT */
/* python_layouts.h: the layouts of versions that do not say it themselves (python_layout.h), as constants:
 * the reading of frames is compiled for each. A code object's and a frame's extent are measured when one is
 * taken. */
#ifndef RVP_PYTHON_LAYOUTS_H
#define RVP_PYTHON_LAYOUTS_H

#include "preload/python_layout.h"

static const struct rvp_python_layout rvp_python_3_9 = {
    .version = 0x309,
    .runtime_finalizing = 16,
    .thread_interp = 16,
    .thread_id = 176,
    .thread_frame = 24,
    .cframe_frame = RVP_PYTHON_NONE,
    .frame_previous = 24,
    .frame_code = 32,
    .frame_at = 104,
    .frame_is_entry = RVP_PYTHON_NONE,
    .frame_owner = RVP_PYTHON_NONE,
    .code_name = 112,
    .code_file = 104,
    .code_line = 40,
    .code_lines = 120,
    .code_first = RVP_PYTHON_NONE,
    .code_adaptive = RVP_PYTHON_NONE,
    .ascii_bytes = 48,
    .compact_bytes = 72,
};
static const struct rvp_python_layout rvp_python_3_10 = {
    .version = 0x30a,
    .runtime_finalizing = 16,
    .thread_interp = 16,
    .thread_id = 176,
    .thread_frame = 24,
    .cframe_frame = RVP_PYTHON_NONE,
    .frame_previous = 24,
    .frame_code = 32,
    .frame_at = 96,
    .frame_is_entry = RVP_PYTHON_NONE,
    .frame_owner = RVP_PYTHON_NONE,
    .code_name = 112,
    .code_file = 104,
    .code_line = 40,
    .code_lines = 120,
    .code_first = RVP_PYTHON_NONE,
    .code_adaptive = RVP_PYTHON_NONE,
    .ascii_bytes = 48,
    .compact_bytes = 72,
};
static const struct rvp_python_layout rvp_python_3_11 = {
    .version = 0x30b,
    .runtime_finalizing = 24,
    .thread_interp = 16,
    .thread_id = 152,
    .thread_frame = 56,
    .cframe_frame = 8,
    .frame_previous = 48,
    .frame_code = 32,
    .frame_at = 56,
    .frame_is_entry = 68,
    .frame_owner = 69,
    .code_name = 128,
    .code_file = 112,
    .code_line = 72,
    .code_lines = 136,
    .code_first = 168,
    .code_adaptive = 184,
    .ascii_bytes = 48,
    .compact_bytes = 72,
};
static const struct rvp_python_layout rvp_python_3_12 = {
    .version = 0x30c,
    .runtime_finalizing = 24,
    .thread_interp = 16,
    .thread_id = 136,
    .thread_frame = 56,
    .cframe_frame = 0,
    .frame_previous = 8,
    .frame_code = 0,
    .frame_at = 56,
    .frame_is_entry = RVP_PYTHON_NONE,
    .frame_owner = 70,
    .code_name = 128,
    .code_file = 112,
    .code_line = 68,
    .code_lines = 136,
    .code_first = 176,
    .code_adaptive = 192,
    .ascii_bytes = 40,
    .compact_bytes = 56,
};

#endif
