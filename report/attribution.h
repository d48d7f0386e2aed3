/* SPDX-License-Identifier: MIT */
/* attribution.h: what every block of a run is for, and who says so.
 *
 * Two passes over the timeline. The survey lets every kind of evidence (evidence.h) see all events and claim:
 * a site, or a single block (by its key, which is the same in each pass). In the second pass, the one that
 * answers questions (analysis.h), every block gets at its birth the verdict of the most specific evidence
 * that speaks; a claim that came late in a block's life holds for all of it, unless it says from when on.
 *
 * Invariants
 *   (T1) A block has one purpose at any moment; bytes are in one purpose or in `unknown`, never in two.
 *   (T2) A verdict names its evidence and a reason that a user can look up.
 *   (T3) Memory is bounded by live blocks, sites, and blocks that were claimed singly.
 */
#ifndef RVP_REPORT_ATTRIBUTION_H
#define RVP_REPORT_ATTRIBUTION_H

#include "report/evidence.h"
#include "report/purpose.h"
#include "report/steps.h"

struct rvp_attribution;

struct rvp_attribution_settings {
	const char *const *rule_files; /* of the user, NULL ends them; NULL: none. Before the built-in ones */
	bool without_rules;            /* the built-in ones stay away */
};

/* Steps, survey, claims. Fails only without memory. */
struct rvp_status rvp_attribute(struct rvp_run *run, const struct rvp_attribution_settings *settings,
				struct rvp_attribution **attribution);
void rvp_attribution_close(struct rvp_attribution *attribution);

const struct rvp_steps *rvp_attribution_steps(const struct rvp_attribution *attribution);
struct rvp_purposes *rvp_attribution_purposes(struct rvp_attribution *attribution);
/* One line of text, never NULL: "ggml.rules:12 llama_kv_cache", "named by rvprof_tag 'k'". */
const char *rvp_reason_text(const struct rvp_attribution *attribution, uint32_t reason);

/* Before each answering pass; rvp_analyse does it. A run may be asked any number of times: what the pass
 * before left open is forgotten, and disagreements are counted anew. */
void rvp_attribution_begin_pass(struct rvp_attribution *attribution);

/* Second pass: an event before it is applied, and the verdict at a birth. */
void rvp_attribution_see(struct rvp_attribution *attribution, const struct rvp_event *event);
struct rvp_verdict rvp_attribution_judge(struct rvp_attribution *attribution, const struct rvp_event *birth);

/* A verdict that need not be asked for again: of the site's blocks with least <= bytes <= most, but those that are claimed
 * singly. `overruled`: disagreements that it repeats each time. */
enum { RVP_REPEATED_MAX = 3 };
struct rvp_lasting {
	uint64_t least, most;
	uint32_t split; /* the site's number with this purpose, + 1; 0: nothing is known */
	uint16_t repeated_count, repeated[RVP_REPEATED_MAX];
};
/* Whether the verdict of the birth that was judged last is one. Not of mappings, nor where a process has scopes. */
bool rvp_attribution_lasts(const struct rvp_attribution *attribution, const struct rvp_event *birth,
			   struct rvp_lasting *lasting);
/* What judging another block of `bytes` would have counted. */
void rvp_attribution_repeat(struct rvp_attribution *attribution, const struct rvp_lasting *lasting, uint64_t bytes);
/* Whether any single blocks are claimed; and of this one: false, it is not. */
bool rvp_attribution_claims_blocks(const struct rvp_attribution *attribution);
bool rvp_attribution_may_claim(const struct rvp_attribution *attribution, const struct rvp_block_key *key);

/* All that was said of the block whose birth was judged last, the believed word and the overruled ones. */
enum { RVP_VERDICTS_MAX = 24 };
struct rvp_words {
	struct rvp_block_key key;
	struct rvp_verdict words[RVP_VERDICTS_MAX];
	size_t count, believed; /* a number in words; count 0: nobody spoke */
};
const struct rvp_words *rvp_attribution_last_words(const struct rvp_attribution *attribution);

/* Changes of purpose in the middle of a life, in order of time; how many in *count. */
struct rvp_recast {
	struct rvp_block_key key;
	uint64_t ns;
	struct rvp_verdict verdict; /* from then on */
};
const struct rvp_recast *rvp_attribution_recasts(const struct rvp_attribution *attribution, size_t *count);

/* Who was overruled, by bytes at birth. */
struct rvp_disagreement {
	struct rvp_verdict believed, overruled;
	uint64_t count, bytes;
};
const struct rvp_disagreement *rvp_attribution_disagreements(const struct rvp_attribution *attribution,
							     size_t *count);

/* Findings of evidence about itself, a line each ("torch 9.9 is not known: tensor events are off"); NULL
 * ends. */
const char *const *rvp_attribution_notes(const struct rvp_attribution *attribution);

#endif
