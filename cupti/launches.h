/* SPDX-License-Identifier: MIT */
/* launches.h: launches of kernels and graphs: counted, timed now and then, and recorded by their sites. */
#ifndef RVP_CUPTI_LAUNCHES_H
#define RVP_CUPTI_LAUNCHES_H

#include "cupti/abi_callbacks.h"

#include <stdbool.h>
#include <stddef.h>

/* How launches are recorded. */
enum rvp_launches { RVP_LAUNCHES_COUNTED, RVP_LAUNCHES_SAMPLED, RVP_LAUNCHES_ALL };

/* Function `i` of a domain (DRIVER, RUNTIME) that launches, from 0; 0: no more. */
uint32_t rvp_launches_function(uint32_t domain, unsigned i);

void rvp_launches_how(enum rvp_launches how);

/* False: no launch. */
bool rvp_launches_take(uint32_t domain, uint32_t cbid, const struct rvp_cupti_api_data *data);

/* Of all so far; graph launches too. */
uint64_t rvp_launches_count(void);
uint64_t rvp_launches_graph_count(void);

/* What a launch typically took of late (the lower quartile of those that were timed), and begins anew; 0: too few. */
uint64_t rvp_launches_typical_ns(void);

#endif
