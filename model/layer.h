/* SPDX-License-Identifier: MIT */
/* layer.h: one layer of a model or operator: what it is, what goes in and comes out, and what it costs.
 *
 * Formulas, of one sample (layers.def has elementwise operations a value; docs/metrics.md the same in words):
 *   linear     2 in out rows                                 rows: of a sample, 1 without a dimension between
 *   conv2d     2 (in / groups) out kh kw oh ow               oh = (h + 2 pad - dilation (kh - 1) - 1) /
 * stride + 1 attention  2 tokens features (2 q + 2 kv) + 4 tokens^2 q q = features, kv = kv_heads features /
 * heads block      attention + 4 tokens features hidden A bias, an activation and a norm are in
 * elementwise_flops alone.
 */
#ifndef RVP_MODEL_LAYER_H
#define RVP_MODEL_LAYER_H

#include "model/shape.h"

#include <stddef.h>

enum rvp_layer_kind {
#define RVP_LAYER(id, name, arguments, takes, per_value, help) RVP_LAYER_##id,
#include "model/layers.def"
	RVP_LAYER_KIND_COUNT
};

enum { RVP_ARGUMENTS_MAX = 8, RVP_LAYER_TEXT_BYTES = 208 };

struct rvp_layer_fact {
	const char *name, *arguments, *help;
	unsigned takes, per_value;
};
extern const struct rvp_layer_fact rvp_layer_facts[RVP_LAYER_KIND_COUNT];

/* The second number of an argument that is one alone is the same. */
struct rvp_argument {
	uint64_t first, second;
};

/* What one layer costs; of one sample where it says so, of float32 values where it counts bytes. */
struct rvp_work {
	uint64_t parameters;
	uint64_t flops, elementwise_flops; /* of a sample */
	uint64_t flops_original; /* as the first version of TinyTorch counts; of the batch where it does so */
	uint64_t moved_values;   /* of the batch: input, output and parameters once each */
	uint64_t saved_values;   /* of the batch: what a backward pass needs of the forward */
	uint64_t workspace_values; /* beside input and output, while it runs (one sample's at a time) */
};

struct rvp_layer {
	enum rvp_layer_kind kind;
	struct rvp_argument arguments[RVP_ARGUMENTS_MAX];
	struct rvp_shape in, out;
	struct rvp_work work;
};

/* Arguments by the order of layers.def. */
enum { RVP_ARG_IN, RVP_ARG_OUT, RVP_ARG_LINEAR_BIAS };
enum { RVP_ARG_K = 2, RVP_ARG_STRIDE, RVP_ARG_PAD, RVP_ARG_DILATION, RVP_ARG_GROUPS, RVP_ARG_CONV_BIAS };
enum { RVP_ARG_POOL_K, RVP_ARG_POOL_STRIDE, RVP_ARG_POOL_PAD };
enum { RVP_ARG_FEATURES, RVP_ARG_HEADS, RVP_ARG_KV_HEADS, RVP_ARG_ATTENTION_BIAS };
enum { RVP_ARG_HIDDEN = 2, RVP_ARG_BLOCK_KV_HEADS, RVP_ARG_BLOCK_BIAS };

/* "linear(128,64)", "conv2d(3,16,3,stride=1,pad=0)": with what was left out where that says something. */
const char *rvp_layer_text(const struct rvp_layer *layer, char text[RVP_LAYER_TEXT_BYTES]);

/* Every argument by its name: "in=3 out=16 k=3 stride=1 .."; empty of a layer without. */
const char *rvp_layer_arguments(const struct rvp_layer *layer, char text[RVP_LAYER_TEXT_BYTES]);

/* Sets in, out and work. Fails with what does not fit; `number` counts from 1. */
struct rvp_status rvp_layer_fit(struct rvp_layer *layer, unsigned number, const struct rvp_shape *in);

/* Sets work; in and out are there. False: more than 64 bits can count. */
bool rvp_layer_count(struct rvp_layer *layer);

#endif
