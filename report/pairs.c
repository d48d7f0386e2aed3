/* SPDX-License-Identifier: MIT */
/* pairs.c: see pairs.h. */
#include "report/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 4096 };

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static size_t sorted(double *to, const double *values, size_t count)
{
	count = count < SAMPLES_MAX ? count : SAMPLES_MAX;
	if (count)
		memcpy(to, values, count * sizeof *values);
	qsort(to, count, sizeof *to, by_value);
	return count;
}

double rvp_pairs_median(const double *values, size_t count)
{
	static double order[SAMPLES_MAX];

	count = sorted(order, values, count);
	if (count == 0)
		return NAN;
	return (order[(count - 1) / 2] + order[count / 2]) / 2;
}

/* How many samples are left out on each side: the most k with P(at most k - 1 of n coins show heads) <= 2.5
 * %. */
static size_t left_out(size_t count)
{
	double probability = pow(0.5, (double)count), sum = 0;
	size_t k = 0;

	for (; k < count / 2; k++) {
		sum += probability;
		if (sum > 0.025)
			break;
		probability *= (double)(count - k) / (double)(k + 1);
	}
	return k;
}

struct rvp_band rvp_pairs_band(const double *values, size_t count)
{
	static double order[SAMPLES_MAX];
	size_t out = left_out(count < SAMPLES_MAX ? count : SAMPLES_MAX);

	if (out == 0)
		return (struct rvp_band){0, INFINITY};
	count = sorted(order, values, count);
	return (struct rvp_band){order[out - 1], order[count - out]};
}

struct rvp_band rvp_equal_band(const double *ratios, size_t count)
{
	struct rvp_band band = rvp_pairs_band(ratios, count);

	return (struct rvp_band){fmin(band.low, 1), fmax(band.high, 1)};
}

enum rvp_bar_verdict rvp_bar_judge(double figure, double bar, double factor, struct rvp_band band,
				     size_t pairs)
{
	bool is_seen = pairs >= RVP_PAIRS_LEAST && band.high - band.low < fabs(factor - 1) / 2;

	if (!is_seen || isnan(figure))
		return RVP_BAR_NOT_RESOLVED;
	return figure <= bar ? RVP_BAR_MET : RVP_BAR_MISSED;
}
