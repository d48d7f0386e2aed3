/* SPDX-License-Identifier: MIT */
/* bench_answer.h: what `rvprof bench` says at its end. */
#ifndef RVP_BENCH_ANSWER_H
#define RVP_BENCH_ANSWER_H

#include "sweep/results.h"

/* The answer as JSON, schema rvprof.bench/1, also for reports: WORK/answer.json. */
struct rvp_status rvp_bench_keep(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes,
				 uint64_t decisions);

/* A table on standard output, or JSON; notes on standard error. */
void rvp_bench_answer(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes, uint64_t decisions,
		      bool is_json, bool is_quiet);

#endif
