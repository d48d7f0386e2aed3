/* SPDX-License-Identifier: MIT */
/* latency.h: how long steps took: latency.csv, and its summary.
 *
 * Percentiles are by nearest rank, without interpolation: of n sorted values that of index ceil(p * n) - 1.
 * The standard deviation is the population's. Times are whole microseconds, rounded. */
#ifndef RVP_REPORT_LATENCY_H
#define RVP_REPORT_LATENCY_H

#include "report/json_writer.h"
#include "report/steps.h"

struct rvp_latency {
	size_t count;
	uint64_t p50_us, p95_us, p99_us; /* 0 without steps */
	double mean_us, std_us;
};

/* Of `times_us`, which it sorts. */
struct rvp_latency rvp_latency_of(uint64_t *times_us, size_t count);

/* Of the steps; count 0 also without memory. */
struct rvp_latency rvp_latency_of_steps(const struct rvp_steps *steps);

uint64_t rvp_step_us(const struct rvp_step *step);

/* The rows of latency.csv, header included: what was not measured is empty. `kernels` may be NULL. */
struct rvp_kernels;
void rvp_latency_write(FILE *out, const struct rvp_run *run, const struct rvp_steps *steps,
		       const struct rvp_kernels *kernels);

/* The keys `steps` and, with steps, `latency` of summary.json. */
void rvp_latency_write_json(struct rvp_json *json, const struct rvp_steps *steps);

#endif
