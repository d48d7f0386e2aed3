/* SPDX-License-Identifier: MIT */
/* exact.h: sums and products of counts that do not wrap round: what 64 bits can't hold is UINT64_MAX, and
 * stays so. */
#ifndef RVP_MODEL_EXACT_H
#define RVP_MODEL_EXACT_H

#include <stdint.h>

static inline uint64_t rvp_times(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t rvp_plus(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
