/* SPDX-License-Identifier: MIT */
/* advice.h: what one can turn to make a category's bytes fewer, and which share of them would go then. Only
 * what has a figure is here; whether it may be turned is the user's to know, so its price is said. */
#ifndef RVP_REPORT_ADVICE_H
#define RVP_REPORT_ADVICE_H

#include "report/purpose.h"

struct rvp_advice {
	enum rvp_category category;
	const char *sub_kind; /* NULL: of all of the category; else of this sub-kind alone */
	double share;         /* of its bytes that would go */
	bool wants_gguf;      /* only where the run has read a GGUF file: a knob of llama.cpp's */
	const char *text;
};

extern const struct rvp_advice rvp_advice[];
extern const size_t rvp_advice_count;

#endif
