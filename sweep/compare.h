/* SPDX-License-Identifier: MIT */
/* compare.h: each setting against the reference in what is measured anew each round: mean and p95 time,
 * energy. A difference is the mean over the rounds of ln(setting / reference), so machine-wide ups and downs
 * cancel; its interval is Student's, and its p is corrected by Holm over all settings and measures, so that
 * of sweeps of equal things one in twenty shows any. */
#ifndef RVP_SWEEP_COMPARE_H
#define RVP_SWEEP_COMPARE_H

#include "sweep/results.h"

enum rvp_measured { RVP_MEAN_TIME, RVP_P95_TIME, RVP_ENERGY, RVP_MEASURED_COUNT };
extern const char *const rvp_measured_names[RVP_MEASURED_COUNT]; /* "mean_us", "p95_us", "mean_joules" */

struct rvp_comparison {
	double ratio, low, high; /* NAN: not compared; the interval is of 95 % by itself */
	double p;                /* corrected */
	bool is_different;       /* p < 0.05 */
	size_t rounds;
};

struct rvp_comparisons {
	struct rvp_comparison (*rows)[RVP_MEASURED_COUNT]; /* by outcome; of the reference none */
	struct rvp_comparison same; /* mean time of the reference's second run: no difference is right */
	size_t tests;
};

/* Of one setting, or of the reference's second run, with p as it is by itself. */
struct rvp_comparison rvp_compare_one(const struct rvp_sweep *sweep, size_t setting, bool again,
				      const char *key);

/* False without memory. */
bool rvp_compare(struct rvp_comparisons *comparisons, const struct rvp_sweep *sweep,
		 const struct rvp_outcomes *outcomes);
void rvp_comparisons_free(struct rvp_comparisons *comparisons);

#endif
