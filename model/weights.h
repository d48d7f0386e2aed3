/* SPDX-License-Identifier: MIT */
/* weights.h: how large the values in a model file are, as TinyTorch's analyze_weight_distribution tells it:
 * figures of the absolute values of all tensors together, exact (all values are sorted).
 *
 *   - f64, f32, f16 and bf16 are read; tensors of other types are counted and left out.
 *   - percentiles lie between two ranks, at p / 100 (n - 1), by a straight line; std is the population's.
 */
#ifndef RVP_MODEL_WEIGHTS_H
#define RVP_MODEL_WEIGHTS_H

#include "record/status.h"

#include <stdint.h>

enum { RVP_WEIGHT_PERCENTILES = 5, RVP_WEIGHT_THRESHOLDS = 3 };

struct rvp_weights {
	uint64_t count, tensors_left_out, not_finite; /* of values that are no numbers: left out too */
	double mean, std, min, max;
	double percentile[RVP_WEIGHT_PERCENTILES];   /* 10, 25, 50, 75, 90 */
	double below_percent[RVP_WEIGHT_THRESHOLDS]; /* of 0.001, 0.01, 0.1 */
};

struct rvp_status rvp_weights_of_file(const char *path, struct rvp_weights *weights);

#endif
