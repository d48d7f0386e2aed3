/* SPDX-License-Identifier: MIT */
/* samples.c: see samples.h. */
#include "sweep/samples.h"

#include "report/analysis.h"
#include "report/attribution.h"
#include "report/latency.h"
#include "report/power.h"
#include "report/step_peaks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct joules {
	struct rvp_power_sink sink;
	struct rvp_samples *samples;
};

static void take_nothing(struct rvp_power_sink *sink, uint64_t ns, const double *watts, double sum)
{
	(void)sink, (void)ns, (void)watts, (void)sum;
}

static void end_step(struct rvp_power_sink *sink, size_t step, double joules)
{
	struct joules *taken = (struct joules *)sink;

	if (step < taken->samples->count)
		taken->samples->rows[step].joules = joules;
}

static void read_power(struct rvp_samples *samples, const struct rvp_run *run, const struct rvp_steps *steps)
{
	struct joules joules = {.sink = {.take = take_nothing, .end_step = end_step}, .samples = samples};
	struct rvp_power_answer answer;

	rvp_power_read(&answer, run, steps->count ? steps : NULL, &joules.sink);
	if (!steps->count && answer.list && answer.sum.energy.sample_count > 1)
		samples->rows[0].joules = answer.sum.energy.total_joules;
}

static void take_steps(struct rvp_samples *samples, const struct rvp_steps *steps,
		       const struct rvp_step_peaks *peaks)
{
	for (size_t i = 0; i < steps->count; i++)
		samples->rows[i] = (struct rvp_sample){.seq_len = steps->steps[i].seq_len,
						       .wall_time_us = rvp_step_us(&steps->steps[i]),
						       .peak_bytes = peaks->peaks[i].tracked_bytes,
						       .kv_cache_bytes = peaks->peaks[i].kv_cache_bytes,
						       .joules = NAN};
}

static void take_whole(struct rvp_samples *samples, const struct rvp_run *run,
		       const struct rvp_analysis *answer)
{
	samples->rows[0] =
	    (struct rvp_sample){.wall_time_us = (run->end_ns - run->begin_ns) / 1000,
				.peak_bytes = answer->tracked_peak_bytes,
				.kv_cache_bytes = answer->max_by_category[RVP_CATEGORY_KV_CACHE].bytes,
				.joules = NAN};
}

static struct rvp_status analyse(struct rvp_samples *samples, struct rvp_run *run,
				 struct rvp_attribution *attribution)
{
	const struct rvp_steps *steps = rvp_attribution_steps(attribution);
	struct rvp_step_peaks peaks;
	struct rvp_observer *observers[] = {&peaks.observer, NULL};
	struct rvp_analysis answer;
	struct rvp_status status;

	samples->count = steps->count ? steps->count : 1;
	samples->rows = calloc(samples->count, sizeof *samples->rows);
	if (!samples->rows || !rvp_step_peaks_open(&peaks, steps))
		return rvp_fail("read the samples", NULL, ENOMEM);
	status = rvp_analyse(run, &(struct rvp_question){.observers = observers, .attribution = attribution},
			     &answer);
	if (!rvp_failed(status)) {
		take_steps(samples, steps, &peaks);
		if (!steps->count)
			take_whole(samples, run, &answer);
		read_power(samples, run, steps);
		rvp_analysis_free(&answer);
	}
	free(peaks.peaks);
	return status;
}

struct rvp_status rvp_samples_read(struct rvp_samples *samples, const char *folder)
{
	struct rvp_attribution *attribution;
	struct rvp_run *run;
	struct rvp_status status;

	*samples = (struct rvp_samples){.rows = NULL};
	status = rvp_run_open(&run, folder);
	if (rvp_failed(status))
		return status;
	status = rvp_attribute(run, NULL, &attribution);
	if (!rvp_failed(status)) {
		status = analyse(samples, run, attribution);
		rvp_attribution_close(attribution);
	}
	rvp_run_close(run);
	return status;
}

void rvp_samples_free(struct rvp_samples *samples)
{
	free(samples->rows);
	*samples = (struct rvp_samples){.rows = NULL};
}

double rvp_samples_mean_peak(const struct rvp_samples *samples)
{
	double sum = 0;

	for (size_t i = 0; i < samples->count; i++)
		sum += (double)samples->rows[i].peak_bytes;
	return samples->count ? sum / (double)samples->count : NAN;
}

double rvp_samples_mean_kv_cache(const struct rvp_samples *samples)
{
	double sum = 0;

	for (size_t i = 0; i < samples->count; i++)
		sum += (double)samples->rows[i].kv_cache_bytes;
	return samples->count ? sum / (double)samples->count : NAN;
}

/* A step at the very begin may lie before the first reading of a meter. */
double rvp_samples_mean_joules(const struct rvp_samples *samples)
{
	double sum = 0;
	size_t measured = 0;

	for (size_t i = 0; i < samples->count; i++)
		if (!isnan(samples->rows[i].joules)) {
			sum += samples->rows[i].joules;
			measured++;
		}
	return measured && measured * 10 >= samples->count * 9 ? sum / (double)measured : NAN;
}
