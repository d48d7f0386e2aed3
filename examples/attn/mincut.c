/* SPDX-License-Identifier: MIT */
/* mincut.c: Dinic's maximum flow in floats, and the gate made of it. See mincut.h.
 *
 * The depth-first search keeps its path in an array, not on the stack: a chain of a million tokens is a chain
 * of a million calls otherwise. */
#include "mincut.h"

#include <float.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NO_LEVEL = -1 };

struct arc {
	uint32_t to;
	float capacity;
	size_t back; /* the arc of the other direction */
};

/* Arcs of node v: order[first[v]] to order[first[v + 1] - 1], in the order in which they were added. */
struct flow {
	size_t n, arc_count;
	struct arc *arcs;
	size_t *order, *first, *next; /* next: of each node the arc that is tried */
	int *level;
	uint32_t *queue;
	size_t *path; /* arcs from the source to where the search stands */
};

static size_t count_edges(const float *weights, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n * n; i++)
		count += weights[i] > 0;
	return count;
}

static bool make_room(struct flow *flow, size_t edge_count)
{
	flow->arc_count = 2 * edge_count;
	flow->arcs = calloc(flow->arc_count + 1, sizeof *flow->arcs);
	flow->order = calloc(flow->arc_count + 1, sizeof *flow->order);
	flow->first = calloc(flow->n + 2, sizeof *flow->first);
	flow->next = calloc(flow->n, sizeof *flow->next);
	flow->level = calloc(flow->n, sizeof *flow->level);
	flow->queue = calloc(flow->n, sizeof *flow->queue);
	flow->path = calloc(flow->n, sizeof *flow->path);
	return flow->arcs && flow->order && flow->first && flow->next && flow->level && flow->queue &&
	       flow->path;
}

static void free_room(struct flow *flow)
{
	free(flow->arcs);
	free(flow->order);
	free(flow->first);
	free(flow->next);
	free(flow->level);
	free(flow->queue);
	free(flow->path);
}

/* Arc 2e is edge e, arc 2e + 1 its way back. */
static void put_arcs(struct flow *flow, const float *weights)
{
	size_t arc = 0;

	for (size_t i = 0; i < flow->n * flow->n; i++) {
		if (!(weights[i] > 0))
			continue;
		flow->arcs[arc] =
		    (struct arc){.to = (uint32_t)(i % flow->n), .capacity = weights[i], .back = arc + 1};
		flow->arcs[arc + 1] = (struct arc){.to = (uint32_t)(i / flow->n), .back = arc};
		flow->first[i / flow->n + 1]++;
		flow->first[i % flow->n + 1]++;
		arc += 2;
	}
	for (size_t v = 0; v < flow->n; v++)
		flow->first[v + 1] += flow->first[v];
	memcpy(flow->next, flow->first, flow->n * sizeof *flow->next);
	for (size_t i = 0; i < flow->arc_count; i++)
		flow->order[flow->next[flow->arcs[flow->arcs[i].back].to]++] = i;
}

static void find_levels(struct flow *flow, uint32_t source)
{
	size_t taken = 0, count = 1;

	for (size_t v = 0; v < flow->n; v++)
		flow->level[v] = NO_LEVEL;
	flow->level[source] = 0;
	flow->queue[0] = source;
	while (taken < count) {
		uint32_t v = flow->queue[taken++];

		for (size_t i = flow->first[v]; i < flow->first[v + 1]; i++) {
			const struct arc *arc = &flow->arcs[flow->order[i]];

			if (arc->capacity > 0 && flow->level[arc->to] == NO_LEVEL) {
				flow->level[arc->to] = flow->level[v] + 1;
				flow->queue[count++] = arc->to;
			}
		}
	}
}

/* The next arc of v that leads on; false: v is a dead end. */
static bool find_arc(struct flow *flow, uint32_t v, size_t *found)
{
	for (; flow->next[v] < flow->first[v + 1]; flow->next[v]++) {
		const struct arc *arc = &flow->arcs[flow->order[flow->next[v]]];

		if (arc->capacity > 0 && flow->level[v] < flow->level[arc->to]) {
			*found = flow->order[flow->next[v]];
			return true;
		}
	}
	return false;
}

static void push(struct flow *flow, size_t length)
{
	float least = FLT_MAX / 2;

	for (size_t i = 0; i < length; i++)
		least =
		    flow->arcs[flow->path[i]].capacity < least ? flow->arcs[flow->path[i]].capacity : least;
	for (size_t i = 0; i < length; i++) {
		struct arc *arc = &flow->arcs[flow->path[i]];

		arc->capacity -= least;
		flow->arcs[arc->back].capacity += least;
	}
}

