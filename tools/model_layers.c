/* SPDX-License-Identifier: MIT */
/* model_layers.c: `rvprof model 'LAYERS' --input SHAPE`: a row a layer, then the passes, what was measured,
 * the limits. */
#include "tools/model.h"

#include "model/roofline.h"
#include "report/text_numbers.h"
#include "tools/model_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* What is told of a network beside its figures. */
struct telling {
	const struct rvp_network *network;
	const struct rvp_machine *machine;   /* NULL: not known */
	const struct rvp_measured *measured; /* NULL: not measured */
};

static double layer_ms(const struct telling *telling, size_t layer)
{
	return telling->measured ? telling->measured->layer_ms[layer] : NAN;
}

static double batch_operations(const struct rvp_work *work, const struct rvp_network *network)
{
	return ((double)work->flops + (double)work->elementwise_flops) *
	       (double)rvp_shape_batch(&network->input);
}

static struct rvp_roof roof_of(const struct telling *telling, const struct rvp_work *work, double ms)
{
	return rvp_roof_of(telling->machine, batch_operations(work, telling->network),
			   4 * (double)work->moved_values, ms);
}

static void json_figure(struct rvp_json *json, const char *key, double value)
{
	if (isfinite(value))
		rvp_json_double(json, key, value);
}

static void tell_roof_json(struct rvp_json *json, const struct rvp_roof *roof)
{
	rvp_json_open(json, "roofline", '{');
	json_figure(json, "intensity_flops_per_byte", roof->intensity);
	rvp_json_string(json, "bound", roof->is_memory_bound ? "memory" : "compute");
	json_figure(json, "attainable_gflops_per_second", roof->attainable_flops_per_s / 1e9);
	json_figure(json, "least_ms", roof->least_ms);
	json_figure(json, "share_of_attainable", roof->share_of_attainable);
	json_figure(json, "share_of_peak", roof->share_of_peak);
	rvp_json_close(json, '}');
}

static void tell_layer_json(struct rvp_json *json, const struct telling *telling, size_t number)
{
	const struct rvp_layer *layer = &telling->network->layers[number];
	char text[RVP_LAYER_TEXT_BYTES];
	struct rvp_roof roof;

	rvp_json_open(json, NULL, '{');
	rvp_json_string(json, "layer", rvp_layer_text(layer, text));
	if (*rvp_layer_arguments(layer, text))
		rvp_json_string(json, "arguments", text);
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
	json_figure(json, "latency_ms", layer_ms(telling, number));
	if (layer->work.flops)
		json_figure(json, "gflops_per_second",
			    (double)layer->work.flops * (double)rvp_shape_batch(&layer->in) / 1e6 /
				layer_ms(telling, number));
	if (telling->machine && layer->work.moved_values) {
		roof = roof_of(telling, &layer->work, layer_ms(telling, number));
		tell_roof_json(json, &roof);
	}
	rvp_json_close(json, '}');
}

static void tell_layers_json(struct rvp_figures *figures, const struct telling *telling)
{
	struct rvp_json *json = &figures->json;
	char text[RVP_SHAPE_TEXT_BYTES];

	rvp_json_string(json, "input", rvp_shape_text(&telling->network->input, text));
	rvp_json_string(json, "output", rvp_shape_text(rvp_network_output(telling->network), text));
	rvp_json_open(json, "layers", '[');
	for (size_t i = 0; i < telling->network->count; i++)
		tell_layer_json(json, telling, i);
	rvp_json_close(json, ']');
}

/* Intensity, what bounds it, and with a time its share of what could be reached. */
static void tell_roof_text(const struct telling *telling, size_t number)
{
	const struct rvp_work *work = &telling->network->layers[number].work;
	double ms = layer_ms(telling, number);
	struct rvp_roof roof;

	if (!isnan(ms))
		printf(" %10.4f", ms);
	if (!telling->machine || !work->moved_values)
		return;
	roof = roof_of(telling, work, ms);
	printf(" %10.3g %s", roof.intensity, roof.is_memory_bound ? "memory" : "compute");
	if (!isnan(roof.share_of_attainable))
		printf("%*.1f %%", roof.is_memory_bound ? 9 : 8, 100 * roof.share_of_attainable);
}

static void tell_layers_text(struct rvp_figures *figures, const struct telling *telling)
{
	char text[RVP_LAYER_TEXT_BYTES], shape[RVP_SHAPE_TEXT_BYTES];
	char parameters[RVP_NUMBER_TEXT_BYTES], flops[RVP_NUMBER_TEXT_BYTES], bytes[RVP_NUMBER_TEXT_BYTES];

	printf("%-32s %16s %13s %16s %10s%s%s%s\n", "layer", "output", "parameters", "FLOPs a sample",
	       "moved", telling->measured ? "         ms" : "", telling->machine ? "    FLOPs/B bound" : "",
	       telling->measured && telling->machine ? "     of limit" : "");
	printf("%-32s %16s\n", "(input)", rvp_shape_text(&telling->network->input, shape));
	for (size_t i = 0; i < telling->network->count; i++) {
		const struct rvp_layer *layer = &telling->network->layers[i];

		printf("%-32s %16s %13s %16s %10s", rvp_layer_text(layer, text),
		       rvp_shape_text(&layer->out, shape), rvp_text_count(layer->work.parameters, parameters),
		       rvp_text_count(layer->work.flops, flops),
		       rvp_text_bytes(4 * layer->work.moved_values, bytes));
		tell_roof_text(telling, i);
		putchar('\n');
	}
	figures->has_text = true;
}

