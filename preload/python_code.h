/* SPDX-License-Identifier: MIT */
/* python_code.h: numbers for Python's code objects, each told once in a CODE record.
 *
 * A code object is known by its address together with the addresses of its name, file and line table, its first line,
 * and the hash that Python keeps of its name: another object at the same address is another code, even where all that it
 * points to has come to lie at the same addresses too.
 */
#ifndef RVP_PYTHON_CODE_H
#define RVP_PYTHON_CODE_H

#include "preload/python_runtime.h"
#include "preload/thread.h"

/* What a code object is known by. */
struct rvp_python_code_words {
	uint64_t address, name, file, lines;
	uint64_t name_hash; /* as in the string */
	uint32_t first_line;
};

/* What a thread remembers of code objects that it met: the number goes with all that the object is known by.
 */
enum { RVP_PYTHON_SEEN = 64, RVP_PYTHON_OBJECT_TYPE = 8, RVP_PYTHON_TEXT_HASH = 24 };
struct rvp_python_seen {
	struct rvp_python_code_words words;
	uint32_t number; /* 0: empty */
	uint64_t era;
};

/* Reads what the object at words->address is known by; false: it is no code object with a name, or cannot be read. */
bool rvp_python_code_read(const struct rvp_python *python, struct rvp_memory *memory,
			  struct rvp_python_code_words *words);

/* Whether a code object that a frame still holds, and that was read before, is the same. It holds its name in turn: a string,
 * whatever address that has now. */
static inline __attribute__((always_inline)) bool rvp_python_code_is(const struct rvp_python_layout *layout,
								     const struct rvp_python_code_words *words)
{
	const char *at = (const char *)words->address;
	uint64_t name = *(const uint64_t *)(at + layout->code_name);

	return !((*(const uint64_t *)(at + layout->code_file) ^ words->file) |
		 (*(const uint64_t *)(at + layout->code_lines) ^ words->lines) |
		 (*(const uint32_t *)(at + layout->code_line) ^ words->first_line) |
		 (*(const uint64_t *)(name + RVP_PYTHON_TEXT_HASH) ^ words->name_hash));
}

/* The number; 0: there are too many. `seen` has RVP_PYTHON_SEEN places. */
uint32_t rvp_python_code_number(struct rvp_python *python, struct rvp_thread *thread, struct rvp_memory *memory,
				struct rvp_python_seen *seen, const struct rvp_python_code_words *words);

void rvp_python_code_reset(void);

#endif
