/* SPDX-License-Identifier: MIT */
/* layer_run.c: what each layer does to its numbers (runner.h says how parameters lie). */
#include "model/runner.h"

#include "model/layer_loops.h"

#include <string.h>

static void put_bias(float *rows, size_t count, size_t width, const float *bias)
{
	for (size_t i = 0; i < count; i++)
		memcpy(rows + i * width, bias, width * sizeof *bias);
}

/* rows x in times in x out, and a bias where there is one. */
static void product(const struct rvp_blas *blas, size_t rows, size_t in, size_t out, const float *x,
		    const float *weights, const float *bias, float *y)
{
	if (bias)
		put_bias(y, rows, out, bias);
	rvp_blas_product(blas, (int)rows, (int)out, (int)in, x, weights, bias ? 1 : 0, y);
}

static void run_linear(const struct rvp_blas *blas, const struct rvp_layer *layer, const float *weights,
		       const float *in, float *out)
{
	size_t width = layer->arguments[RVP_ARG_IN].first, height = layer->arguments[RVP_ARG_OUT].first;
	size_t rows = rvp_shape_product(&layer->in, 0, layer->in.count - 1);

	product(blas, rows, width, height, in, weights,
		layer->arguments[RVP_ARG_LINEAR_BIAS].first ? weights + width * height : NULL, out);
}

/* ---- convolution ---- */

struct window {
	size_t height, width, out_height, out_width;
	const struct rvp_argument *k, *stride, *pad, *dilation;
};

/* Of `count` places, `stride` apart from `-before` on, those that lie in 0 to `size` - 1: from *begin to
 * *end. */
static void places_inside(size_t count, size_t stride, size_t before, size_t after, size_t size,
			  size_t *begin, size_t *end)
{
	size_t first = before > after ? (before - after + stride - 1) / stride : 0;
	size_t last = size + before > after ? (size + before - after + stride - 1) / stride : 0;

	*begin = first < count ? first : count;
	*end = last < count ? last : count;
	if (*end < *begin)
		*end = *begin;
}

/* A row of the output's places from a row of the input; what lies in the padding is 0. */
static void fill_places(const struct window *w, const float *row, size_t kernel_x, size_t begin, size_t end,
			float *to)
{
	size_t shift = kernel_x * w->dilation->second, stride = w->stride->second;

	memset(to, 0, begin * sizeof *to);
	if (stride == 1 && end > begin)
		memcpy(to + begin, row + (begin + shift - w->pad->second), (end - begin) * sizeof *to);
	else
		for (size_t x = begin; x < end; x++)
			to[x] = row[x * stride + shift - w->pad->second];
	memset(to + end, 0, (w->out_width - end) * sizeof *to);
}

/* One row of the window matrix: for one channel and place in the kernel, each place of the output. */
static void fill_row(const struct window *w, const float *channel, size_t kernel_y, size_t kernel_x,
		     float *to)
{
	size_t begin, end, top, bottom;

	places_inside(w->out_width, w->stride->second, w->pad->second, kernel_x * w->dilation->second,
		      w->width, &begin, &end);
	places_inside(w->out_height, w->stride->first, w->pad->first, kernel_y * w->dilation->first,
		      w->height, &top, &bottom);
	for (size_t y = 0; y < w->out_height; y++, to += w->out_width) {
		size_t from_y = y * w->stride->first + kernel_y * w->dilation->first - w->pad->first;

		if (y < top || y >= bottom)
			memset(to, 0, w->out_width * sizeof *to);
		else
			fill_places(w, channel + from_y * w->width, kernel_x, begin, end, to);
	}
}

static void fill_windows(const struct window *w, size_t channels, const float *in, float *matrix)
{
	size_t places = w->out_height * w->out_width;

	for (size_t channel = 0; channel < channels; channel++)
		for (size_t y = 0; y < w->k->first; y++)
			for (size_t x = 0; x < w->k->second; x++, matrix += places)
				fill_row(w, in + channel * w->height * w->width, y, x, matrix);
}

static void put_channel_bias(float *out, size_t channels, size_t places, const float *bias)
{
	for (size_t channel = 0; channel < channels; channel++)
		for (size_t i = 0; i < places; i++)
			out[channel * places + i] = bias[channel];
}

