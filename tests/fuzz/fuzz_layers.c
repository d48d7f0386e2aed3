/* SPDX-License-Identifier: MIT */
/* fuzz_layers.c: any words as a model: the input's shape, a new line, the layers.
 *
 *   (F8) A network is either whole, each layer's output the next one's input and no count wrapped round, or
 * there is a failure of one line and nothing to free.
 */
#include "model/network.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

static void check(const struct rvp_network *network)
{
	const struct rvp_shape *in = &network->input;
	char text[RVP_LAYER_TEXT_BYTES];

	for (size_t i = 0; i < network->count; i++) {
		const struct rvp_layer *layer = &network->layers[i];

		if (memcmp(&layer->in, in, sizeof *in) != 0 || !rvp_shape_values(&layer->out) ||
		    rvp_shape_values(&layer->out) > INT64_MAX || layer->work.flops == UINT64_MAX ||
		    network->total.parameters < layer->work.parameters ||
		    network->total.flops < layer->work.flops)
			abort();
		if (strlen(rvp_layer_text(layer, text)) >= sizeof text - 1 ||
		    strlen(rvp_layer_arguments(layer, text)) >= sizeof text - 1)
			abort();
		in = &layer->out;
	}
	if (network->buffer_values_max < rvp_shape_values(&network->input))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	char *text = malloc(length + 1), *layers, line[600];
	struct rvp_network network;
	struct rvp_status status;

	if (!text)
		abort();
	memcpy(text, bytes, length);
	text[length] = 0;
	layers = strchr(text, '\n');
	if (layers)
		*layers++ = 0;
	status = rvp_network_open(&network, layers ? layers : "", text);
	if (rvp_failed(status)) {
		if (network.layers || !*rvp_status_line(&status, line, sizeof line))
			abort();
	} else {
		check(&network);
		rvp_network_close(&network);
	}
	free(text);
	return 0;
}
