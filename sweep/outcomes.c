/* SPDX-License-Identifier: MIT */
/* outcomes.c: the figures of each setting, see results.h. */
#include "sweep/results.h"

#include "report/pairs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static void take_failure(struct rvp_outcome *outcome, const json_t *result)
{
	const char *line =
	    result ? json_string_value(json_object_get(result, "failure")) : "its result can't be read";

	if (line && !*outcome->failure)
		snprintf(outcome->failure, sizeof outcome->failure, "%s", line);
}

static void take_recorded(struct rvp_outcome *outcome, const struct rvp_sweep *sweep)
{
	struct rvp_job job = {.setting = outcome->setting, .kind = RVP_JOB_RECORD};
	json_t *result = rvp_job_result(sweep->plan, sweep->place.work, &job);
	const json_t *metrics = json_object_get(result, "metrics");

	take_failure(outcome, result);
	outcome->is_recorded = !*outcome->failure;
	if (outcome->is_recorded) {
		outcome->coherence_delta = number_of(metrics, "coherence_delta");
		outcome->accuracy = number_of(metrics, "accuracy");
		outcome->peak_bytes = number_of(result, "mean_peak_bytes");
		outcome->kv_cache_bytes = number_of(result, "mean_kv_cache_bytes");
		outcome->metrics = json_deep_copy(metrics);
	}
	json_decref(result);
}

static double median_of(const struct rvp_sweep *sweep, size_t setting, const char *key)
{
	double values[RVP_ROUNDS_MAX];
	size_t count = rvp_sweep_times(sweep, setting, false, key, values, RVP_ROUNDS_MAX);

	return rvp_pairs_median(values, count);
}

static void take_times(struct rvp_outcome *outcome, const struct rvp_sweep *sweep)
{
	for (unsigned round = 0; round < sweep->rounds; round++) {
		struct rvp_job job = {.setting = outcome->setting, .kind = RVP_JOB_TIME, .round = round};
		json_t *result = rvp_job_result(sweep->plan, sweep->place.work, &job);

		take_failure(outcome, result);
		json_decref(result);
	}
	outcome->p95_us = median_of(sweep, outcome->setting, "p95_us");
	outcome->joules = median_of(sweep, outcome->setting, "mean_joules");
}

static double reduction(double setting, double reference)
{
	return reference > 0 ? 1 - setting / reference : NAN;
}

static struct rvp_status take_row(struct rvp_outcomes *outcomes, const struct rvp_sweep *sweep,
				  size_t setting)
{
	struct rvp_outcome *outcome = &outcomes->rows[outcomes->count++];
	const struct rvp_outcome *reference = &outcomes->rows[0];

	*outcome = (struct rvp_outcome){.setting = setting,
					.coherence_delta = NAN,
					.accuracy = NAN,
					.peak_bytes = NAN,
					.kv_cache_bytes = NAN};
	take_recorded(outcome, sweep);
	take_times(outcome, sweep);
	outcome->kv_cache_reduction = reduction(outcome->kv_cache_bytes, reference->kv_cache_bytes);
	outcome->peak_reduction = reduction(outcome->peak_bytes, reference->peak_bytes);
	outcome->energy_reduction = reduction(outcome->joules, reference->joules);
	return rvp_plan_setting_name(sweep->plan, setting, outcome->name);
}

struct rvp_status rvp_outcomes_read(struct rvp_outcomes *outcomes, const struct rvp_sweep *sweep)
{
	struct rvp_status status = RVP_OK;

	*outcomes = (struct rvp_outcomes){.rows = calloc(sweep->setting_count + 1, sizeof *outcomes->rows)};
	if (!outcomes->rows)
		return rvp_fail("sum up", sweep->place.out, ENOMEM);
	if (sweep->plan->baseline)
		status = take_row(outcomes, sweep, RVP_BASELINE);
	for (size_t i = 0; i < sweep->setting_count && !rvp_failed(status); i++)
		status = take_row(outcomes, sweep, i);
	return status;
}

void rvp_outcomes_free(struct rvp_outcomes *outcomes)
{
	for (size_t i = 0; i < outcomes->count; i++)
		json_decref(outcomes->rows[i].metrics);
	free(outcomes->rows);
	*outcomes = (struct rvp_outcomes){.rows = NULL};
}
