/* SPDX-License-Identifier: MIT */
/* sample.h: one prompt, in four rounds: a quarter of it comes in, the gate says which pages stay, questions
 * are asked.
 *
 * The gate's square has a place for each page, oldest first, and one for the questions of the round. Entry
 * (i, j) is how much page j reads page i: the mean query of j times the mean key of i, over sqrt(width), less
 * a slope for the distance between pages (as ALiBi has it) that questions do not have. So what flows from the
 * first place to the last is what of the beginning reaches the questions, and a cut is where it can be let
 * go. A page stays if it still reaches the questions along kept entries. Pages that have not come yet are
 * kept by the mask, so hysteresis never holds a new page back. */
#ifndef ATTN_SAMPLE_H
#define ATTN_SAMPLE_H

#include "coherence.h"
#include "mincut.h"
#include "prompt.h"

struct setting {
	bool is_gated;
	float lambda, eps;
	size_t tau;
};

/* A decision of the gate, as the witness has it. */
struct decision {
	const float *queries, *keys; /* means, (pages + 1) * WIDTH */
	size_t float_count;
	const bool *keep;
	size_t keep_count;
	float cut_cost;
};
typedef bool decide_fn(void *context, const struct decision *decision);

struct sample; /* one prompt on its way */

/* NULL without memory. */
struct sample *sample_open(const struct prompt *prompt, const struct setting *setting);

/* All rounds. False without memory, or when `decide` says so. */
bool sample_run(struct sample *sample, decide_fn *decide, void *context);

struct sample_result {
	double coherence_delta, path_length_change; /* over the questions of all rounds, as one list */
	size_t decision_flips, right, asked;        /* right: answers */
	size_t pages, pages_left;
};

/* After the rounds, and no part of what is measured: against plain attention over every page that ever came;
 * pages are made once more for it, one at a time, when the cache is gone. False without memory. */
bool sample_judge(struct sample *sample, struct sample_result *result);
void sample_close(struct sample *sample);

#endif
