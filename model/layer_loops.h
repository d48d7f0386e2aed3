/* SPDX-License-Identifier: MIT */
/* layer_loops.h: what layers do value by value and row by row, in plain loops. */
#ifndef RVP_MODEL_LAYER_LOOPS_H
#define RVP_MODEL_LAYER_LOOPS_H

#include "model/layer.h"

void rvp_elementwise(enum rvp_layer_kind kind, const float *in, float *out, size_t count);
void rvp_layernorm(const float *in, size_t rows, size_t width, const float *scale, const float *shift,
		   float *out);

/* Of a square of scores: row i by its first i + 1 values, 0 behind them. */
void rvp_softmax_of_past(float *scores, size_t tokens);

void rvp_add_to(float *sum, const float *values, size_t count);
void rvp_add_rows(float *rows, size_t count, size_t width, const float *bias);
float rvp_one_by_root(size_t value);

/* a = b + 3 c. */
void rvp_triad(double *restrict a, const double *restrict b, const double *restrict c, size_t count);

/* A layer without products. */
void rvp_layer_loop(const struct rvp_layer *layer, const float *parameters, const float *in, float *out);

#endif
