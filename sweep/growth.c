/* SPDX-License-Identifier: MIT */
/* growth.c: see growth.h. */
#include "sweep/growth.h"

#include "report/pairs.h"
#include "sweep/student.h"

#include <math.h>
#include <stdlib.h>

static const double alpha = 0.05, least_squares = 1e-18; /* below it is rounding */

const char *const rvp_grown_names[RVP_GROWN_COUNT] = {"mean_peak_bytes", "mean_kv_cache_bytes", "mean_us",
						      "p95_us", "mean_joules"};

/* ---- a line through logarithms ---- */

struct sums {
	double xx, xy, yy; /* of distances from their groups' means */
	size_t points, groups;
};

static int by_group(const void *a, const void *b)
{
	const struct rvp_growth_point *one = a, *other = b;

	return (one->group > other->group) - (one->group < other->group);
}

/* Moves what has logarithms to the front, as such; how many. */
static size_t take_logarithms(struct rvp_growth_point *points, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (points[i].x > 0 && points[i].y > 0 && isfinite(points[i].x) && isfinite(points[i].y))
			points[kept++] =
			    (struct rvp_growth_point){log(points[i].x), log(points[i].y), points[i].group};
	return kept;
}

static void add_group(struct sums *sums, const struct rvp_growth_point *points, size_t count)
{
	double mean_x = 0, mean_y = 0, xx = 0, xy = 0, yy = 0;

	for (size_t i = 0; i < count; i++) {
		mean_x += points[i].x / (double)count;
		mean_y += points[i].y / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		double x = points[i].x - mean_x, y = points[i].y - mean_y;

		xx += x * x;
		xy += x * y;
		yy += y * y;
	}
	if (count < 2 || xx < least_squares)
		return;
	*sums = (struct sums){sums->xx + xx, sums->xy + xy, sums->yy + yy, sums->points + count,
			      sums->groups + 1};
}

static struct rvp_growth growth_of_sums(const struct sums *sums)
{
	struct rvp_growth growth = {.exponent = NAN, .error = NAN, .half = NAN, .fit = NAN};
	double residuals, freedom = (double)sums->points - (double)sums->groups - 1;

	growth.points = sums->points;
	growth.groups = sums->groups;
	if (!sums->points)
		return growth;
	growth.exponent = sums->xy / sums->xx;
	residuals = fmax(0, sums->yy - growth.exponent * sums->xy);
	if (sums->yy > least_squares)
		growth.fit = 1 - residuals / sums->yy;
	growth.half = INFINITY;
	if (freedom < 1)
		return growth;
	growth.error = sqrt(residuals / freedom / sums->xx);
	growth.half = rvp_student_quantile(alpha, freedom) * growth.error;
	return growth;
}

struct rvp_growth rvp_growth_of(struct rvp_growth_point *points, size_t count)
{
	struct sums sums = {.points = 0};

	count = take_logarithms(points, count);
	if (count)
		qsort(points, count, sizeof *points, by_group);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i; next < count && points[next].group == points[i].group;)
			next++;
		add_group(&sums, points + i, next - i);
	}
	return growth_of_sums(&sums);
}

/* ---- of a sweep ---- */

static double median_time(const struct rvp_sweep *sweep, size_t setting)
{
	double values[RVP_ROUNDS_MAX];
	size_t count = rvp_sweep_times(sweep, setting, false, "mean_us", values, RVP_ROUNDS_MAX);

	return count ? rvp_pairs_median(values, count) : NAN;
}

static double figure_of(const struct rvp_sweep *sweep, const struct rvp_outcome *outcome,
			enum rvp_grown grown)
{
	switch (grown) {
	case RVP_GROWN_PEAK: return outcome->peak_bytes;
	case RVP_GROWN_KV_CACHE: return outcome->kv_cache_bytes;
	case RVP_GROWN_TIME: return median_time(sweep, outcome->setting);
	case RVP_GROWN_P95: return outcome->p95_us;
	default: return outcome->joules;
	}
}

/* Settings of one number differ in this axis alone: the place that they have without it. */
static size_t group_of(const struct rvp_plan *plan, size_t setting, size_t axis)
{
	size_t below = 1;

	for (size_t i = axis + 1; i < plan->axis_count; i++)
		below *= plan->axes[i].count;
	return setting / below / plan->axes[axis].count * below + setting % below;
}

static double number_of(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return *text && !*end ? value : NAN;
}

/* Of a figure that is measured, or where `metric` is a name, of one that the program said of itself. */
static bool growth_along(struct rvp_growth *growth, const struct rvp_sweep *sweep,
			 const struct rvp_outcomes *outcomes, size_t axis, enum rvp_grown grown,
			 const char *metric)
{
	struct rvp_growth_point *points = calloc(outcomes->count + 1, sizeof *points);
	size_t count = 0;

	if (!points)
		return false;
	for (size_t i = 0; i < outcomes->count; i++) {
		const struct rvp_outcome *outcome = &outcomes->rows[i];
		const json_t *said = metric ? json_object_get(outcome->metrics, metric) : NULL;

		if (outcome->setting == RVP_BASELINE || !outcome->is_recorded ||
		    (metric && !json_is_number(said)))
			continue;
		points[count++] = (struct rvp_growth_point){
		    .x = number_of(rvp_plan_value(sweep->plan, outcome->setting, axis)),
		    .y = metric ? json_number_value(said) : figure_of(sweep, outcome, grown),
		    .group = group_of(sweep->plan, outcome->setting, axis),
		};
	}
	*growth = rvp_growth_of(points, count);
	free(points);
	return true;
}

bool rvp_growth_of_axis(struct rvp_growth *growth, const struct rvp_sweep *sweep,
			const struct rvp_outcomes *outcomes, size_t axis, enum rvp_grown grown)
{
	return growth_along(growth, sweep, outcomes, axis, grown, NULL);
}

bool rvp_growth_of_metric(struct rvp_growth *growth, const struct rvp_sweep *sweep,
			  const struct rvp_outcomes *outcomes, size_t axis, const char *metric)
{
	return growth_along(growth, sweep, outcomes, axis, RVP_GROWN_COUNT, metric);
}
