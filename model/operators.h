/* SPDX-License-Identifier: MIT */
/* operators.h: how long operators take, one or several together: warm-up, then `repeat` times the mean of
 * `number` runs.
 *
 *   - An operator is a network: a single layer, or several that are one (a closure). Its workspace is the
 * most that a layer of it needs beside input and output; a group's is the sum of its members'.
 *   - Members of a group run one after the other; those with streams of their own (numbers that differ) run
 * side by side, a thread a stream. -1 is the default stream.
 *   - What computes nothing (a variable) has latency 0 and no workspace.
 */
#ifndef RVP_MODEL_OPERATORS_H
#define RVP_MODEL_OPERATORS_H

#include "model/network.h"

enum { RVP_GROUP_MAX = 64, RVP_REPEAT_MAX = 1000 };

struct rvp_operator {
	struct rvp_network network;
	int stream;
};

struct rvp_op_wish {
	unsigned warmup, number, repeat;
	int threads; /* of OpenBLAS; 0: all it takes */
};

struct rvp_op_result {
	double latency_us[RVP_REPEAT_MAX];
	unsigned count;
	uint64_t workspace_bytes;
};

/* Whether any of them computes. */
bool rvp_operators_compute(const struct rvp_operator *operators, size_t count);

uint64_t rvp_operators_workspace(const struct rvp_operator *operators, size_t count);

struct rvp_status rvp_operators_measure(struct rvp_operator *operators, size_t count, struct rvp_op_wish wish,
					struct rvp_op_result *result);

/* ---- what was measured before ----
 *
 * Kept in the user's cache, a file a model of processor and number of threads; an entry is found by its key
 * alone, which has operators, shapes, type, streams, threads, warm-up, number and repeat in it.
 */

enum { RVP_OP_KEY_BYTES = 8192 };

/* False: longer than a key may be. */
bool rvp_op_key(const struct rvp_operator *operators, size_t count, struct rvp_op_wish wish,
		char key[RVP_OP_KEY_BYTES]);

bool rvp_op_cache_find(const char *key, struct rvp_op_result *result);
struct rvp_status rvp_op_cache_put(const char *key, const struct rvp_op_result *result);
size_t rvp_op_cache_size(void);
struct rvp_status rvp_op_cache_reset(void);

#endif
