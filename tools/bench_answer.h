/* SPDX-License-Identifier: MIT */
/* bench_answer.h: what `rvprof bench` says at its end. */
#ifndef RVP_BENCH_ANSWER_H
#define RVP_BENCH_ANSWER_H

#include "sweep/compare.h"

/* All that a sweep came to. */
struct rvp_bench {
	const struct rvp_sweep *sweep;
	const struct rvp_outcomes *outcomes;
	const struct rvp_comparisons *comparisons;
	uint64_t decisions; /* witness lines */
};

/* The answer as JSON, schema rvprof.bench/1, for reports: WORK/answer.json. */
struct rvp_status rvp_bench_keep(const struct rvp_bench *bench);

/* A table on standard output, or JSON; notes on standard error. */
void rvp_bench_answer(const struct rvp_bench *bench, bool is_json, bool is_quiet);

#endif
