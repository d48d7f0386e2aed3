/* SPDX-License-Identifier: MIT */
/* network.h: layers one after the other, each fitted to what the one before gives. */
#ifndef RVP_MODEL_NETWORK_H
#define RVP_MODEL_NETWORK_H

#include "model/layer.h"

struct rvp_network {
	struct rvp_layer *layers;
	size_t count;
	struct rvp_shape input;
	struct rvp_work total;      /* sums; of workspace the largest */
	uint64_t buffer_values_max; /* input, and the most of a layer's own input, output and workspace */
};

/* "linear(128,64) relu" over "32x128". */
struct rvp_status rvp_network_open(struct rvp_network *network, const char *spec, const char *input);

void rvp_network_close(struct rvp_network *network);

static inline const struct rvp_shape *rvp_network_output(const struct rvp_network *network)
{
	return &network->layers[network->count - 1].out;
}

#endif
