/* SPDX-License-Identifier: MIT */
/* aligned.c: see aligned.h. */
#include "preload/aligned.h"

#include "preload/stamp.h"

static const uint64_t look_ns = (uint64_t)RVP_ALIGNED_A_LOOK * 1000000000u / RVP_ALIGNED_A_SECOND;

bool rvp_aligned_is_wanted(struct rvp_thread *thread)
{
	struct rvp_aligned *aligned = &thread->aligned;

	if (aligned->left == 0) {
		uint64_t now = rvp_monotonic_ns();

		aligned->is_fast = aligned->looked_ns && now - aligned->looked_ns < look_ns;
		aligned->looked_ns = now;
		aligned->left = RVP_ALIGNED_A_LOOK;
	}
	aligned->left--;
	return !aligned->is_fast;
}
