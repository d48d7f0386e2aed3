/* SPDX-License-Identifier: MIT */
/* open_calls.h: which calls are open, by correlation: a call is told of once, whoever else is called back inside it (the
 * driver's function inside the runtime's, a callback inside a callback).
 *
 * A table of PLACES words; two open calls whose correlations are a multiple of PLACES apart are taken for themselves.
 */
#ifndef RVP_CUPTI_OPEN_CALLS_H
#define RVP_CUPTI_OPEN_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { RVP_OPEN_PLACES = 4096 };

struct rvp_open_calls {
	_Atomic uint32_t correlations[RVP_OPEN_PLACES]; /* 0: none */
};

/* True: this is the outermost; it ends with rvp_open_end. */
static inline bool rvp_open_begin(struct rvp_open_calls *calls, uint32_t correlation)
{
	_Atomic uint32_t *place = &calls->correlations[correlation % RVP_OPEN_PLACES];

	if (correlation && atomic_load_explicit(place, memory_order_relaxed) == correlation)
		return false;
	atomic_store_explicit(place, correlation, memory_order_relaxed);
	return true;
}

static inline void rvp_open_end(struct rvp_open_calls *calls, uint32_t correlation)
{
	atomic_store_explicit(&calls->correlations[correlation % RVP_OPEN_PLACES], 0, memory_order_relaxed);
}

#endif
