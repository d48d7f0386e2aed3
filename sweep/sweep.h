/* SPDX-License-Identifier: MIT */
/* sweep.h: runs the jobs of a plan: first every setting once recorded whole, side by side on all processors;
 * then rounds of timing, one job at a time, in an order that is shuffled anew each round. A round has the
 * baseline twice: how far these are apart is what this machine makes of equal things. Rounds end when each
 * setting's time is known to the plan's precision, at the most after most_repeats, or when the budget is
 * spent. */
#ifndef RVP_SWEEP_SWEEP_H
#define RVP_SWEEP_SWEEP_H

#include "sweep/job.h"
#include "sweep/place.h"

struct rvp_sweep {
	const struct rvp_plan *plan;
	struct rvp_sweep_place place;
	const char *self; /* the rvprof that records */
	size_t setting_count;
	unsigned workers;
	const volatile int *stop; /* not 0: end everything now */
	double begin_s, round_s;  /* round_s: of the last whole round; 0: none yet */
	unsigned rounds;          /* whole rounds there are results of */
	bool is_precise;          /* the rounds ended because all was known well enough */
	void (*progress)(const struct rvp_sweep *sweep, const char *what, size_t done, size_t all);
};

/* Fails only where rvprof itself can't go on, or was told to stop (errno EINTR): a command that fails is a
 * result. */
struct rvp_status rvp_sweep_run(struct rvp_sweep *sweep);

/* Setting RVP_BASELINE where there is a baseline, else 0. */
size_t rvp_sweep_reference(const struct rvp_plan *plan);

/* The rounds' figures of a setting that has them all, in their order: "p95_us", "mean_us", "mean_joules". How
 * many; `again`: the reference's second run. */
size_t rvp_sweep_times(const struct rvp_sweep *sweep, size_t setting, bool again, const char *key,
		       double *values, size_t room);

#endif
