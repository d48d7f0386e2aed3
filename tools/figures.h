/* SPDX-License-Identifier: MIT */
/* figures.h: an answer of figures, told the same way as text, a figure a line, and as one JSON object.
 * Doubles that are NAN are left out of both. */
#ifndef RVP_TOOLS_FIGURES_H
#define RVP_TOOLS_FIGURES_H

#include "report/json_writer.h"

struct rvp_figures {
	struct rvp_json json;
	bool is_json;
	bool has_text; /* something was printed */
	bool is_plain; /* text for programs: every digit, no indent, nothing between thousands */
};

/* `schema` like "rvprof.model/1"; NULL: none. */
void rvp_figures_open(struct rvp_figures *figures, bool is_json, const char *schema);
void rvp_figures_close(struct rvp_figures *figures);

/* An object of the answer; `title` is its heading as text. */
void rvp_figures_group(struct rvp_figures *figures, const char *key, const char *title);
void rvp_figures_end(struct rvp_figures *figures);

void rvp_figure_whole(struct rvp_figures *figures, const char *key, uint64_t value);
/* As text with the rounded size beside it. */
void rvp_figure_bytes(struct rvp_figures *figures, const char *key, uint64_t bytes);
void rvp_figure_double(struct rvp_figures *figures, const char *key, double value);
void rvp_figure_bool(struct rvp_figures *figures, const char *key, bool value);
void rvp_figure_text(struct rvp_figures *figures, const char *key, const char *value);

#endif
