/* SPDX-License-Identifier: MIT */
/* witness.h: a JSONL line a decision, in the layout of ruvector's attn-mincut:
 *
 *     {"q_hash":"..","k_hash":"..","keep_mask":[..],"cut_cost":..,"lambda":..,"tau":..,"eps":..,"timestamp":..}
 *
 * Hashes are SHA-256 of the floats, little-endian. The timestamp is the decision's number: there is no clock
 * in it, so that the same work gives the same lines. */
#ifndef ATTN_WITNESS_H
#define ATTN_WITNESS_H

#include "sample.h"

struct witness {
	FILE *out; /* NULL: nobody asked for it */
	const struct setting *setting;
	uint64_t count;
};

/* What the library for hashes takes for itself it takes here, in every setting alike. */
bool witness_begin(void);

/* decide_fn of sample.h; `witness` is a struct witness. */
bool witness_put(void *witness, const struct decision *decision);

#endif
