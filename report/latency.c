/* SPDX-License-Identifier: MIT */
/* latency.c: see latency.h. */
#include "report/latency.h"

#include "report/grow.h"
#include "report/kernels.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* ceil(percent * n / 100) - 1 in whole numbers, from 0. */
static size_t rank_of(size_t count, unsigned percent)
{
	size_t rank = (count / 100) * percent + ((count % 100) * percent + 99) / 100;

	return rank ? rank - 1 : 0;
}

struct rvp_latency rvp_latency_of(uint64_t *times_us, size_t count)
{
	struct rvp_latency latency = {.count = count};
	unsigned __int128 sum = 0;
	double squares = 0;

	if (!count)
		return latency;
	qsort(times_us, count, sizeof *times_us, compare);
	for (size_t i = 0; i < count; i++)
		sum += times_us[i];
	latency.mean_us = (double)sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += ((double)times_us[i] - latency.mean_us) * ((double)times_us[i] - latency.mean_us);
	latency.std_us = sqrt(squares / (double)count);
	latency.p50_us = times_us[rank_of(count, 50)];
	latency.p95_us = times_us[rank_of(count, 95)];
	latency.p99_us = times_us[rank_of(count, 99)];
	return latency;
}

/* The mean as it goes (Welford): what is off it can be summed without knowing it beforehand. */
static void take_moments(struct rvp_times *times, uint64_t us)
{
	long double off = (long double)us - times->mean_us;

	times->sum_us += us;
	times->mean_us += off / (long double)times->count;
	times->squares += off * ((long double)us - times->mean_us);
}

void rvp_times_add(struct rvp_times *times, uint64_t us)
{
	if (!times->sketch)
		times->sketch = calloc(1, sizeof *times->sketch);
	times->no_memory |= !times->sketch;
	if (times->no_memory)
		return;
	rvp_sketch_add(times->sketch, us);
	if (times->count++ < RVP_LATENCY_EXACT) {
		times->no_memory =
		    !rvp_grow((void **)&times->times_us, &times->room, times->count, sizeof us);
		if (!times->no_memory)
			times->times_us[times->count - 1] = us;
	}
	take_moments(times, us);
}

static uint64_t near_rank(const struct rvp_times *times, unsigned percent)
{
	return rvp_sketch_at(times->sketch, rank_of(times->count, percent));
}

struct rvp_latency rvp_times_latency(struct rvp_times *times)
{
	if (times->no_memory || times->count <= RVP_LATENCY_EXACT)
		return rvp_latency_of(times->times_us, times->no_memory ? 0 : times->count);
	return (struct rvp_latency){.count = times->count,
				    .p50_us = near_rank(times, 50),
				    .p95_us = near_rank(times, 95),
				    .p99_us = near_rank(times, 99),
				    .mean_us = (double)times->sum_us / (double)times->count,
				    .std_us = (double)sqrtl(times->squares / (long double)times->count),
				    .is_estimate = true};
}

void rvp_times_free(struct rvp_times *times)
{
	free(times->times_us);
	free(times->sketch);
	*times = (struct rvp_times){0};
}

uint64_t rvp_step_us(const struct rvp_step *step)
{
	return (step->end_ns - step->begin_ns + 500) / 1000;
}

struct rvp_latency rvp_latency_of_steps(const struct rvp_steps *steps)
{
	struct rvp_times times = {0};
	struct rvp_latency latency;

	for (size_t i = 0; i < steps->count; i++)
		rvp_times_add(&times, rvp_step_us(&steps->steps[i]));
	latency = rvp_times_latency(&times);
	rvp_times_free(&times);
	return latency;
}

void rvp_latency_write(FILE *out, const struct rvp_run *run, const struct rvp_steps *steps,
		       const struct rvp_kernels *kernels)
{
	fputs("sample_id,wall_time_us,kernel_time_us,seq_len\n", out);
	for (size_t i = 0; i < steps->count; i++) {
		fprintf(out, "%zu,%" PRIu64 ",", i, rvp_step_us(&steps->steps[i]));
		if (kernels && rvp_kernels_step_is_measured(kernels, run, &steps->steps[i]))
			fprintf(out, "%" PRIu64, (kernels->steps[i].kernel_busy.ns + 500) / 1000);
		fputc(',', out);
		if (steps->steps[i].seq_len)
			fprintf(out, "%" PRIu64, steps->steps[i].seq_len);
		fputc('\n', out);
	}
}

void rvp_latency_write_keys(struct rvp_json *json, const struct rvp_latency *latency)
{
	rvp_json_number(json, "n", latency->count);
	rvp_json_number(json, "p50_us", latency->p50_us);
	rvp_json_number(json, "p95_us", latency->p95_us);
	rvp_json_number(json, "p99_us", latency->p99_us);
	rvp_json_double(json, "mean_us", latency->mean_us);
	rvp_json_double(json, "std_us", latency->std_us);
	if (latency->is_estimate)
		rvp_json_decimal(json, "percentile_error_percent", 100 * RVP_SKETCH_RELATIVE_ERROR, 2);
}
