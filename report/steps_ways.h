/* SPDX-License-Identifier: MIT */
/* steps_ways.h: the ways from a function into those that it calls, by the allocations that come that way:
 * places that call the same function (they share a place inside it: a prefill and a decode) are one group. */
#ifndef RVP_REPORT_STEPS_WAYS_H
#define RVP_REPORT_STEPS_WAYS_H

#include "report/steps_events.h"

struct rvp_step_ways {
	uint32_t *group_of; /* by path; 0: it does not come here */
	uint64_t *ns;       /* by group - 1: time until the next allocation, of all its events */
	size_t path_count;
	uint32_t common; /* depths from here on at which all are of one place and go further: no loop shows
			    there */
};

/* `list`: numbers of events, ascending, whose path goes through the function at `depth`. False only without
 * memory. */
bool rvp_step_ways_find(const struct rvp_step_events *events, const uint32_t *list, size_t count,
			uint32_t depth, struct rvp_step_ways *ways);

/* The group with the most time that was not given out yet; 0: none has as much as `least_ns`. */
uint32_t rvp_step_ways_next(struct rvp_step_ways *ways, uint64_t least_ns);
void rvp_step_ways_free(struct rvp_step_ways *ways);

#endif
