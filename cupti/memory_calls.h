/* SPDX-License-Identifier: MIT */
/* memory_calls.h: calls of the driver that give out, map and take back memory, as its callbacks tell them: whoever makes
 * them, a runtime that is linked statically too.
 *
 * An alloc is written at the call's exit, a free at its enter, so that an address that is given out again by another
 * thread at once has both in order; a free that failed is taken back.
 */
#ifndef RVP_CUPTI_MEMORY_CALLS_H
#define RVP_CUPTI_MEMORY_CALLS_H

#include "cupti/abi_callbacks.h"

#include <stdbool.h>

/* Function `i` of those that are to be called back, from 0; 0: no more. */
uint32_t rvp_memory_calls_function(unsigned i);

/* False: no call of memory's. */
bool rvp_memory_calls_take(uint32_t cbid, const struct rvp_cupti_api_data *data);

#endif
