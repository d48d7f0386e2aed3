/* SPDX-License-Identifier: MIT */
/* text_style.h: where a report is written to: colour or not, how wide, and text that is safe to print. */
#ifndef RVP_TEXT_STYLE_H
#define RVP_TEXT_STYLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum rvp_color_choice { RVP_COLOR_AUTO, RVP_COLOR_ALWAYS, RVP_COLOR_NEVER };

struct rvp_style {
	bool has_color;
	unsigned width; /* columns; 0: no limit (not a terminal) */
};

enum rvp_ink {
	RVP_INK_PLAIN,
	RVP_INK_TITLE,
	RVP_INK_NUMBER,
	RVP_INK_PYTHON,
	RVP_INK_DIM,
	RVP_INK_BAD,
	RVP_INK_COUNT
};

/* False for a word that is none of auto, always, never. */
bool rvp_color_choice_of(const char *word, enum rvp_color_choice *choice);

/* The style for `fd`. Order: the choice, NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE (empty ones say nothing),
 * then whether fd is a terminal and TERM is not dumb. */
struct rvp_style rvp_style_for(int fd, enum rvp_color_choice choice);

/* Escape sequences, or "". */
const char *rvp_style_on(const struct rvp_style *style, enum rvp_ink ink);
const char *rvp_style_off(const struct rvp_style *style, enum rvp_ink ink);

/* Columns that UTF-8 `text` takes when printed by rvp_print_safely. */
unsigned rvp_text_columns(const char *text);

/* Prints `text` from a program or a file: control characters and broken UTF-8 as '?', so that no name can
 * steer the terminal. Longer than `columns` (0: no limit): cut, with "..." at the end. Returns the columns
 * printed. */
unsigned rvp_print_safely(FILE *out, const char *text, unsigned columns);

/* The same, but its end is kept and its beginning cut: paths. */
unsigned rvp_print_safely_end(FILE *out, const char *text, unsigned columns);

#endif
