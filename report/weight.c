/* SPDX-License-Identifier: MIT */
/* weight.c: see weight.h. */
#include "report/weight.h"

#include <math.h>

static const double quantile_95 = 1.959964;

struct rvp_weight rvp_weight_of(const struct rvp_block *block, uint64_t sample_bytes)
{
	if (!(block->flags & RVP_BLOCK_SAMPLED) || !sample_bytes || !block->bytes)
		return (struct rvp_weight){.amount = {.bytes = block->bytes, .count = 1}};

	double bytes = (double)block->bytes, p = -expm1(-bytes / (double)sample_bytes);

	if (p < 1e-9)
		p = 1e-9;
	return (struct rvp_weight){
	    .amount = {.bytes = (uint64_t)(bytes / p + 0.5), .count = (uint64_t)(1 / p + 0.5)},
	    .variance = bytes * bytes * (1 - p) / (p * p),
	};
}

uint64_t rvp_weight_error_bytes(double variance, uint64_t sample_bytes)
{
	double unmet = 3 / quantile_95 * (double)sample_bytes;
	double error = quantile_95 * sqrt((variance > 0 ? variance : 0) + unmet * unmet);

	return error < 1e18 ? (uint64_t)(error + 0.5) : (uint64_t)1000000000000000000;
}
