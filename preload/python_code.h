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

/* What a code object is known by. */
struct rvp_python_code_words {
	uint64_t address, name, file, lines;
	uint32_t first_line;
};

/* What a thread remembers of code objects that it met: the number goes with all that the object is known by.
 */
enum { RVP_PYTHON_SEEN = 64, RVP_PYTHON_OBJECT_TYPE = 8 };
struct rvp_python_seen {
	struct rvp_python_code_words words;
	uint32_t number; /* 0: empty */
	uint64_t era;
};

/* Reads what the object at words->address is known by; false: it is no code object, or cannot be read. */
bool rvp_python_code_read(const struct rvp_python *python, struct rvp_memory *memory,
			  struct rvp_python_code_words *words);

/* Whether a code object that a frame still holds, and that was read before, is the same. */
static inline __attribute__((always_inline)) bool rvp_python_code_is(const struct rvp_python *python,
								     const struct rvp_python_code_words *words)
{
	const struct rvp_python_layout *layout = &python->layout;
	const char *at = (const char *)words->address;

	return !((*(const uint64_t *)(at + RVP_PYTHON_OBJECT_TYPE) ^ python->code_type) |
		 (*(const uint64_t *)(at + layout->code_name) ^ words->name) |
		 (*(const uint64_t *)(at + layout->code_file) ^ words->file) |
		 (*(const uint64_t *)(at + layout->code_lines) ^ words->lines) |
		 (*(const uint32_t *)(at + layout->code_line) ^ words->first_line));
}

/* The number; 0: there are too many. `seen` has RVP_PYTHON_SEEN places. */
uint32_t rvp_python_code_number(struct rvp_python *python, struct rvp_thread *thread, struct rvp_memory *memory,
				struct rvp_python_seen *seen, const struct rvp_python_code_words *words);

void rvp_python_code_reset(void);

#endif
