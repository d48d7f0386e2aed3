/* SPDX-License-Identifier: MIT */
/* steps_loop.h: whether a sequence of words (places in one function that allocations came by) is a loop, and
 * where its turns begin. See steps_loop.c for what is asked of a loop. */
#ifndef RVP_REPORT_STEPS_LOOP_H
#define RVP_REPORT_STEPS_LOOP_H

#include "report/steps_events.h"

struct rvp_step_loop {
	uint32_t *begins; /* numbers in `events`: the first allocation of each turn */
	size_t count;     /* 0: it is no loop */
	size_t end;       /* number in `events`: the last allocation of the last turn */
	double score;     /* share of the words that come equally often in each turn */
};

/* `list`: numbers of events, ascending, whose path goes through one function at `depth` (their word is at
 * that place of their path). At least `least` turns, the last of which begins at
 * `after_ns` or later. False only without memory. */
bool rvp_step_loop_find(const struct rvp_step_events *events, const uint32_t *list, size_t count,
			uint32_t depth, size_t least, uint64_t after_ns, struct rvp_step_loop *loop);

#endif
