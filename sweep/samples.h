/* SPDX-License-Identifier: MIT */
/* samples.h: what a recorded run was like, step by step: the rows of a setting's CSV. A run without steps is
 * one sample that lasted from its begin to its end. */
#ifndef RVP_SWEEP_SAMPLES_H
#define RVP_SWEEP_SAMPLES_H

#include "record/status.h"

#include <stddef.h>
#include <stdint.h>

struct rvp_sample {
	uint64_t seq_len; /* 0: not known */
	uint64_t wall_time_us;
	uint64_t peak_bytes, kv_cache_bytes; /* live blocks and mappings, highest in the sample */
	double joules;                       /* NAN: not measured */
};

struct rvp_samples {
	struct rvp_sample *rows;
	size_t count;
};

/* Of a finished run folder. Free them in either case. */
struct rvp_status rvp_samples_read(struct rvp_samples *samples, const char *folder);
void rvp_samples_free(struct rvp_samples *samples);

/* Mean over the samples; NAN of none. */
double rvp_samples_mean_peak(const struct rvp_samples *samples);
double rvp_samples_mean_kv_cache(const struct rvp_samples *samples);
/* Over those that have them; NAN where fewer than nine of ten do. */
double rvp_samples_mean_joules(const struct rvp_samples *samples);

#endif
