/* SPDX-License-Identifier: MIT */
/* python_frames.h: the Python call path of the calling thread, read from the interpreter's structures.
 *
 * Never its C API: that allocates, and can run the program's finalizers. No reference is taken, nothing is
 * written. (Y1) Each address is checked (unwind_memory.h) and each code object's type is compared, so a
 * layout that does not fit gives no path, counted, and never a fault. (Y2) A path is whole or there is none.
 */
#ifndef RVP_PYTHON_FRAMES_H
#define RVP_PYTHON_FRAMES_H

#include "preload/python_code.h"
#include "preload/python_memo.h"
#include "preload/unwind_find.h"

enum { RVP_PYTHON_PAGES = 256 };

/* What a thread keeps for it. */
struct rvp_python_walker {
	struct rvp_python_memo memo;
	uint64_t pages[RVP_PYTHON_PAGES]; /* known to be readable */
	struct rvp_python_seen seen[RVP_PYTHON_SEEN];
};

void rvp_python_start(bool is_wanted);

/* A module is met for the first time: it may be the interpreter. */
void rvp_python_meet(const struct rvp_object *object);

/* A module is gone: it may have been the interpreter. */
void rvp_python_lose(uint64_t start, uint64_t end);

/* The Python node of the thread's innermost Python frame; 0: none. What the walker remembers holds for
 * one epoch. */
uint32_t rvp_python_path(struct rvp_thread *thread, struct rvp_python_walker *walker, uint64_t epoch);

/* In a child by fork: all is to be emitted again. */
void rvp_python_reset(void);

#endif
