/* SPDX-License-Identifier: MIT */
/* step_peaks.h: the highest memory of each step: blocks and mappings of the tree, and the KV cache's part by
 * itself. Live bytes between two events are those after the first, so what was live when a step began counts
 * in it. */
#ifndef RVP_REPORT_STEP_PEAKS_H
#define RVP_REPORT_STEP_PEAKS_H

#include "report/observer.h"
#include "report/steps.h"

struct rvp_step_peak {
	uint64_t tracked_bytes, kv_cache_bytes;
};

struct rvp_step_peaks {
	struct rvp_observer observer;
	const struct rvp_steps *steps;
	struct rvp_step_peak *peaks; /* by step */
	struct rvp_step_peak now;
	size_t step; /* the first that has not ended */
};

/* False without memory. `steps` must outlive it; free() the peaks. */
bool rvp_step_peaks_open(struct rvp_step_peaks *peaks, const struct rvp_steps *steps);

#endif
