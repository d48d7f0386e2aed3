/* SPDX-License-Identifier: MIT */
/* latency.c: see latency.h. */
#include "report/latency.h"

#include "report/kernels.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* ceil(percent * n / 100) in whole numbers. */
static uint64_t at_rank(const uint64_t *sorted, size_t count, unsigned percent)
{
	size_t rank = (count / 100) * percent + ((count % 100) * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
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
	latency.p50_us = at_rank(times_us, count, 50);
	latency.p95_us = at_rank(times_us, count, 95);
	latency.p99_us = at_rank(times_us, count, 99);
	return latency;
}

uint64_t rvp_step_us(const struct rvp_step *step)
{
	return (step->end_ns - step->begin_ns + 500) / 1000;
}

struct rvp_latency rvp_latency_of_steps(const struct rvp_steps *steps)
{
	uint64_t *times_us = steps->count ? malloc(steps->count * sizeof *times_us) : NULL;
	struct rvp_latency latency;

	for (size_t i = 0; times_us && i < steps->count; i++)
		times_us[i] = rvp_step_us(&steps->steps[i]);
	latency = rvp_latency_of(times_us, times_us ? steps->count : 0);
	free(times_us);
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

void rvp_latency_write_json(struct rvp_json *json, const struct rvp_steps *steps)
{
	struct rvp_latency latency = rvp_latency_of_steps(steps);

	rvp_json_open(json, "steps", '{');
	rvp_json_number(json, "count", steps->count);
	rvp_json_string(json, "source", steps->source);
	if (steps->count)
		rvp_json_decimal(json, "confidence", steps->confidence, 2);
	if (steps->turn_count)
		rvp_json_number(json, "turns_seen", steps->turn_count);
	if (steps->followed_count)
		rvp_json_number(json, "in_write_window", steps->followed_count);
	rvp_json_close(json, '}');
	if (!latency.count)
		return;
	rvp_json_open(json, "latency", '{');
	rvp_json_number(json, "n", latency.count);
	rvp_json_number(json, "p50_us", latency.p50_us);
	rvp_json_number(json, "p95_us", latency.p95_us);
	rvp_json_number(json, "p99_us", latency.p99_us);
	rvp_json_decimal(json, "mean_us", latency.mean_us, 3);
	rvp_json_decimal(json, "std_us", latency.std_us, 3);
	rvp_json_close(json, '}');
}
