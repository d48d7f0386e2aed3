/* SPDX-License-Identifier: MIT */
/* matcher.h: the inside of a matcher, for the files that it consists of: match.c matches any record, pass_runs.c the
 * long runs of plain allocs and frees that nearly all of a full log is. */
#ifndef RVP_REPORT_MATCHER_H
#define RVP_REPORT_MATCHER_H

#include "report/match.h"

struct rvp_lane { /* what is remembered of a stream */
	uint64_t thread_serial;
	uint64_t last_alloc; /* address of the thread's last recorded alloc */
	bool has_last_alloc, has_last_freed, last_freed_was_inherited;
	struct rvp_block last_freed;
};

struct rvp_early_free {
	uint64_t address, ns;
	uint32_t process, stream;
};

struct rvp_site_place { /* where a call path was found last */
	uint32_t process, stack, python, site; /* site: + 1; 0: none */
};
enum { RVP_EARLY_FREES = 16, RVP_SITE_PLACES = 4096 };
/* What is out of order by less is put in order. */
static const uint64_t rvp_match_window_ns = 100000;

struct rvp_matcher {
	const struct rvp_run *run;
	struct rvp_site_table *sites;
	struct rvp_classifier classifier;
	struct rvp_inheritance *inheritance;
	struct rvp_block_table *tables;
	struct rvp_match_counts *counts;
	bool *has_ended;
	struct rvp_lane *lanes;
	struct rvp_early_free early[RVP_EARLY_FREES]; /* a ring; ns 0: none */
	unsigned next_early;
	uint64_t last_early_ns;
	struct rvp_site_place site_places[RVP_SITE_PLACES];
};

static inline bool rvp_match_is_near(uint64_t then, uint64_t now)
{
	return now - then <= rvp_match_window_ns;
}

static inline struct rvp_lane *rvp_match_lane(struct rvp_matcher *matcher, const struct rvp_moment *moment)
{
	struct rvp_lane *lane = &matcher->lanes[moment->stream];

	if (lane->thread_serial != moment->thread_serial) {
		lane->thread_serial = moment->thread_serial;
		lane->has_last_alloc = lane->has_last_freed = false;
	}
	return lane;
}

static inline struct rvp_site_place *rvp_match_site_place(struct rvp_matcher *matcher, uint32_t process, uint32_t stack,
							   uint32_t python)
{
	return &matcher->site_places[(stack ^ python * 0x9e3779b1u ^ process << 7) % RVP_SITE_PLACES];
}

uint32_t rvp_match_find_site(struct rvp_matcher *matcher, uint32_t process, uint32_t stack, uint32_t python);

/* UINT32_MAX without memory. */
static inline uint32_t rvp_match_site(struct rvp_matcher *matcher, uint32_t process, uint64_t stack_number,
				      uint64_t python_number)
{
	uint32_t stack = stack_number <= UINT32_MAX ? (uint32_t)stack_number : 0;
	uint32_t python = python_number <= UINT32_MAX ? (uint32_t)python_number : 0;
	const struct rvp_site_place *place = rvp_match_site_place(matcher, process, stack, python);

	if (place->stack == stack && place->python == python && place->process == process && place->site)
		return place->site - 1;
	return rvp_match_find_site(matcher, process, stack, python);
}

/* The thread that gave it out gives it back, and has given out nothing since. */
static inline bool rvp_match_is_temporary(const struct rvp_lane *lane, const struct rvp_moment *moment,
					  const struct rvp_block *block, uint64_t family)
{
	return lane->has_last_alloc && lane->last_alloc == block->address && block->stream == moment->stream &&
	       block->thread == (uint32_t)moment->thread_serial && family != RVP_FAMILY_REALLOC;
}

static inline void rvp_match_note_freed(struct rvp_lane *lane, const struct rvp_block *block)
{
	lane->last_freed = *block;
	lane->has_last_freed = true;
	lane->last_freed_was_inherited = false;
}

#endif