/* What TinyTorch has no figure of. */
static void tell_sums(struct rvp_figures *figures, const struct rvp_network *network)
{
	rvp_figures_group(figures, "by_layers", "sums over the layers");
	rvp_figure_whole(figures, "elementwise_flops", network->total.elementwise_flops);
	rvp_figure_whole(figures, "moved_bytes", 4 * network->total.moved_values);
	rvp_figure_whole(figures, "saved_for_backward_bytes", 4 * network->total.saved_values);
	rvp_figure_whole(figures, "buffers_peak_bytes", 4 * network->buffer_values_max);
	rvp_figure_whole(figures, "workspace_bytes", 4 * network->total.workspace_values);
	rvp_figures_end(figures);
}

static void tell_measured(struct rvp_figures *figures, const struct rvp_model_wish *wish,
			  const struct rvp_measured *measured)
{
	rvp_figures_group(figures, "measured", "measured here, with OpenBLAS");
	rvp_figure_whole(figures, "threads", (uint64_t)measured->threads);
	rvp_figure_whole(figures, "warmup", wish->measure.warmup);
	rvp_figure_whole(figures, "iterations", wish->measure.iterations);
	rvp_figure_double(figures, "median_ms", measured->latency_ms);
	rvp_figure_double(figures, "least_ms", measured->least_ms);
	rvp_figure_double(figures, "most_ms", measured->most_ms);
	rvp_figure_double(figures, "std_ms", measured->std_ms);
	rvp_figures_end(figures);
}

/* The whole network: its limit is the sum over the layers, each by what bounds it. */
static void tell_roofline(struct rvp_figures *figures, const struct telling *telling, double ms)
{
	struct rvp_roof whole = roof_of(telling, &telling->network->total, ms);
	double least_ms = 0;

	for (size_t i = 0; i < telling->network->count; i++)
		if (telling->network->layers[i].work.moved_values)
			least_ms += roof_of(telling, &telling->network->layers[i].work, NAN).least_ms;
	rvp_figures_group(figures, "roofline", "roofline");
	rvp_figure_text(figures, "machine", telling->machine->processor);
	rvp_figure_double(figures, "peak_gflops_per_second", telling->machine->flops_per_s / 1e9);
	rvp_figure_double(figures, "peak_gbytes_per_second", telling->machine->bytes_per_s / 1e9);
	rvp_figure_double(figures, "balance_flops_per_byte",
			  telling->machine->flops_per_s / telling->machine->bytes_per_s);
	rvp_figure_double(figures, "intensity_flops_per_byte", whole.intensity);
	rvp_figure_text(figures, "bound", whole.is_memory_bound ? "memory" : "compute");
	rvp_figure_double(figures, "least_ms", least_ms);
	rvp_figure_double(figures, "share_of_attainable", ms > 0 ? least_ms / ms : NAN);
	rvp_figure_double(figures, "share_of_peak", whole.share_of_peak);
	rvp_figures_end(figures);
}

bool rvp_model_machine(const struct rvp_model_wish *wish, struct rvp_machine *machine)
{
	if (isnan(wish->peak_flops))
		return rvp_machine_load(machine);
	*machine = (struct rvp_machine){
	    .processor = "as given", .flops_per_s = wish->peak_flops, .bytes_per_s = wish->peak_bytes};
	return true;
}

static void tell(const struct rvp_model_wish *wish, const struct telling *telling,
		 struct rvp_profile_base *base)
{
	struct rvp_figures figures;

	rvp_figures_open(&figures, wish->is_json, "rvprof.model/1");
	if (wish->is_json)
		tell_layers_json(&figures, telling);
	else
		tell_layers_text(&figures, telling);
	rvp_tell_profile(&figures, base);
	tell_sums(&figures, telling->network);
	if (telling->measured)
		tell_measured(&figures, wish, telling->measured);
	if (telling->machine)
		tell_roofline(&figures, telling, base->latency_ms);
	else if (!wish->is_json)
		puts("\nNo limits of this machine are known: `rvprof calibrate` measures them, then each "
		     "layer is placed under them.");
	rvp_figures_close(&figures);
}

static struct rvp_status tell_network(struct rvp_model_wish *wish, const struct rvp_network *network)
{
	struct rvp_profile_base base = rvp_profile_base_of(network, rvp_bytes_of_value(wish->type));
	struct rvp_machine machine;
	struct rvp_measured measured = {0};
	struct telling telling = {network, rvp_model_machine(wish, &machine) ? &machine : NULL, NULL};

	base.latency_ms = rvp_median(wish->latencies_ms, wish->latency_count);
	if (!isnan(wish->peak_mb))
		base.held_mb = wish->peak_mb;
	if (wish->must_measure) {
		struct rvp_status status = rvp_measure(network, wish->measure, &measured);

		if (rvp_failed(status))
			return status;
		base.latency_ms = measured.latency_ms;
		telling.measured = &measured;
	}
	tell(wish, &telling, &base);
	rvp_measured_free(&measured);
	return RVP_OK;
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
	status = tell_network(wish, &network);
	rvp_network_close(&network);
	return status;
}
