/* SPDX-License-Identifier: MIT */
/* pairs.h: what bench/overhead and `rvprof overhead` say of samples: medians, how sure they are, the band of pairs that
 * ought to be equal, and whether a bar is met, missed, or cannot be told here.
 *
 * Samples are paired by round: all variants of a row run once in each, one after the other, so that what the
 * machine does meanwhile hits both of a pair. A figure is the median over the rounds of what is computed from
 * a pair.
 */
#ifndef RVP_REPORT_PAIRS_H
#define RVP_REPORT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

enum { RVP_PAIRS_LEAST = 15 };

/* NAN of none. */
double rvp_pairs_median(const double *values, size_t count);

struct rvp_band {
	double low, high;
};

/* Where the median of the distribution of which these are samples lies with 95 %, by order statistics: no shape is assumed.
 * Fewer than 6 have none: 0 to infinity. */
struct rvp_band rvp_pairs_band(const double *values, size_t count);

/* The same, widened to hold 1, since the pairs ought to be equal: a constant difference is noise as well. */
struct rvp_band rvp_equal_band(const double *ratios, size_t count);

enum rvp_bar_verdict { RVP_BAR_MET, RVP_BAR_MISSED, RVP_BAR_NOT_RESOLVED };

/* `figure` <= `bar`, if the bar can be seen on this machine: `factor` is the bar as a factor of what the
 * pairs measure, and the band of at least 15 pairs must be narrower than half of the factor's distance
 * from 1. */
enum rvp_bar_verdict rvp_bar_judge(double figure, double bar, double factor, struct rvp_band band,
				     size_t pairs);

#endif
