/* SPDX-License-Identifier: MIT */
/* python_code.h: numbers for Python's code objects, each told once in a CODE record.
 *
 * A code object is known by its address together with the addresses of its name, file and line table and its
 * first line: another object at the same address is another code.
 */
#ifndef RVP_PYTHON_CODE_H
#define RVP_PYTHON_CODE_H

#include "preload/python_runtime.h"
#include "preload/thread.h"

/* What a thread remembers of code objects that it met: the number goes with all that the object is known by.
 */
enum { RVP_PYTHON_SEEN = 64 };
struct rvp_python_seen {
	uint64_t address, name, file, lines;
	uint32_t first_line, number; /* 0: empty */
	uint64_t era;
};

/* The number; 0: it is no code object, or cannot be read, or there are too many. `seen` has RVP_PYTHON_SEEN
 * places. */
uint32_t rvp_python_code(struct rvp_python *python, struct rvp_thread *thread, struct rvp_memory *memory,
			 struct rvp_python_seen *seen, uint64_t code);

void rvp_python_code_reset(void);

#endif
