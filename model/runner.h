/* SPDX-License-Identifier: MIT */
/* runner.h: runs a network's forward pass with OpenBLAS, in float32, on numbers that are always the same.
 *
 *   - Products are OpenBLAS's with its threads; all else is a plain loop of one thread.
 *   - A linear layer's weights are in x out, a convolution's out x in / groups x kh x kw; biases stand behind
 * them. Attention: q (in x q), k, v (in x kv), out (q x in), then their biases. Block: norm, attention, norm,
 * up, down.
 *   - Everything is allocated before the first run; a run allocates nothing.
 */
#ifndef RVP_MODEL_RUNNER_H
#define RVP_MODEL_RUNNER_H

#include "model/blas.h"
#include "model/network.h"

struct rvp_runner {
	const struct rvp_network *network;
	const struct rvp_blas *blas;
	float **parameters; /* of each layer; NULL where it has none */
	float *input, *turns[2], *workspace;
	uint64_t *layer_ns; /* of each layer, in the latest run; NULL: not wanted */
};

/* Fails where memory is not there, or a size is beyond what BLAS counts. Both must outlive it. */
struct rvp_status rvp_runner_open(struct rvp_runner *runner, const struct rvp_network *network,
				  const struct rvp_blas *blas);

/* The output, which stays until the next run. */
const float *rvp_runner_run(struct rvp_runner *runner);

void rvp_runner_close(struct rvp_runner *runner);

/* One layer: `out` has room for what comes out, `workspace` for work.workspace_values. Gives what holds the
 * result: `out`, or `in` where there was nothing to do. */
const float *rvp_layer_run(const struct rvp_blas *blas, const struct rvp_layer *layer,
			   const float *parameters, const float *in, float *out, float *workspace);

#endif
