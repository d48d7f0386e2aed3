/* SPDX-License-Identifier: MIT */
/* distribution.h: count, sum, least, most, standard deviation and median of many whole numbers in bounded
 * memory.
 *
 * Count, sum, least, most and deviation are exact. So is the median of up to RVP_DISTRIBUTION_EXACT numbers;
 * of more it is that of a sketch (sketch.h): off by 0.4 % at most, and said to be so.
 */
#ifndef RVP_REPORT_DISTRIBUTION_H
#define RVP_REPORT_DISTRIBUTION_H

#include "report/sketch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RVP_DISTRIBUTION_EXACT = 1024 };

struct rvp_distribution {
	uint64_t count, sum, least, most;
	unsigned __int128 squares;
	uint64_t *values; /* the numbers; once there are too many of them the sketch */
	struct rvp_sketch *sketch;
	size_t room;
	bool is_histogram, no_memory;
};

void rvp_distribution_add(struct rvp_distribution *distribution, uint64_t value);

double rvp_distribution_mean(const struct rvp_distribution *distribution);
/* Of a sample (n - 1), as nsys has it; 0 of fewer than two. */
double rvp_distribution_deviation(const struct rvp_distribution *distribution);
/* Of an even count the mean of the middle two. Sorts. 0 of none, or without memory: see no_memory. */
double rvp_distribution_median(struct rvp_distribution *distribution);

void rvp_distribution_free(struct rvp_distribution *distribution);

#endif
