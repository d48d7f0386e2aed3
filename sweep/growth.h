/* SPDX-License-Identifier: MIT */
/* growth.h: how a figure grows with an axis: y = c * x^exponent, by least squares of ln y against ln x. Where
 * there are other axes each of their combinations has a c of its own, and the exponent is what they have in
 * common.
 *
 *     exponent   sum (ln x - its group's mean)(ln y - its group's mean) / sum (ln x - its group's mean)^2
 *     error      sqrt(sum of squared residuals / freedom / sum (ln x - its group's mean)^2)
 *     freedom    points - groups - 1
 *     half       Student's t of freedom for 95 % times the error: of a straight line through noise, not of a bend
 *
 * Rules
 *   - Points whose x or y is no number above 0 are left out: memory that is not there has no logarithm.
 *   - Groups with one point, or with one x, say nothing of growth and are left out.
 *   - Without freedom (two points) there is an exponent, and half is INFINITY. */
#ifndef RVP_SWEEP_GROWTH_H
#define RVP_SWEEP_GROWTH_H

#include "sweep/results.h"

struct rvp_growth_point {
	double x, y;
	size_t group;
};

struct rvp_growth {
	double exponent, error,
	    half;              /* NAN: nothing can be said; half: exponent +- half is the interval of 95 % */
	double fit;            /* r squared, of what differs within groups; NAN where y does not */
	size_t points, groups; /* that were looked at */
};

/* The points are put in another order and become their logarithms. */
struct rvp_growth rvp_growth_of(struct rvp_growth_point *points, size_t count);

/* What grows: of a setting's mean sample. */
enum rvp_grown {
	RVP_GROWN_PEAK,
	RVP_GROWN_KV_CACHE,
	RVP_GROWN_TIME,
	RVP_GROWN_P95,
	RVP_GROWN_JOULES,
	RVP_GROWN_COUNT
};
extern const char *const rvp_grown_names[RVP_GROWN_COUNT]; /* "mean_peak_bytes", .. */

/* Of one axis of the plan, over all settings that did not fail; the baseline is none of them. False without
 * memory. An axis of texts, or with fewer than two values, has points 0. */
bool rvp_growth_of_axis(struct rvp_growth *growth, const struct rvp_sweep *sweep,
			const struct rvp_outcomes *outcomes, size_t axis, enum rvp_grown grown);

/* The same of a figure that the program said of itself. */
bool rvp_growth_of_metric(struct rvp_growth *growth, const struct rvp_sweep *sweep,
			  const struct rvp_outcomes *outcomes, size_t axis, const char *metric);

#endif
