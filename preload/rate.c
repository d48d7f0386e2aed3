/* SPDX-License-Identifier: MIT */
/* rate.c: see rate.h. */
#include "preload/rate.h"

#include "preload/stamp.h"

static const uint64_t look_ns = (uint64_t)RVP_RATE_A_LOOK * 1000000000u / RVP_RATE_A_SECOND;

bool rvp_rate_takes(struct rvp_rate *rate)
{
	if (rate->left == 0) {
		uint64_t now = rvp_monotonic_ns();

		rate->is_fast = rate->looked_ns && now - rate->looked_ns < look_ns;
		rate->looked_ns = now;
		rate->left = RVP_RATE_A_LOOK;
	}
	rate->left--;
	return !rate->is_fast;
}
