/* SPDX-License-Identifier: MIT */
/* steps_turns.h: whether the turns of a loop can be the steps of a model. */
#ifndef RVP_REPORT_STEPS_TURNS_H
#define RVP_REPORT_STEPS_TURNS_H

#include "report/steps_loop.h"

/* False: in no stretch that is long enough does the thread more than to allocate, so that there is nothing to
 * look for. */
bool rvp_step_may_be(const struct rvp_step_events *events);

/* "" if they can; else the reason, without memory too. The loop is in a function at `depth` of its call
 * paths. */
const char *rvp_step_why_not(const struct rvp_step_events *events, const struct rvp_step_loop *loop,
			     uint32_t depth);

/* Whether the turns of two loops have about as many allocations. (Of bytes there may be far fewer: a cache
 * that is copied was small earlier.) */
bool rvp_step_turns_alike(const struct rvp_step_events *events, const struct rvp_step_loop *a,
			  const struct rvp_step_loop *b);

#endif
