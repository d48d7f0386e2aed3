/* SPDX-License-Identifier: MIT */
/* python_lines.h: the source line of an instruction of a Python code object. */
#ifndef RVP_PYTHON_LINES_H
#define RVP_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/* A code object's line table as recorded (CODE in record/schema.def). */
struct rvp_python_lines {
	uint32_t version;    /* 0x30b is 3.11: decides how `packed` is read */
	uint32_t first_line; /* co_firstlineno */
	const uint8_t *packed;
	size_t packed_bytes;
};

/* The line of the instruction at byte offset `instruction`. Where the table says that it has none (the
 * compiler's own code), is damaged or does not reach so far: first_line, the line of the def. */
uint32_t rvp_python_line(const struct rvp_python_lines *lines, uint32_t instruction);

#endif