/* One more path from source to sink along rising levels; false: there is none. */
static bool push_one(struct flow *flow, uint32_t source, uint32_t sink)
{
	size_t length = 0;
	uint32_t v = source;

	while (v != sink) {
		if (find_arc(flow, v, &flow->path[length])) {
			v = flow->arcs[flow->path[length++]].to;
			continue;
		}
		if (v == source)
			return false;
		v = flow->arcs[flow->arcs[flow->path[--length]].back].to;
		flow->next[v]++;
	}
	push(flow, length);
	return true;
}

static void fill(struct flow *flow, uint32_t source, uint32_t sink)
{
	for (;;) {
		find_levels(flow, source);
		if (flow->level[sink] == NO_LEVEL)
			return;
		memcpy(flow->next, flow->first, flow->n * sizeof *flow->next);
		while (push_one(flow, source, sink))
			;
	}
}

/* Levels are now those of the last search: what it reached is the source's side. */
static bool is_cut(const struct flow *flow, size_t i)
{
	return flow->level[i / flow->n] != NO_LEVEL && flow->level[i % flow->n] == NO_LEVEL;
}

static void cut_if_cheap(struct gate *gate, const float *weights, const struct flow *flow, float threshold)
{
	float cost = 0;

	for (size_t i = 0; i < gate->n * gate->n; i++)
		if (weights[i] > 0 && is_cut(flow, i))
			cost += weights[i];
	if (!(cost <= threshold))
		return;
	gate->cut_cost = cost;
	for (size_t i = 0; i < gate->n * gate->n; i++)
		if (weights[i] > 0 && is_cut(flow, i))
			gate->keep[i] = false;
}

static bool cut(struct gate *gate, const float *weights, size_t edge_count, float lambda)
{
	struct flow flow = {.n = gate->n};
	bool has_room = make_room(&flow, edge_count);
	float sum = 0;

	for (size_t i = 0; i < gate->n * gate->n; i++)
		if (weights[i] > 0)
			sum += weights[i];
	if (has_room) {
		put_arcs(&flow, weights);
		fill(&flow, 0, (uint32_t)gate->n - 1);
		cut_if_cheap(gate, weights, &flow, lambda * (sum / (float)edge_count));
	}
	free_room(&flow);
	return has_room;
}

bool gate_make(struct gate *gate, const float *logits, size_t n, float lambda, float eps)
{
	float *weights = calloc(n * n + 1, sizeof *weights);
	size_t edge_count;
	bool is_good;

	*gate = (struct gate){.n = n, .edges_total = n * n, .keep = calloc(n * n + 1, sizeof *gate->keep)};
	is_good = weights && gate->keep;
	for (size_t i = 0; is_good && i < n * n; i++)
		weights[i] = logits[i] > eps ? logits[i] : 0;
	edge_count = is_good ? count_edges(weights, n) : 0;
	if (is_good && edge_count && n > 1) {
		for (size_t i = 0; i < n * n; i++)
			gate->keep[i] = weights[i] > 0;
		is_good = cut(gate, weights, edge_count, lambda);
		for (size_t i = 0; i < n * n; i++)
			gate->edges_kept += gate->keep[i];
	}
	free(weights);
	return is_good;
}

void gate_free(struct gate *gate)
{
	free(gate->keep);
	gate->keep = NULL;
}

static bool start_anew(struct hysteresis *state, const bool *mask, size_t count)
{
	hysteresis_free(state);
	state->mask = malloc(count + 1);
	state->differed = calloc(count + 1, sizeof *state->differed);
	if (!state->mask || !state->differed)
		return false;
	memcpy(state->mask, mask, count);
	state->count = count;
	state->has_mask = true;
	return true;
}

bool hysteresis_apply(struct hysteresis *state, bool *mask, size_t count)
{
	if (!state->has_mask || state->count != count)
		return start_anew(state, mask, count);
	for (size_t i = 0; i < count; i++) {
		if (mask[i] == state->mask[i])
			state->differed[i] = 0;
		else if (++state->differed[i] >= state->tau) {
			state->mask[i] = mask[i];
			state->differed[i] = 0;
		}
	}
	memcpy(mask, state->mask, count);
	return true;
}

void hysteresis_free(struct hysteresis *state)
{
	free(state->mask);
	free(state->differed);
	state->mask = NULL;
	state->differed = NULL;
	state->has_mask = false;
}
