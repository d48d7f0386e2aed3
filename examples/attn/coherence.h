/* SPDX-License-Identifier: MIT */
/* coherence.h: how far gated outputs are from those of plain attention, by ruvector-coherence's definitions:
 * floats in, doubles inside, lists cut to the shorter where not said otherwise. */
#ifndef ATTN_COHERENCE_H
#define ATTN_COHERENCE_H

#include <stdbool.h>
#include <stddef.h>

double cosine_of(const float *a, const float *b, size_t count); /* 0 where a norm is next to nothing */

struct behaviour {
	double coherence_delta;    /* cosine - 1: 0 for the same direction, -2 at worst */
	size_t decision_flips;     /* entries whose sign bits differ */
	double path_length_change; /* |gated| / |baseline| - 1 */
};
struct behaviour behaviour_of(const float *baseline, const float *gated, size_t count);

/* Counts the tail of the longer list as against zeros. */
double l2_distance(const float *a, size_t a_count, const float *b, size_t b_count);

struct mask_difference {
	double jaccard; /* 1 where neither has any */
	size_t edge_flips, baseline_edges, gated_edges;
	double sparsity_ratio; /* gated / baseline, or gated where the baseline has none */
};
struct mask_difference mask_difference_of(const bool *baseline, size_t baseline_count, const bool *gated,
					  size_t gated_count);

/* Of values, one a pair: the sample's standard deviation (n - 1; 0 of one), and mean -+ 1.96 std / sqrt(n).
 */
struct batch {
	double mean, std, low, high;
};
struct batch batch_of(const double *values, size_t count);

#endif
