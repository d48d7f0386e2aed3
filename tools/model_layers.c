/* SPDX-License-Identifier: MIT */
/* model_layers.c: `rvprof model 'LAYERS' --input SHAPE`: a row a layer, then the passes. */
#include "tools/model.h"

#include "report/text_numbers.h"
#include "tools/model_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void tell_layer_json(struct rvp_json *json, const struct rvp_layer *layer)
{
	char text[RVP_LAYER_TEXT_BYTES];

	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "layer", rvp_layer_text(layer, text));
	rvp_json_string(json, "layer_type", rvp_layer_facts[layer->kind].name);
	rvp_json_string(json, "input", rvp_shape_text(&layer->in, text));
	rvp_json_string(json, "output", rvp_shape_text(&layer->out, text));
	rvp_json_number(json, "parameters", layer->work.parameters);
	rvp_json_number(json, "flops", layer->work.flops);
	if (layer->work.flops != layer->work.flops_original)
		rvp_json_number(json, "flops_original", layer->work.flops_original);
	rvp_json_number(json, "elementwise_flops", layer->work.elementwise_flops);
	rvp_json_number(json, "moved_bytes", 4 * layer->work.moved_values);
	rvp_json_number(json, "workspace_bytes", 4 * layer->work.workspace_values);
	rvp_json_close(json, '}');
}

static void tell_layers_json(struct rvp_figures *figures, const struct rvp_network *network)
{
	struct rvp_json *json = &figures->json;
	char text[RVP_SHAPE_TEXT_BYTES];

	rvp_json_string(json, "input", rvp_shape_text(&network->input, text));
	rvp_json_string(json, "output", rvp_shape_text(rvp_network_output(network), text));
	rvp_json_open(json, "layers", '[');
	for (size_t i = 0; i < network->count; i++)
		tell_layer_json(json, &network->layers[i]);
	rvp_json_close(json, ']');
}

static void tell_layers_text(struct rvp_figures *figures, const struct rvp_network *network)
{
	char text[RVP_LAYER_TEXT_BYTES], shape[RVP_SHAPE_TEXT_BYTES];
	char parameters[RVP_NUMBER_TEXT_BYTES], flops[RVP_NUMBER_TEXT_BYTES], bytes[RVP_NUMBER_TEXT_BYTES];

	printf("%-40s %18s %15s %20s %12s\n", "layer", "output", "parameters", "FLOPs a sample", "moved");
	printf("%-40s %18s\n", "(input)", rvp_shape_text(&network->input, shape));
	for (size_t i = 0; i < network->count; i++) {
		const struct rvp_layer *layer = &network->layers[i];

		printf("%-40s %18s %15s %20s %12s\n", rvp_layer_text(layer, text),
		       rvp_shape_text(&layer->out, shape), rvp_text_count(layer->work.parameters, parameters),
		       rvp_text_count(layer->work.flops, flops),
		       rvp_text_bytes(4 * layer->work.moved_values, bytes));
	}
	figures->has_text = true;
}

/* What TinyTorch has no figure of. */
static void tell_more(struct rvp_figures *figures, const struct rvp_network *network)
{
	rvp_figures_group(figures, "by_layers", "sums over the layers");
	rvp_figure_whole(figures, "elementwise_flops", network->total.elementwise_flops);
	rvp_figure_whole(figures, "moved_bytes", 4 * network->total.moved_values);
	rvp_figure_whole(figures, "saved_for_backward_bytes", 4 * network->total.saved_values);
	rvp_figure_whole(figures, "buffers_peak_bytes", 4 * network->buffer_values_max);
	rvp_figure_whole(figures, "workspace_bytes", 4 * network->total.workspace_values);
	rvp_figures_end(figures);
}

static void tell(struct rvp_model_wish *wish, const struct rvp_network *network)
{
	struct rvp_profile_base base = rvp_profile_base_of(network, rvp_bytes_of_value(wish->type));
	struct rvp_figures figures;

	base.latency_ms = rvp_median(wish->latencies_ms, wish->latency_count);
	if (!isnan(wish->peak_mb))
		base.held_mb = wish->peak_mb;
	rvp_figures_open(&figures, wish->is_json, "rvprof.model/1");
	if (wish->is_json)
		tell_layers_json(&figures, network);
	else
		tell_layers_text(&figures, network);
	rvp_tell_profile(&figures, &base);
	tell_more(&figures, network);
	rvp_figures_close(&figures);
}

struct rvp_status rvp_model_of_layers(struct rvp_model_wish *wish)
{
	struct rvp_network network;
	struct rvp_status status;

	if (!wish->input)
		return rvp_fail_with("fit", wish->of, "say what goes in, the batch first: --input 32x128");
	status = rvp_network_open(&network, wish->of, wish->input);
	if (rvp_failed(status))
		return status;
	tell(wish, &network);
	rvp_network_close(&network);
	return RVP_OK;
}
