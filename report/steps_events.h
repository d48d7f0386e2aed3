/* SPDX-License-Identifier: MIT */
/* steps_events.h: the allocations of one thread in order, each with its call path from the root and when it
 * died: what the search for a period reads.
 *
 * Memory is bounded: beyond RVP_STEP_EVENTS_MAX the smallest blocks are left out, all of them below a size
 * that is raised until the rest fits. */
#ifndef RVP_REPORT_STEPS_EVENTS_H
#define RVP_REPORT_STEPS_EVENTS_H

#include "report/timeline.h"

enum { RVP_STEP_EVENTS_MAX = 4 << 20, RVP_STEP_DEPTH_MAX = 64, RVP_STEP_SITES_MAX = 1 << 18 };
#define RVP_STEP_NEVER UINT32_MAX

struct rvp_step_event {
	uint64_t ns;
	uint32_t path;  /* in paths */
	uint32_t bytes; /* at most UINT32_MAX */
	uint32_t death; /* how many allocations of the thread there had been; RVP_STEP_NEVER */
	uint32_t
	    quiet_ns; /* from here to the thread's last free before its next allocation; at most UINT32_MAX */
};

/* Words of a call path, from the root; a word names a place in a function: a return address, or a code object
 * and an instruction of it. */
struct rvp_step_path {
	uint32_t first, depth; /* in words */
};

struct rvp_step_events {
	struct rvp_step_event *events;
	uint32_t *numbers; /* of the events among all allocations of the thread: what `death` counts */
	size_t count;
	struct rvp_step_path *paths;
	uint64_t *words;
	size_t path_count;
	uint32_t process, tid;
	bool is_sampled; /* only blocks of threshold_bytes and more are here */
	bool is_aligned; /* only blocks that were asked for with an alignment: tensors, all of them */
	uint64_t
	    sure_bytes; /* each block of so many is here; smaller ones may have come too fast; 0: each is */
	bool has_holes; /* some did: there are samples of them */
	uint64_t least_bytes; /* smaller blocks were left out; 0: none were */
	const char *why_none; /* "": they are good to look at */
};

/* Whose allocations there are, by thread: all, and those with an alignment. NULL without memory. */
struct rvp_step_census;
struct rvp_step_census *rvp_step_census_open(void);
void rvp_step_census_take(struct rvp_step_census *census, const struct rvp_moment *moment);
/* The same for a run (rvp_timeline_take). */
void rvp_step_census_take_run(struct rvp_step_census *census, const struct rvp_moment *moment,
			      const struct rvp_brief *briefs, size_t count);

/* Of the thread that is most likely the program's own loop: the main one unless it does next to nothing.
 * `only_aligned`: of requests with an alignment alone, which both modes record each. why_none says when there
 * are too few; the log is not read then. The census has seen the whole timeline. False without memory. */
bool rvp_step_events_gather(const struct rvp_run *run, const struct rvp_step_census *census,
			    bool only_aligned, struct rvp_step_events *events);
void rvp_step_events_free(struct rvp_step_events *events);

/* When the thread was last seen at work. There are events. */
uint64_t rvp_step_events_end_ns(const struct rvp_step_events *events);

/* A number for the end of a call path, from `depth` on. */
uint64_t rvp_step_path_key(const struct rvp_step_events *events, uint32_t path, uint32_t depth);

#endif
