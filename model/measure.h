/* SPDX-License-Identifier: MIT */
/* measure.h: how long a network's forward pass takes here: warm-up, then the median of many runs. Layers are
 * timed in runs of their own, 3 to warm up and 10, so that the clocks between them are in no whole run. */
#ifndef RVP_MODEL_MEASURE_H
#define RVP_MODEL_MEASURE_H

#include "model/runner.h"

struct rvp_measure_wish {
	unsigned warmup, iterations;
	int threads; /* of OpenBLAS; 0: all it takes */
};

struct rvp_measured {
	double latency_ms; /* median */
	double least_ms, most_ms, std_ms;
	double *layer_ms; /* medians, one a layer */
	int threads;
};

/* *measured is given back by rvp_measured_free. Without iterations latency is NAN. */
struct rvp_status rvp_measure(const struct rvp_network *network, struct rvp_measure_wish wish,
			      struct rvp_measured *measured);
void rvp_measured_free(struct rvp_measured *measured);

#endif
