/* SPDX-License-Identifier: MIT */
/* latency.h: how long steps took: latency.csv, and its summary.
 *
 * Percentiles are by nearest rank, without interpolation: of n sorted values that of index ceil(p * n) - 1.
 * The standard deviation is the population's. Times are whole microseconds, rounded.
 *
 * Up to RVP_LATENCY_EXACT times are kept, and all figures are exact. Of more the percentiles are those of a sketch
 * (sketch.h): off by 1/256 at most, which is_estimate says; n, mean and deviation need no times. So any number of
 * times takes 8 MiB at the most.
 */
#ifndef RVP_REPORT_LATENCY_H
#define RVP_REPORT_LATENCY_H

#include "report/json_writer.h"
#include "report/sketch.h"
#include "report/steps.h"

enum { RVP_LATENCY_EXACT = 1 << 20 };

struct rvp_latency {
	size_t count;
	uint64_t p50_us, p95_us, p99_us; /* 0 without steps */
	double mean_us, std_us;
	bool is_estimate; /* of the percentiles */
};

/* Of `times_us`, which it sorts. */
struct rvp_latency rvp_latency_of(uint64_t *times_us, size_t count);

/* Times as they come. All zero: none yet. */
struct rvp_times {
	uint64_t *times_us; /* while there are few enough */
	size_t count, room;
	struct rvp_sketch *sketch; /* of all; NULL: none yet */
	unsigned __int128 sum_us;
	long double mean_us, squares; /* squares of what is off the mean */
	bool no_memory;
};
void rvp_times_add(struct rvp_times *times, uint64_t us);
struct rvp_latency rvp_times_latency(struct rvp_times *times); /* sorts; of none, or without memory: count 0 */
void rvp_times_free(struct rvp_times *times);

/* Of the steps; count 0 also without memory. */
struct rvp_latency rvp_latency_of_steps(const struct rvp_steps *steps);

uint64_t rvp_step_us(const struct rvp_step *step);

/* The rows of latency.csv, header included: what was not measured is empty. `kernels` may be NULL. */
struct rvp_kernels;
void rvp_latency_write(FILE *out, const struct rvp_run *run, const struct rvp_steps *steps,
		       const struct rvp_kernels *kernels);

/* n, p50_us, .. std_us; `percentile_error_percent` where they are estimates. Into an open object. */
void rvp_latency_write_keys(struct rvp_json *json, const struct rvp_latency *latency);

#endif
