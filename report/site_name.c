/* SPDX-License-Identifier: MIT */
/* site_name.c: see site_name.h. */
#include "report/site_name.h"

#include "report/symbols.h"
#include "report/symbols_stack.h"
#include "report/text_report.h"

#include <stdio.h>

void rvp_site_name(const struct rvp_run *run, const struct rvp_site *site, char *text, size_t text_bytes)
{
	struct rvp_symbols *symbols = rvp_symbols_open(NULL);
	struct rvp_stacks *stacks = symbols ? rvp_stacks_open(symbols, run) : NULL;
	struct rvp_frame_list stack = {0};
	const struct rvp_frame *frame;

	if (stacks)
		stack = rvp_stacks_of(stacks, site);
	snprintf(text, text_bytes, "a call stack that was not recorded");
	if (rvp_text_shown_frames(&stack, &frame, 1))
		snprintf(text, text_bytes, frame->line ? "%.100s, line %u" : "%.100s", frame->function,
			 frame->line);
	rvp_stacks_close(stacks);
	rvp_symbols_close(symbols);
}
