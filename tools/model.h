/* SPDX-License-Identifier: MIT */
/* model.h: what was asked of `rvprof model`, and who answers it. */
#ifndef RVP_TOOLS_MODEL_H
#define RVP_TOOLS_MODEL_H

#include "model/machine.h"
#include "model/measure.h"
#include "model/training.h"

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

enum rvp_model_analysis {
	RVP_ANALYSIS_NONE,
	RVP_ANALYSIS_SCALING,
	RVP_ANALYSIS_BATCH_SIZES,
	RVP_ANALYSIS_OPERATIONS
};

enum { RVP_LATENCIES_MAX = 1000 };

/* Numbers that were not given are NAN, texts NULL. */
struct rvp_model_wish {
	const char *of;    /* layers, or a file */
	const char *input; /* a shape */
	struct rvp_number_type type;
	struct rvp_number_type kv_type;
	uint64_t context;
	bool has_type, has_optimizer, has_context;
	struct rvp_optimizer optimizer;
	bool is_json, must_measure, wants_weights;
	enum rvp_model_analysis analysis;
	uint64_t parameters, flops, batch;
	bool has_parameters, has_flops, has_batch;
	double latencies_ms[RVP_LATENCIES_MAX];
	size_t latency_count;
	double peak_mb, used_mb;
	struct rvp_measure_wish measure;
	double peak_flops, peak_bytes; /* a second, of a machine that is not this one */
};

extern const struct option rvp_model_options[], rvp_calibrate_options[];

/* Each prints its answer. */
struct rvp_status rvp_model_of_layers(struct rvp_model_wish *wish);
struct rvp_status rvp_model_of_file(struct rvp_model_wish *wish);
struct rvp_status rvp_model_weights(struct rvp_model_wish *wish);
struct rvp_status rvp_model_of_figures(struct rvp_model_wish *wish);
struct rvp_status rvp_model_analyse(struct rvp_model_wish *wish);

/* The machine to place work on: what was given, else what `rvprof calibrate` kept. False: neither. */
bool rvp_model_machine(const struct rvp_model_wish *wish, struct rvp_machine *machine);

#endif
