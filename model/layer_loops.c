/* SPDX-License-Identifier: MIT */
/* layer_loops.c: see layer_loops.h. */
#include "model/layer_loops.h"

#include <math.h>
#include <string.h>

static const float epsilon = 1e-5f;

static float gelu(float x)
{
	return 0.5f * x * (1 + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
}

/* One loop a kind, so that each is a loop of one operation. */
#define EACH(expression)                     \
	for (size_t i = 0; i < count; i++) { \
		float x = in[i];             \
                                             \
		out[i] = expression;         \
	}                                    \
	break

void rvp_elementwise(enum rvp_layer_kind kind, const float *in, float *out, size_t count)
{
	switch (kind) {
	case RVP_LAYER_RELU: EACH(x > 0 ? x : 0);
	case RVP_LAYER_LEAKY_RELU: EACH(x > 0 ? x : x * 0.01f);
	case RVP_LAYER_GELU: EACH(gelu(x));
	case RVP_LAYER_SILU: EACH(x / (1 + expf(-x)));
	case RVP_LAYER_SIGMOID: EACH(1 / (1 + expf(-x)));
	case RVP_LAYER_TANH: EACH(tanhf(x));
	case RVP_LAYER_EXP: EACH(expf(x));
	case RVP_LAYER_LOG: EACH(logf(fabsf(x)));
	case RVP_LAYER_SQRT: EACH(sqrtf(fabsf(x)));
	default: EACH(x + x); /* add, tensor */
	}
}

static void softmax_row(const float *in, size_t width, float *out)
{
	float most = in[0], sum = 0;

	for (size_t i = 1; i < width; i++)
		most = in[i] > most ? in[i] : most;
	for (size_t i = 0; i < width; i++)
		sum += out[i] = expf(in[i] - most);
	for (size_t i = 0; i < width; i++)
		out[i] /= sum;
}

void rvp_softmax_of_past(float *scores, size_t tokens)
{
	for (size_t row = 0; row < tokens; row++) {
		softmax_row(scores + row * tokens, row + 1, scores + row * tokens);
		memset(scores + row * tokens + row + 1, 0, (tokens - row - 1) * sizeof *scores);
	}
}

void rvp_layernorm(const float *in, size_t rows, size_t width, const float *scale, const float *shift,
		   float *out)
{
	for (size_t row = 0; row < rows; row++, in += width, out += width) {
		float mean = 0, variance = 0, by;

		for (size_t i = 0; i < width; i++)
			mean += in[i];
		mean /= (float)width;
		for (size_t i = 0; i < width; i++)
			variance += (in[i] - mean) * (in[i] - mean);
		by = 1 / sqrtf(variance / (float)width + epsilon);
		for (size_t i = 0; i < width; i++)
			out[i] = (in[i] - mean) * by * scale[i] + shift[i];
	}
}

static void rmsnorm(const float *in, size_t rows, size_t width, const float *scale, float *out)
{
	for (size_t row = 0; row < rows; row++, in += width, out += width) {
		float squares = 0, by;

		for (size_t i = 0; i < width; i++)
			squares += in[i] * in[i];
		by = 1 / sqrtf(squares / (float)width + epsilon);
		for (size_t i = 0; i < width; i++)
			out[i] = in[i] * by * scale[i];
	}
}

void rvp_add_to(float *sum, const float *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sum[i] += values[i];
}

void rvp_add_rows(float *rows, size_t count, size_t width, const float *bias)
{
	for (size_t i = 0; i < count; i++)
		rvp_add_to(rows + i * width, bias, width);
}

float rvp_one_by_root(size_t value)
{
	return 1 / sqrtf((float)value);
}

void rvp_triad(double *restrict a, const double *restrict b, const double *restrict c, size_t count)
{
	for (size_t i = 0; i < count; i++)
		a[i] = b[i] + 3 * c[i];
}

/* ---- pools ---- */

/* One window; what lies in the padding is in no mean and is no largest. */
static float pool_window(const struct rvp_layer *layer, const float *channel, size_t y, size_t x)
{
	struct rvp_argument k = layer->arguments[RVP_ARG_POOL_K],
			    stride = layer->arguments[RVP_ARG_POOL_STRIDE];
	struct rvp_argument pad = layer->arguments[RVP_ARG_POOL_PAD];
	size_t height = layer->in.size[2], width = layer->in.size[3], count = 0;
	float most = -INFINITY, sum = 0;

	for (size_t i = y * stride.first; i < y * stride.first + k.first; i++)
		for (size_t j = x * stride.second; j < x * stride.second + k.second; j++) {
			float value;

			if (i - pad.first >= height || j - pad.second >= width)
				continue;
			value = channel[(i - pad.first) * width + j - pad.second];
			most = value > most ? value : most;
			sum += value;
			count++;
		}
	return layer->kind == RVP_LAYER_MAXPOOL2D ? most : sum / (float)count;
}

static void pool(const struct rvp_layer *layer, const float *in, float *out)
{
	size_t channels = layer->in.size[0] * layer->in.size[1],
	       values = layer->in.size[2] * layer->in.size[3];

	for (size_t channel = 0; channel < channels; channel++)
		for (size_t y = 0; y < layer->out.size[2]; y++)
			for (size_t x = 0; x < layer->out.size[3]; x++)
				*out++ = pool_window(layer, in + channel * values, y, x);
}

/* Sums of pieces of equal length, by `by`. */
static void sum_pieces(const float *in, size_t pieces, size_t length, float by, float *out)
{
	for (size_t piece = 0; piece < pieces; piece++, in += length) {
		float sum = 0;

		for (size_t i = 0; i < length; i++)
			sum += in[i];
		out[piece] = sum * by;
	}
}

static void batchnorm(const struct rvp_layer *layer, const float *parameters, const float *in, float *out)
{
	size_t channels = layer->in.size[1], places = layer->in.size[2] * layer->in.size[3];

	for (size_t i = 0; i < layer->in.size[0] * channels; i++)
		for (size_t j = 0; j < places; j++)
			*out++ = *in++ * parameters[i % channels] + parameters[channels + i % channels];
}

/* Tokens are the input's numbers, taken into the vocabulary. */
static void embed(const struct rvp_layer *layer, const float *table, const float *in, float *out)
{
	size_t vocabulary = layer->arguments[0].first, width = layer->arguments[1].first;
	size_t tokens = rvp_shape_values(&layer->in);

	for (size_t i = 0; i < tokens; i++)
		memcpy(out + i * width, table + (size_t)(fabsf(in[i]) * 65536) % vocabulary * width,
		       width * sizeof *out);
}

void rvp_layer_loop(const struct rvp_layer *layer, const float *parameters, const float *in, float *out)
{
	size_t width = rvp_shape_last(&layer->in), values = rvp_shape_values(&layer->in),
	       rows = values / width;
	size_t batch = rvp_shape_batch(&layer->in), of_channel = layer->in.size[2] * layer->in.size[3];

	switch (layer->kind) {
	case RVP_LAYER_EMBEDDING: embed(layer, parameters, in, out); break;
	case RVP_LAYER_MAXPOOL2D:
	case RVP_LAYER_AVGPOOL2D: pool(layer, in, out); break;
	case RVP_LAYER_GLOBALPOOL:
		sum_pieces(in, batch * layer->in.size[1], of_channel, 1 / (float)of_channel, out);
		break;
	case RVP_LAYER_SUM: sum_pieces(in, batch, values / batch, 1, out); break;
	case RVP_LAYER_BATCHNORM2D: batchnorm(layer, parameters, in, out); break;
	case RVP_LAYER_LAYERNORM: rvp_layernorm(in, rows, width, parameters, parameters + width, out); break;
	case RVP_LAYER_RMSNORM: rmsnorm(in, rows, width, parameters, out); break;
	case RVP_LAYER_SOFTMAX:
		for (size_t row = 0; row < rows; row++)
			softmax_row(in + row * width, width, out + row * width);
		break;
	default: rvp_elementwise(layer->kind, in, out, values);
	}
}
