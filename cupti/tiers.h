/* SPDX-License-Identifier: MIT */
/* tiers.h: how much is followed, by what it costs (--cuda auto). Pure: figures in, a tier out.
 *
 * A window is a second or more. What a tier costs is launches a second times what a launch takes more than at the lowest
 * tier, as measured, and what a tier was never seen to cost is assumed (tiers.c says how much); graphs that are followed
 * node by node cost by the node. A tier is left when it went over the budget in two windows in a row, for the highest one
 * that fits; and the next one is entered when it is expected to take no more than three quarters of the budget.
 */
#ifndef RVP_CUPTI_TIERS_H
#define RVP_CUPTI_TIERS_H

#include "record/schema.h"

#include <stdbool.h>
#include <stddef.h>

struct rvp_tier_window {
	uint64_t ns;
	uint64_t launches, graph_nodes; /* graph_nodes: that the launched graphs have, as far as known */
	uint64_t launch_ns;             /* what a launch typically took on the host; 0: not measured */
	uint64_t walk_ns;               /* what walking records took in this window */
	uint64_t records, flawed;       /* with times */
};

struct rvp_tiers {
	enum rvp_device_tier tier, ceiling;
	uint32_t budget_milli, over;
	uint64_t base_ns;                            /* the least launch_ns at the lowest tier; 0: none yet */
	uint64_t cost_ns[RVP_DEVICE_TIER_COUNT];     /* of a launch, as last measured; 0: never */
};

enum { RVP_TIERS_REASON_BYTES = 160 };

/* What a launch is taken to cost at a tier. */
uint64_t rvp_tiers_cost_ns(const struct rvp_tiers *tiers, enum rvp_device_tier tier);

/* The tier from here on, which is `tiers->tier` too; where it changes `reason` says why. */
enum rvp_device_tier rvp_tiers_decide(struct rvp_tiers *tiers, const struct rvp_tier_window *window,
				      char reason[RVP_TIERS_REASON_BYTES]);

#endif
