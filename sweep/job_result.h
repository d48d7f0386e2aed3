/* SPDX-License-Identifier: MIT */
/* job_result.h: what a job came to, gathered from its run folder and its output. */
#ifndef RVP_SWEEP_JOB_RESULT_H
#define RVP_SWEEP_JOB_RESULT_H

#include "sweep/job.h"

/* result.json, {"schema": "rvprof.job/1", "status" or "signal" or "timed_out": true, "wall_s", "samples",
 * "mean_peak_bytes", "mean_kv_cache_bytes", "mean_joules", "p95_us", "mean_us", "metrics": {..}, "failure": a
 * line}, and samples.csv beside it. What was not measured is absent. */
struct rvp_status rvp_job_result_write(const struct rvp_running *running, const struct rvp_plan *plan,
				       int wait_status, bool was_late);

#endif