/* One sample's channels of one group. */
static void run_group(const struct rvp_blas *blas, const struct window *w, size_t in_channels,
		      size_t out_channels, const float *weights, const float *bias, const float *in,
		      float *out, float *matrix)
{
	size_t places = w->out_height * w->out_width, depth = in_channels * w->k->first * w->k->second;

	if (matrix)
		fill_windows(w, in_channels, in, matrix);
	if (bias)
		put_channel_bias(out, out_channels, places, bias);
	rvp_blas_product(blas, (int)out_channels, (int)places, (int)depth, weights, matrix ? matrix : in,
			 bias ? 1 : 0, out);
}

static void run_conv2d(const struct rvp_blas *blas, const struct rvp_layer *layer, const float *weights,
		       const float *in, float *out, float *workspace)
{
	const struct rvp_argument *arguments = layer->arguments;
	struct window w = {layer->in.size[2],       layer->in.size[3],           layer->out.size[2],
			   layer->out.size[3],      &arguments[RVP_ARG_K],       &arguments[RVP_ARG_STRIDE],
			   &arguments[RVP_ARG_PAD], &arguments[RVP_ARG_DILATION]};
	size_t groups = arguments[RVP_ARG_GROUPS].first, in_channels = arguments[RVP_ARG_IN].first / groups;
	size_t out_channels = arguments[RVP_ARG_OUT].first / groups;
	size_t in_values = in_channels * w.height * w.width,
	       out_values = out_channels * w.out_height * w.out_width;
	size_t weight_values = out_channels * in_channels * w.k->first * w.k->second;
	const float *bias = arguments[RVP_ARG_CONV_BIAS].first ? weights + groups * weight_values : NULL;

	for (size_t sample = 0; sample < rvp_shape_batch(&layer->in); sample++)
		for (size_t group = 0; group < groups; group++, in += in_values, out += out_values)
			run_group(blas, &w, in_channels, out_channels, weights + group * weight_values,
				  bias ? bias + group * out_channels : NULL, in, out,
				  layer->work.workspace_values ? workspace : NULL);
}

/* ---- attention ---- */

struct attention {
	size_t tokens, features, heads, kv_heads, head, kv;
	const float *q, *k, *v, *out;                     /* weights */
	const float *q_bias, *k_bias, *v_bias, *out_bias; /* NULL: none */
};

static struct attention attention_of(const struct rvp_layer *layer, unsigned kv_heads_at, bool has_bias,
				     const float *weights)
{
	struct attention a = {.tokens = layer->in.size[1],
			      .features = layer->arguments[RVP_ARG_FEATURES].first,
			      .heads = layer->arguments[RVP_ARG_HEADS].first,
			      .kv_heads = layer->arguments[kv_heads_at].first};

	a.head = a.features / a.heads;
	a.kv = a.head * a.kv_heads;
	a.q = weights;
	a.k = a.q + a.features * a.features;
	a.v = a.k + a.features * a.kv;
	a.out = a.v + a.features * a.kv;
	if (has_bias) {
		a.q_bias = a.out + a.features * a.features;
		a.k_bias = a.q_bias + a.features;
		a.v_bias = a.k_bias + a.kv;
		a.out_bias = a.v_bias + a.kv;
	}
	return a;
}

/* softmax(q k^T / sqrt(head)) v of one head, each token with those before it and itself. */
static void run_head(const struct rvp_blas *blas, const struct attention *a, const float *q, const float *k,
		     const float *v, float *scores, float *found)
{
	int tokens = (int)a->tokens, head = (int)a->head, features = (int)a->features, kv = (int)a->kv;

	blas->sgemm(101, RVP_BLAS_PLAIN, RVP_BLAS_TURNED, tokens, tokens, head, rvp_one_by_root(a->head), q,
		    features, k, kv, 0, scores, tokens);
	rvp_softmax_of_past(scores, a->tokens);
	blas->sgemm(101, RVP_BLAS_PLAIN, RVP_BLAS_PLAIN, tokens, head, tokens, 1, scores, tokens, v, kv, 0,
		    found, features);
}

/* One sample. */
static void run_attention(const struct rvp_blas *blas, const struct attention *a, const float *in, float *out,
			  float *workspace)
{
	float *q = workspace, *k = q + a->tokens * a->features, *v = k + a->tokens * a->kv;
	float *found = v + a->tokens * a->kv, *scores = found + a->tokens * a->features;

	product(blas, a->tokens, a->features, a->features, in, a->q, a->q_bias, q);
	product(blas, a->tokens, a->features, a->kv, in, a->k, a->k_bias, k);
	product(blas, a->tokens, a->features, a->kv, in, a->v, a->v_bias, v);
	for (size_t i = 0; i < a->heads; i++) {
		size_t shared = i / (a->heads / a->kv_heads) * a->head;

		run_head(blas, a, q + i * a->head, k + shared, v + shared, scores, found + i * a->head);
	}
	product(blas, a->tokens, a->features, a->features, found, a->out, a->out_bias, out);
}

