/* SPDX-License-Identifier: MIT */
/* step_ends.h: moments at which steps end, for questions about growth. A step that nobody ended is left out:
 * it lasts to the end of its process, where nothing is left; the last of detected steps likewise. */
#ifndef RVP_REPORT_STEP_ENDS_H
#define RVP_REPORT_STEP_ENDS_H

#include "report/steps.h"

enum { RVP_STEP_ENDS_MAX = 128 };

struct rvp_step_ends {
	uint64_t *moments_ns; /* ascending */
	uint32_t *steps;      /* their numbers */
	size_t count;
};

/* Of the steady phase: decode steps where there are any, else all but warm-up, prefill and the first one; at
 * most so many, evenly spread, first and last among them. False without memory. */
bool rvp_step_ends_spread(struct rvp_step_ends *ends, const struct rvp_run *run,
			  const struct rvp_steps *steps, size_t most);

/* Of these two, if there are such steps; `a` may be behind `b`. The moments ascend. */
bool rvp_step_ends_two(struct rvp_step_ends *ends, const struct rvp_run *run, const struct rvp_steps *steps,
		       uint64_t a, uint64_t b);

void rvp_step_ends_free(struct rvp_step_ends *ends);

/* A straight line through points, by least squares. `fit` is r squared: 1 where the line explains all. */
struct rvp_line {
	double slope, fit;
};
struct rvp_line rvp_line_through(const double *x, const double *y, size_t count);

#endif
