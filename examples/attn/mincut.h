/* SPDX-License-Identifier: MIT */
/* mincut.h: which entries of a square of attention logits are kept: those above eps, less a minimum cut
 * between the first and the last token where that cut is cheap.
 *
 * Positive entries (diagonal included) are edges from row to column with their value as capacity; the cut is
 * between token 0 and token n - 1. It is taken when it costs at most lambda times the mean weight of an edge.
 * Floats are added in the order of rows, and paths are found in a fixed order: the same logits give the same
 * bits everywhere. */
#ifndef ATTN_MINCUT_H
#define ATTN_MINCUT_H

#include <stdbool.h>
#include <stddef.h>

struct gate {
	size_t n;
	bool *keep;     /* n * n, by rows */
	float cut_cost; /* of a cut that was taken; 0: none */
	size_t edges_kept, edges_total;
};

/* False without memory. Free it with gate_free. */
bool gate_make(struct gate *gate, const float *logits, size_t n, float lambda, float eps);
void gate_free(struct gate *gate);

/* What a mask does over time: an element follows only after it has differed for tau masks in a row. */
struct hysteresis {
	size_t tau, count; /* elements of the last mask; a mask of another length starts anew */
	bool *mask;        /* NULL before the first */
	size_t *differed;
	bool has_mask;
};

/* Replaces `mask` by what it comes to. False without memory. */
bool hysteresis_apply(struct hysteresis *state, bool *mask, size_t count);
void hysteresis_free(struct hysteresis *state);

#endif