static void run_attentions(const struct rvp_blas *blas, const struct rvp_layer *layer, const float *weights,
			   const float *in, float *out, float *workspace)
{
	struct attention a = attention_of(layer, RVP_ARG_KV_HEADS,
					  layer->arguments[RVP_ARG_ATTENTION_BIAS].first != 0, weights);
	size_t row = a.tokens * a.features;

	for (size_t sample = 0; sample < rvp_shape_batch(&layer->in); sample++)
		run_attention(blas, &a, in + sample * row, out + sample * row, workspace);
}

/* ---- a transformer's block ---- */

struct block {
	struct attention attention;
	size_t hidden;
	const float *first_norm, *second_norm, *up, *up_bias, *down, *down_bias;
};

static struct block block_of(const struct rvp_layer *layer, const float *weights)
{
	bool has_bias = layer->arguments[RVP_ARG_BLOCK_BIAS].first != 0;
	struct block b = {.hidden = layer->arguments[RVP_ARG_HIDDEN].first, .first_norm = weights};
	size_t features = layer->arguments[RVP_ARG_FEATURES].first;

	b.attention = attention_of(layer, RVP_ARG_BLOCK_KV_HEADS, has_bias, weights + 2 * features);
	b.second_norm = has_bias ? b.attention.out_bias + features : b.attention.out + features * features;
	b.up = b.second_norm + 2 * features;
	b.up_bias = has_bias ? b.up + features * b.hidden : NULL;
	b.down = b.up + features * b.hidden + (has_bias ? b.hidden : 0);
	b.down_bias = has_bias ? b.down + features * b.hidden : NULL;
	return b;
}

/* One sample: x + attention(norm(x)), and that + down(gelu(up(norm(that)))). */
static void run_block(const struct rvp_blas *blas, const struct block *b, const float *in, float *out,
		      float *workspace)
{
	size_t tokens = b->attention.tokens, features = b->attention.features;
	float *normed = workspace, *inner = workspace + tokens * features;

	rvp_layernorm(in, tokens, features, b->first_norm, b->first_norm + features, normed);
	run_attention(blas, &b->attention, normed, out, inner);
	rvp_add_to(out, in, tokens * features);
	rvp_layernorm(out, tokens, features, b->second_norm, b->second_norm + features, normed);
	product(blas, tokens, features, b->hidden, normed, b->up, b->up_bias, inner);
	rvp_elementwise(RVP_LAYER_GELU, inner, inner, tokens * b->hidden);
	/* What the first half gave is added to, with the bias. */
	if (b->down_bias)
		rvp_add_rows(out, tokens, features, b->down_bias);
	rvp_blas_product(blas, (int)tokens, (int)features, (int)b->hidden, inner, b->down, 1, out);
}

static void run_blocks(const struct rvp_blas *blas, const struct rvp_layer *layer, const float *weights,
		       const float *in, float *out, float *workspace)
{
	struct block b = block_of(layer, weights);
	size_t row = b.attention.tokens * b.attention.features;

	for (size_t sample = 0; sample < rvp_shape_batch(&layer->in); sample++)
		run_block(blas, &b, in + sample * row, out + sample * row, workspace);
}

const float *rvp_layer_run(const struct rvp_blas *blas, const struct rvp_layer *layer,
			   const float *parameters, const float *in, float *out, float *workspace)
{
	switch (layer->kind) {
	case RVP_LAYER_LINEAR: run_linear(blas, layer, parameters, in, out); break;
	case RVP_LAYER_CONV2D: run_conv2d(blas, layer, parameters, in, out, workspace); break;
	case RVP_LAYER_ATTENTION: run_attentions(blas, layer, parameters, in, out, workspace); break;
	case RVP_LAYER_BLOCK: run_blocks(blas, layer, parameters, in, out, workspace); break;
	case RVP_LAYER_IDENTITY:
	case RVP_LAYER_DROPOUT:
	case RVP_LAYER_FLATTEN: return in;
	default: rvp_layer_loop(layer, parameters, in, out);
	}
	return out;
}
