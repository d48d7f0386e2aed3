/* SPDX-License-Identifier: MIT */
/* layer_count.c: what a layer costs, from its arguments and shapes alone: the formulas of layer.h. */
#include "model/exact.h"
#include "model/layer.h"

static uint64_t rows_of_sample(const struct rvp_layer *layer)
{
	return rvp_shape_product(&layer->in, 1, layer->in.count - 1);
}

static void count_linear(const struct rvp_layer *layer, struct rvp_work *work)
{
	uint64_t in = layer->arguments[RVP_ARG_IN].first, out = layer->arguments[RVP_ARG_OUT].first;
	uint64_t product = rvp_times(in, out);
	bool has_bias = layer->arguments[RVP_ARG_LINEAR_BIAS].first != 0;

	work->parameters = rvp_plus(product, has_bias ? out : 0);
	work->flops_original = rvp_times(2, product);
	work->flops = rvp_times(work->flops_original, rows_of_sample(layer));
	work->elementwise_flops = has_bias ? rvp_shape_sample_values(&layer->out) : 0;
}

static void count_conv2d(const struct rvp_layer *layer, struct rvp_work *work)
{
	const struct rvp_argument *arguments = layer->arguments;
	struct rvp_argument k = arguments[RVP_ARG_K], stride = arguments[RVP_ARG_STRIDE],
			    pad = arguments[RVP_ARG_PAD];
	uint64_t out = arguments[RVP_ARG_OUT].first,
		 places = rvp_times(layer->out.size[2], layer->out.size[3]);
	uint64_t window = rvp_times(rvp_times(k.first, k.second), arguments[RVP_ARG_IN].first);
	uint64_t of_group = window / arguments[RVP_ARG_GROUPS].first;
	bool has_bias = arguments[RVP_ARG_CONV_BIAS].first != 0;
	bool is_plain = k.first == 1 && k.second == 1 && stride.first == 1 && stride.second == 1 &&
			!pad.first && !pad.second;

	work->parameters = rvp_plus(rvp_times(of_group, out), has_bias ? out : 0);
	work->flops = rvp_times(2, rvp_times(rvp_times(of_group, out), places));
	work->flops_original =
	    rvp_times(rvp_times(layer->in.size[2] / stride.first, layer->in.size[3] / stride.second),
		      rvp_times(2, rvp_times(window, out)));
	work->elementwise_flops = has_bias ? rvp_times(out, places) : 0;
	work->workspace_values = is_plain ? 0 : rvp_times(of_group, places);
}

struct attention {
	uint64_t tokens, features, kv; /* kv: values of a token's keys */
	bool has_bias;
};

static struct attention attention_of(const struct rvp_layer *layer, unsigned kv_heads_at, unsigned bias_at)
{
	uint64_t features = layer->arguments[RVP_ARG_FEATURES].first;

	return (struct attention){layer->in.size[1], features,
				  features / layer->arguments[RVP_ARG_HEADS].first *
				      layer->arguments[kv_heads_at].first,
				  layer->arguments[bias_at].first != 0};
}

/* Projections of queries and the output, of keys and values; scores and their sum over the values. */
static void count_attention(const struct rvp_layer *layer, struct attention a, struct rvp_work *work)
{
	uint64_t heads = layer->arguments[RVP_ARG_HEADS].first,
		 widths = rvp_times(2, rvp_plus(a.features, a.kv));
	uint64_t pairs = rvp_times(a.tokens, a.tokens);

	work->parameters = rvp_plus(rvp_times(a.features, widths), a.has_bias ? widths : 0);
	work->flops = rvp_plus(rvp_times(rvp_times(2, a.tokens), rvp_times(a.features, widths)),
			       rvp_times(rvp_times(4, pairs), a.features));
	work->elementwise_flops =
	    rvp_plus(rvp_times(rvp_times(6, pairs), heads), a.has_bias ? rvp_times(a.tokens, widths) : 0);
	/* Queries, keys, values, one head's scores, what the heads found. */
	work->workspace_values =
	    rvp_plus(rvp_times(a.tokens, rvp_times(2, rvp_plus(a.features, a.kv))), pairs);
	work->saved_values = rvp_times(rvp_shape_batch(&layer->in),
				       rvp_plus(rvp_times(a.tokens, widths), rvp_times(pairs, heads)));
}

