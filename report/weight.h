/* SPDX-License-Identifier: MIT */
/* weight.h: what a recorded block stands for. A SAMPLE of b bytes was taken with probability p = 1 -
 * exp(-b/T), so it stands for 1/p blocks and b/p bytes (Horvitz-Thompson), with variance b^2 (1 - p)/p^2. */
#ifndef RVP_REPORT_WEIGHT_H
#define RVP_REPORT_WEIGHT_H

#include "report/analysis.h"
#include "report/block_table.h"

struct rvp_weight {
	struct rvp_amount amount;
	double variance; /* of the bytes */
};

/* `sample_bytes`: T of the block's process. */
struct rvp_weight rvp_weight_of(const struct rvp_block *block, uint64_t sample_bytes);

/* 95 % error from a variance, of a figure to which blocks that no sample met may belong: with no sample at
 * all, what would have been met with 95 % probability, three times T. `sample_bytes` 0: nothing was sampled.
 */
uint64_t rvp_weight_error_bytes(double variance, uint64_t sample_bytes);

#endif
