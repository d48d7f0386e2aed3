/* SPDX-License-Identifier: MIT */
/* life_sites.h: how the blocks of each call path live against the steps: what evidence_lifetime.c judges by.
 *
 * The figure that tells a cache is the live bytes of a call path at the borders between steps: whatever the
 * style (in place, by copies, by doubling, by pages), they only grow. It is kept up to date lazily: a call
 * path is looked at when it has an event, and between two events its live bytes do not move.
 *
 * Most call paths of a run have no event in a step (what a framework allocates while it is loaded): of them there are
 * the live bytes alone.
 *
 * Blocks that were met by chance (sampled mode) are not in here: their sums are noise.
 */
#ifndef RVP_REPORT_LIFE_SITES_H
#define RVP_REPORT_LIFE_SITES_H

#include "report/evidence.h"
#include "report/steps.h"

enum { RVP_LIFE_CROSSERS = 64 };

struct rvp_life_path { /* of any call path */
	uint64_t live_bytes; /* before its first event in a step */
	uint32_t row;        /* number + 1 of its rvp_life_site; 0: no event in a step yet */
	uint16_t stayed, left; /* tried: freed before the thread asked from elsewhere, or not */
};

struct rvp_life_site {
	uint32_t number; /* of the call path */
	uint64_t live_bytes;
	int64_t last_step; /* of the last event */
	/* At borders. */
	uint64_t border_bytes, most_border_bytes, grown_bytes;
	uint64_t last_increase_bytes;
	int64_t first_growth_step;
	uint32_t increases, equal_increases, decreases;
	/* Of blocks born in steps. */
	uint64_t born_bytes, within_step_bytes,
	    next_step_bytes; /* died in the step of their birth, or in the next */
	uint32_t born_count, within_step_count;
	uint64_t least_bytes, most_bytes; /* sizes of those that died within a step or the next */
	uint64_t last_born_bytes;
	uint32_t same_size_run, most_siblings; /* of one size in one step, one after the other */
	uint64_t span_ns, step_ns;  /* sums over those that died within their step: their lives, the steps' */
	uint64_t other_phase_bytes; /* died in another phase of the step than they were born in */
	uint64_t backward_bytes;    /* born and died in the backward phase */
	uint64_t forward_bytes;     /* born and died in the forward phase */
	/* Blocks that lived over a border and all went in one step: what a grower may have replaced. */
	int64_t crossing_step;
	uint64_t crossing_bytes;
	uint32_t crossing_count;
	bool crossed_once; /* false: in several steps */
	/* The same, of the last step in which such blocks went. */
	int64_t last_crossing_step;
	uint64_t last_crossing_bytes;
	uint32_t last_crossing_count;
};

struct rvp_life_crosser {
	struct rvp_block_key key;
	uint32_t site;
	int64_t died_step;
};

struct rvp_life {
	struct rvp_life_path *paths; /* by call path (state->sites of a survey) */
	size_t path_count;
	struct rvp_life_site *sites; /* those with an event in a step; once settled by `number` */
	size_t count, room;
	struct rvp_life_crosser *crossers;
	size_t crosser_count, crosser_room;
	const struct rvp_steps *steps;
	int64_t present; /* step of the last event */
	bool no_memory;
};

void rvp_life_open(struct rvp_life *life, const struct rvp_steps *steps);
void rvp_life_see(struct rvp_life *life, const struct rvp_event *event);
/* NULL: no memory. */
struct rvp_life_path *rvp_life_path_of(struct rvp_life *life, uint32_t number);
/* Of a call path that has one. */
struct rvp_life_site *rvp_life_site_of(const struct rvp_life *life, uint32_t number);
/* Behind the last event: the last border. */
void rvp_life_settle(struct rvp_life *life);
void rvp_life_free(struct rvp_life *life);

#endif
