/* SPDX-License-Identifier: MIT */
/* python_frames.h: the Python call path of the calling thread, read from the interpreter's structures. */
#ifndef RVP_PYTHON_FRAMES_H
#define RVP_PYTHON_FRAMES_H

#include "preload/thread.h"
#include "preload/unwind_find.h"

struct rvp_path_tree;

void rvp_python_start(bool is_wanted);

/* A module is met for the first time: it may be the interpreter. */
void rvp_python_meet(const struct rvp_object *object);

/* A module is gone: it may have been the interpreter. */
void rvp_python_lose(uint64_t start, uint64_t end);

/* The Python node of the thread's innermost Python frame; 0: none. */
uint32_t rvp_python_path(struct rvp_thread *thread);

/* In a child by fork. */
void rvp_python_reset(void);

#endif
