/* SPDX-License-Identifier: MIT */
/* network.c: see network.h. */
#include "model/network.h"

#include "model/exact.h"
#include "model/spec.h"

#include <stdlib.h>

static void add(struct rvp_work *total, const struct rvp_work *work)
{
	total->parameters = rvp_plus(total->parameters, work->parameters);
	total->flops = rvp_plus(total->flops, work->flops);
	total->elementwise_flops = rvp_plus(total->elementwise_flops, work->elementwise_flops);
	total->flops_original = rvp_plus(total->flops_original, work->flops_original);
	total->moved_values = rvp_plus(total->moved_values, work->moved_values);
	total->saved_values = rvp_plus(total->saved_values, work->saved_values);
	if (work->workspace_values > total->workspace_values)
		total->workspace_values = work->workspace_values;
}

/* Beside the network's input, which its caller keeps. */
static uint64_t buffers(const struct rvp_layer *layer, bool is_first)
{
	return rvp_plus(rvp_plus(is_first ? 0 : rvp_shape_values(&layer->in), rvp_shape_values(&layer->out)),
			layer->work.workspace_values);
}

static struct rvp_status fit(struct rvp_network *network)
{
	const struct rvp_shape *in = &network->input;
	uint64_t most = 0;

	for (size_t i = 0; i < network->count; i++) {
		struct rvp_layer *layer = &network->layers[i];
		struct rvp_status status = rvp_layer_fit(layer, (unsigned)i + 1, in);

		if (rvp_failed(status))
			return status;
		add(&network->total, &layer->work);
		if (buffers(layer, i == 0) > most)
			most = buffers(layer, i == 0);
		in = &layer->out;
	}
	network->buffer_values_max = rvp_plus(most, rvp_shape_values(&network->input));
	return RVP_OK;
}

/* What the rates need fits doubles and 64 bits. */
static bool is_countable(const struct rvp_network *network)
{
	uint64_t batch = rvp_shape_batch(&network->input);
	uint64_t bytes = rvp_times(8, rvp_plus(network->buffer_values_max, network->total.parameters));

	return bytes != UINT64_MAX && rvp_times(3, rvp_times(network->total.flops, batch)) != UINT64_MAX &&
	       rvp_times(network->total.elementwise_flops, batch) != UINT64_MAX &&
	       rvp_times(3, network->total.flops_original) != UINT64_MAX &&
	       rvp_times(8, rvp_plus(network->total.moved_values, network->total.saved_values)) != UINT64_MAX;
}

struct rvp_status rvp_network_open(struct rvp_network *network, const char *spec, const char *input)
{
	struct rvp_status status;

	*network = (struct rvp_network){0};
	status = rvp_shape_parse(input, &network->input);
	if (!rvp_failed(status))
		status = rvp_spec_parse(spec, &network->layers, &network->count);
	if (!rvp_failed(status))
		status = fit(network);
	if (!rvp_failed(status) && !is_countable(network))
		status = rvp_fail_with("count", spec, "the model is larger than 64 bits can count");
	if (rvp_failed(status))
		rvp_network_close(network);
	return status;
}

void rvp_network_close(struct rvp_network *network)
{
	free(network->layers);
	*network = (struct rvp_network){0};
}
