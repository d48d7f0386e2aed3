/* SPDX-License-Identifier: MIT */
/* latency_rows.h: the times of a run's steps in several ways, and which of them stalled.
 *
 *   - by phase: prefill, decode, forward, ...; steps that have none are in `all` alone.
 *   - first_token: a prompt is a row of prefill steps; from the first one's begin to the last one's end, where the first token
 *     is there.
 *   - inter_token: from the end of a step that gave a token (a decode step, a prompt's last) to the end of the decode step that
 *     follows. So what the host does between two steps (sampling, printing) is in it.
 *   - A stall is a step that took more than RVP_STALL_FACTOR times the median of the steps of its own phase. The longest
 *     RVP_STALLS_MAX are kept, in order of time; all are counted.
 *   - Memory: a few MiB, however many steps.
 */
#ifndef RVP_REPORT_LATENCY_ROWS_H
#define RVP_REPORT_LATENCY_ROWS_H

#include "report/latency.h"

enum { RVP_STALL_FACTOR = 3, RVP_STALLS_MAX = 64 };

/* What the log knows of the time of a step, of all threads of its process. Of sampled mode estimates. */
struct rvp_step_doings {
	double alloc_count, alloc_bytes;
	uint64_t free_count, map_count, map_bytes, unmap_count, read_count, read_bytes, thread_count;
	uint64_t device_alloc_count, device_alloc_bytes, launch_count, kernel_count, kernel_us;
	uint64_t look_count; /* of the library's own at the process's map */
};

struct rvp_stall {
	size_t step;
	uint64_t us, median_us;
	struct rvp_step_doings doings;
};

struct rvp_latency_rows {
	struct rvp_times all, phases[RVP_STEP_PHASE_COUNT], first_token, inter_token;
	uint64_t median_us[RVP_STEP_PHASE_COUNT];
	uint64_t until_token_us; /* from the begin of the first prompt's process to its first token */
	bool has_token, no_memory;
	struct rvp_stall stalls[RVP_STALLS_MAX];
	size_t stall_count, all_stall_count;
	struct rvp_step_doings usual[RVP_STEP_PHASE_COUNT]; /* of the steps that did not stall, together */
	uint64_t usual_count[RVP_STEP_PHASE_COUNT];
	bool has_kernels; /* kernels were followed: their counts mean something */
};

/* The rows of known steps, and their stalls without what happened in them. */
void rvp_latency_rows_make(struct rvp_latency_rows *rows, const struct rvp_run *run, const struct rvp_steps *steps);
void rvp_latency_rows_free(struct rvp_latency_rows *rows);

/* What happened in the stalls, and in the others: one pass over the log. */
struct rvp_kernels;
struct rvp_status rvp_stalls_explain(struct rvp_latency_rows *rows, const struct rvp_run *run,
				     const struct rvp_steps *steps, const struct rvp_kernels *kernels);

/* The keys `steps` and, with steps, `latency` of summary.json. */
void rvp_latency_write_json(struct rvp_json *json, const struct rvp_run *run, const struct rvp_steps *steps);

/* The name of a phase ("decode"); "" of none. */
extern const char *const rvp_step_phase_texts[RVP_STEP_PHASE_COUNT];

#endif
