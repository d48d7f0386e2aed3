/* SPDX-License-Identifier: MIT */
/* distribution.c: see distribution.h. */
#include "report/distribution.h"

#include "report/grow.h"

#include <math.h>
#include <stdlib.h>

static void turn_into_sketch(struct rvp_distribution *distribution)
{
	struct rvp_sketch *sketch = calloc(1, sizeof *sketch);

	for (size_t i = 0; sketch && i < distribution->count; i++)
		rvp_sketch_add(sketch, distribution->values[i]);
	free(distribution->values);
	distribution->values = NULL;
	distribution->sketch = sketch;
	distribution->is_histogram = true;
	distribution->no_memory |= !sketch;
}

static void keep(struct rvp_distribution *distribution, uint64_t value)
{
	if (distribution->no_memory)
		return;
	if (!distribution->is_histogram && distribution->count == RVP_DISTRIBUTION_EXACT)
		turn_into_sketch(distribution);
	if (distribution->no_memory)
		return;
	if (distribution->is_histogram) {
		rvp_sketch_add(distribution->sketch, value);
		return;
	}
	if (rvp_grow((void **)&distribution->values, &distribution->room, distribution->count + 1,
		     sizeof value))
		distribution->values[distribution->count] = value;
	else
		distribution->no_memory = true;
}

void rvp_distribution_add(struct rvp_distribution *distribution, uint64_t value)
{
	keep(distribution, value);
	if (!distribution->count || value < distribution->least)
		distribution->least = value;
	if (value > distribution->most)
		distribution->most = value;
	distribution->count++;
	distribution->sum += value;
	distribution->squares += (unsigned __int128)value * value;
}

double rvp_distribution_mean(const struct rvp_distribution *distribution)
{
	return distribution->count ? (double)distribution->sum / (double)distribution->count : 0;
}

/* In whole numbers up to the last division: nothing cancels. */
double rvp_distribution_deviation(const struct rvp_distribution *distribution)
{
	uint64_t count = distribution->count;
	unsigned __int128 sum = distribution->sum, spread;

	if (count < 2)
		return 0;
	if (distribution->squares > ~(unsigned __int128)0 / count) {
		long double mean = (long double)sum / (long double)count;
		long double above = (long double)distribution->squares / (long double)count - mean * mean;

		return above > 0 ? (double)sqrtl(above * (long double)count / (long double)(count - 1)) : 0;
	}
	spread = distribution->squares * count - sum * sum;
	return (double)sqrtl((long double)spread / (long double)count / (long double)(count - 1));
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

double rvp_distribution_median(struct rvp_distribution *distribution)
{
	uint64_t count = distribution->count, *values = distribution->values;

	if (!count || distribution->no_memory)
		return 0;
	if (distribution->is_histogram)
		return ((double)rvp_sketch_at(distribution->sketch, (count - 1) / 2) +
			(double)rvp_sketch_at(distribution->sketch, count / 2)) /
		       2;
	qsort(values, count, sizeof *values, compare);
	return ((double)values[(count - 1) / 2] + (double)values[count / 2]) / 2;
}

void rvp_distribution_free(struct rvp_distribution *distribution)
{
	free(distribution->values);
	free(distribution->sketch);
	*distribution = (struct rvp_distribution){0};
}
