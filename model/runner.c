/* SPDX-License-Identifier: MIT */
/* runner.c: see runner.h. */
#include "model/runner.h"

#include "model/exact.h"
#include "model/free_memory.h"
#include "record/clock_ns.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Of both signs, small, the same each time. */
static void fill(float *values, uint64_t count)
{
	uint32_t state = 1;

	for (uint64_t i = 0; i < count; i++) {
		state = state * 1664525u + 1013904223u;
		values[i] = (float)(int32_t)state / (float)INT32_MAX * 0.1f;
	}
}

static float *filled(uint64_t count)
{
	float *values = aligned_alloc(64, (count * sizeof *values + 63) / 64 * 64);

	if (values)
		fill(values, count);
	return values;
}

static uint64_t largest_output(const struct rvp_network *network)
{
	uint64_t most = 1;

	for (size_t i = 0; i < network->count; i++)
		if (rvp_shape_values(&network->layers[i].out) > most)
			most = rvp_shape_values(&network->layers[i].out);
	return most;
}

/* BLAS counts rows and columns in an int. */
static bool fits_blas(const struct rvp_layer *layer)
{
	return rvp_shape_values(&layer->in) / rvp_shape_last(&layer->in) <= INT_MAX &&
	       rvp_times(layer->out.size[2], layer->out.size[3]) <= INT_MAX &&
	       (layer->kind != RVP_LAYER_CONV2D ||
		rvp_times(rvp_times(layer->arguments[RVP_ARG_K].first, layer->arguments[RVP_ARG_K].second),
			  layer->arguments[RVP_ARG_IN].first) <= INT_MAX);
}

static struct rvp_status check_room(const struct rvp_network *network)
{
	uint64_t values = rvp_plus(network->total.parameters, rvp_shape_values(&network->input));
	uint64_t bytes =
	    4 * rvp_plus(values, rvp_plus(2 * largest_output(network), network->total.workspace_values));
	uint64_t free_bytes = rvp_free_memory_bytes();

	for (size_t i = 0; i < network->count; i++)
		if (!fits_blas(&network->layers[i]))
			return rvp_fail_with("run", "the model", "layer %zu is larger than BLAS counts",
					     i + 1);
	if (free_bytes && bytes > free_bytes / 10 * 9)
		return rvp_fail_with("run", "the model", "it needs %llu MiB and %llu MiB are free",
				     (unsigned long long)bytes >> 20, (unsigned long long)free_bytes >> 20);
	return RVP_OK;
}

static bool allocate(struct rvp_runner *runner)
{
	const struct rvp_network *network = runner->network;
	uint64_t most = largest_output(network);

	runner->parameters = calloc(network->count, sizeof *runner->parameters);
	runner->input = filled(rvp_shape_values(&network->input));
	runner->turns[0] = filled(most);
	runner->turns[1] = filled(most);
	runner->workspace = filled(network->total.workspace_values + 1);
	if (!runner->parameters || !runner->input || !runner->turns[0] || !runner->turns[1] ||
	    !runner->workspace)
		return false;
	for (size_t i = 0; i < network->count; i++) {
		uint64_t count = network->layers[i].work.parameters;

		runner->parameters[i] = count ? filled(count) : NULL;
		if (count && !runner->parameters[i])
			return false;
	}
	return true;
}

struct rvp_status rvp_runner_open(struct rvp_runner *runner, const struct rvp_network *network,
				  const struct rvp_blas *blas)
{
	struct rvp_status status = check_room(network);

	*runner = (struct rvp_runner){.network = network, .blas = blas};
	if (rvp_failed(status) || allocate(runner))
		return status;
	rvp_runner_close(runner);
	return rvp_fail("run", "the model", ENOMEM);
}

const float *rvp_runner_run(struct rvp_runner *runner)
{
	const float *at = runner->input;
	unsigned turn = 0;

	for (size_t i = 0; i < runner->network->count; i++) {
		uint64_t begin_ns = runner->layer_ns ? rvp_clock_ns(CLOCK_MONOTONIC) : 0;
		const float *out =
		    rvp_layer_run(runner->blas, &runner->network->layers[i], runner->parameters[i], at,
				  runner->turns[turn], runner->workspace);

		turn ^= out == runner->turns[turn];
		at = out;
		if (runner->layer_ns)
			runner->layer_ns[i] = rvp_clock_ns(CLOCK_MONOTONIC) - begin_ns;
	}
	return at;
}

void rvp_runner_close(struct rvp_runner *runner)
{
	for (size_t i = 0; runner->parameters && i < runner->network->count; i++)
		free(runner->parameters[i]);
	free(runner->parameters);
	free(runner->input);
	free(runner->turns[0]);
	free(runner->turns[1]);
	free(runner->workspace);
	*runner = (struct rvp_runner){0};
}
