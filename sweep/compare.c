/* SPDX-License-Identifier: MIT */
/* compare.c: see compare.h. */
#include "sweep/compare.h"

#include "sweep/student.h"

#include <math.h>
#include <stdlib.h>

static const double alpha = 0.05;

const char *const rvp_measured_names[RVP_MEASURED_COUNT] = {"mean_us", "p95_us", "mean_joules"};

struct rvp_comparison rvp_compare_one(const struct rvp_sweep *sweep, size_t setting, bool again,
				      const char *key)
{
	struct rvp_comparison comparison = {.ratio = NAN, .low = NAN, .high = NAN, .p = 1};
	double values[RVP_ROUNDS_MAX], reference[RVP_ROUNDS_MAX];
	size_t count = rvp_sweep_times(sweep, setting, again, key, values, RVP_ROUNDS_MAX);
	struct rvp_mean_test test;

	if (!count || rvp_sweep_times(sweep, rvp_sweep_reference(sweep->plan), false, key, reference,
				      RVP_ROUNDS_MAX) != count)
		return comparison;
	for (size_t i = 0; i < count; i++) {
		if (!(values[i] > 0) || !(reference[i] > 0))
			return comparison;
		values[i] = log(values[i] / reference[i]);
	}
	test = rvp_mean_test(values, count, alpha);
	comparison.rounds = count;
	comparison.ratio = exp(test.mean);
	comparison.low = exp(test.mean - test.half);
	comparison.high = exp(test.mean + test.half);
	comparison.p = test.p;
	return comparison;
}

/* Over everything that was compared. */
static bool correct(struct rvp_comparisons *comparisons, size_t rows)
{
	struct rvp_comparison *all = &comparisons->rows[0][0];
	size_t count = 0, at = 0;
	double *p_values = calloc(rows * RVP_MEASURED_COUNT + 1, sizeof *p_values);

	for (size_t i = 0; p_values && i < rows * RVP_MEASURED_COUNT; i++)
		if (all[i].rounds > 1)
			p_values[count++] = all[i].p;
	if (p_values)
		rvp_holm(p_values, count);
	for (size_t i = 0; p_values && i < rows * RVP_MEASURED_COUNT; i++)
		if (all[i].rounds > 1) {
			all[i].p = p_values[at++];
			all[i].is_different = all[i].p < alpha;
		}
	comparisons->tests = count;
	free(p_values);
	return p_values;
}

bool rvp_compare(struct rvp_comparisons *comparisons, const struct rvp_sweep *sweep,
		 const struct rvp_outcomes *outcomes)
{
	*comparisons =
	    (struct rvp_comparisons){.rows = calloc(outcomes->count + 1, sizeof *comparisons->rows)};
	if (!comparisons->rows)
		return false;
	for (size_t i = 0; i < outcomes->count; i++)
		for (int measured = 0; measured < RVP_MEASURED_COUNT; measured++)
			comparisons->rows[i][measured] =
			    i ? rvp_compare_one(sweep, outcomes->rows[i].setting, false,
						rvp_measured_names[measured])
			      : (struct rvp_comparison){.ratio = NAN, .p = 1};
	comparisons->same = rvp_compare_one(sweep, rvp_sweep_reference(sweep->plan), true, "mean_us");
	return correct(comparisons, outcomes->count);
}

void rvp_comparisons_free(struct rvp_comparisons *comparisons)
{
	free(comparisons->rows);
	comparisons->rows = NULL;
}
