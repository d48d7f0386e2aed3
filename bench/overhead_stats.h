/* SPDX-License-Identifier: MIT */
/* overhead_stats.h: what bench/overhead says of a set of samples: medians, the band of pairs that ought to be
 * equal, and whether a bar is met, missed, or cannot be told here.
 *
 * Samples are paired by round: all variants of a row run once in each, one after the other, so that what the
 * machine does meanwhile hits both of a pair. A figure is the median over the rounds of what is computed from
 * a pair.
 */
#ifndef OVERHEAD_STATS_H
#define OVERHEAD_STATS_H

#include <stdbool.h>
#include <stddef.h>

enum { OVERHEAD_PAIRS_LEAST = 15 };

/* NAN of none. */
double overhead_median(const double *values, size_t count);

/* 95 % of the median of a distribution of which these are samples, by order statistics: no shape is assumed.
 * It is widened to hold 1, since the pairs ought to be equal: a constant difference is noise as well. Fewer
 * than 6 have none: 0 to infinity. */
struct overhead_band {
	double low, high;
};
struct overhead_band overhead_band(const double *ratios, size_t count);

enum overhead_verdict { OVERHEAD_MET, OVERHEAD_MISSED, OVERHEAD_NOT_RESOLVED };

/* `figure` <= `bar`, if the bar can be seen on this machine: `factor` is the bar as a factor of what the
 * pairs measure, and the band of at least 15 pairs must be narrower than half of the factor's distance
 * from 1. */
enum overhead_verdict overhead_judge(double figure, double bar, double factor, struct overhead_band band,
				     size_t pairs);

#endif