/* Two layernorms, attention, two linear layers with gelu, two sums with what went in. */
static void count_block(const struct rvp_layer *layer, struct rvp_work *work)
{
	struct attention a = attention_of(layer, RVP_ARG_BLOCK_KV_HEADS, RVP_ARG_BLOCK_BIAS);
	uint64_t hidden = layer->arguments[RVP_ARG_HIDDEN].first, product = rvp_times(a.features, hidden);
	uint64_t row = rvp_times(a.tokens, a.features), inner = rvp_times(a.tokens, hidden);
	uint64_t biases = a.has_bias ? rvp_plus(hidden, a.features) : 0, attention_workspace;

	count_attention(layer, a, work);
	attention_workspace = work->workspace_values;
	work->parameters = rvp_plus(
	    work->parameters, rvp_plus(rvp_times(2, product), rvp_plus(biases, rvp_times(4, a.features))));
	work->flops = rvp_plus(work->flops, rvp_times(rvp_times(4, a.tokens), product));
	work->elementwise_flops =
	    rvp_plus(work->elementwise_flops,
		     rvp_plus(rvp_times(18, row), rvp_plus(inner, rvp_times(a.tokens, biases))));
	/* What a norm gave, and beside it the larger of attention's and the hidden layer's. */
	work->workspace_values = rvp_plus(row, attention_workspace > inner ? attention_workspace : inner);
	work->saved_values =
	    rvp_plus(work->saved_values, rvp_times(rvp_shape_batch(&layer->in),
						   rvp_plus(rvp_times(3, row), rvp_times(2, inner))));
}

static void count_rest(const struct rvp_layer *layer, struct rvp_work *work)
{
	uint64_t out = rvp_shape_sample_values(&layer->out);
	const struct rvp_argument *k = &layer->arguments[RVP_ARG_POOL_K];

	work->elementwise_flops = rvp_times(out, rvp_layer_facts[layer->kind].per_value);
	work->flops_original = rvp_shape_values(&layer->in);
	switch (layer->kind) {
	case RVP_LAYER_EMBEDDING:
		work->parameters = rvp_times(layer->arguments[0].first, layer->arguments[1].first);
		break;
	case RVP_LAYER_BATCHNORM2D:
	case RVP_LAYER_LAYERNORM: work->parameters = rvp_times(2, layer->arguments[0].first); break;
	case RVP_LAYER_RMSNORM: work->parameters = layer->arguments[0].first; break;
	case RVP_LAYER_MAXPOOL2D:
	case RVP_LAYER_AVGPOOL2D:
		work->elementwise_flops = rvp_times(out, rvp_times(k->first, k->second));
		break;
	case RVP_LAYER_GLOBALPOOL:
	case RVP_LAYER_SUM: work->elementwise_flops = rvp_shape_sample_values(&layer->in); break;
	case RVP_LAYER_TENSOR: work->flops = rvp_shape_sample_values(&layer->in); break;
	default: break;
	}
}

static uint64_t moved(const struct rvp_layer *layer)
{
	uint64_t out = rvp_shape_values(&layer->out);

	if (layer->kind == RVP_LAYER_IDENTITY || layer->kind == RVP_LAYER_FLATTEN ||
	    layer->kind == RVP_LAYER_DROPOUT)
		return 0;
	/* Of an embedding's table only the rows of tokens are read. */
	return rvp_plus(rvp_shape_values(&layer->in),
			rvp_plus(out, layer->kind == RVP_LAYER_EMBEDDING ? out : layer->work.parameters));
}

bool rvp_layer_count(struct rvp_layer *layer)
{
	struct rvp_work *work = &layer->work;

	*work = (struct rvp_work){0};
	switch (layer->kind) {
	case RVP_LAYER_LINEAR: count_linear(layer, work); break;
	case RVP_LAYER_CONV2D: count_conv2d(layer, work); break;
	case RVP_LAYER_ATTENTION:
		count_attention(layer, attention_of(layer, RVP_ARG_KV_HEADS, RVP_ARG_ATTENTION_BIAS), work);
		work->flops_original = work->flops;
		break;
	case RVP_LAYER_BLOCK:
		count_block(layer, work);
		work->flops_original = work->flops;
		break;
	default: count_rest(layer, work);
	}
	work->moved_values = moved(layer);
	work->saved_values =
	    rvp_plus(work->saved_values, work->moved_values ? rvp_shape_values(&layer->in) : 0);
	return work->parameters != UINT64_MAX && work->flops != UINT64_MAX &&
	       work->elementwise_flops != UINT64_MAX && work->flops_original != UINT64_MAX &&
	       work->workspace_values != UINT64_MAX && work->moved_values != UINT64_MAX &&
	       work->saved_values != UINT64_MAX;
}
