/* SPDX-License-Identifier: MIT */
/* graphs.h: nodes of graphs as they are made (with the call path: a kernel of a graph has no other) and copied. */
#ifndef RVP_CUPTI_GRAPHS_H
#define RVP_CUPTI_GRAPHS_H

#include "cupti/abi_callbacks.h"

#include <stdbool.h>

/* False: nothing of graphs. `cbid` of the domain RESOURCE. */
bool rvp_graphs_take(uint32_t cbid, const struct rvp_cupti_resource_data *data);

/* Function `i` of those that are to be called back, from 0; 0: no more. */
uint32_t rvp_graphs_function(unsigned i);

/* Nodes that work on the device, of a graph that can be launched: the mean so far. */
uint64_t rvp_graphs_mean_nodes(void);

#endif
