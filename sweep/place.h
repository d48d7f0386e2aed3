/* SPDX-License-Identifier: MIT */
/* place.h: where a sweep lies: its results in a folder that has nothing but results, and beside it a hidden
 * one for what it takes to get there (.NAME.rvprof-bench), which stays so that a sweep can go on and a report
 * can be made.
 *
 * Rule: a folder that a sweep did not make is not written into; a sweep that is there is gone on with only
 * when asked, and only by the same plan; two sweeps at a time are refused by a lock. */
#ifndef RVP_SWEEP_PLACE_H
#define RVP_SWEEP_PLACE_H

#include "sweep/plan.h"

#include <limits.h>

struct rvp_sweep_place {
	char out[PATH_MAX], work[PATH_MAX];
	int lock_fd;
	bool is_resumed;
};

/* ANEW: what a sweep that is there has made is thrown away; not while it is at work. */
enum rvp_sweep_begin { RVP_SWEEP_FIRST, RVP_SWEEP_GOES_ON, RVP_SWEEP_ANEW };

/* Close it in either case. */
struct rvp_status rvp_sweep_place_open(struct rvp_sweep_place *place, const char *out,
				       const struct rvp_plan *plan, enum rvp_sweep_begin begin);
void rvp_sweep_place_close(struct rvp_sweep_place *place);

/* For reports: only the names. */
struct rvp_status rvp_sweep_place_name(struct rvp_sweep_place *place, const char *out);

#endif
