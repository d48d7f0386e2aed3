/* SPDX-License-Identifier: MIT */
/* layer_fit.c: what comes out of a layer, and whether what goes in fits it. */
#include "model/layer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct rvp_layer_fact rvp_layer_facts[RVP_LAYER_KIND_COUNT] = {
#define RVP_LAYER(id, name, arguments, takes, per_value, help) {name, arguments, help, takes, per_value},
#include "model/layers.def"
};

static unsigned argument_count(const struct rvp_layer_fact *fact)
{
	unsigned count = *fact->arguments != 0;

	for (const char *at = fact->arguments; *at; at++)
		count += *at == ',';
	return count;
}

/* Behind the last name of layers.def's list that says a value, arguments that have it are left out. */
static uint64_t value_if_left_out(const struct rvp_layer_fact *fact, unsigned index, bool *may_be)
{
	const char *at = fact->arguments;
	uint64_t value = 0;

	while (index--)
		at = strchr(at, ',') + 1;
	for (; *at && *at != ',' && *at != '='; at++)
		;
	*may_be = *at == '=';
	for (at += *may_be; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	return value;
}

static bool is_left_out(const struct rvp_layer *layer, unsigned index)
{
	const struct rvp_argument *argument = &layer->arguments[index];
	bool may_be;
	uint64_t value = value_if_left_out(&rvp_layer_facts[layer->kind], index, &may_be);

	return may_be && argument->first == value && argument->second == value;
}

static int put_name(char *to, size_t room, const char *list, unsigned index)
{
	while (index--)
		list = strchr(list, ',') + 1;
	return snprintf(to, room, "%.*s=", (int)strcspn(list, "*=,"), list);
}

const char *rvp_layer_text(const struct rvp_layer *layer, char text[RVP_LAYER_TEXT_BYTES])
{
	const struct rvp_layer_fact *fact = &rvp_layer_facts[layer->kind];
	unsigned count = argument_count(fact),
		 at = (unsigned)snprintf(text, RVP_LAYER_TEXT_BYTES, "%s", fact->name);
	bool has_gap = false, has_one = false;

	for (unsigned i = 0; i < count; i++) {
		const struct rvp_argument *argument = &layer->arguments[i];

		if (is_left_out(layer, i)) {
			has_gap = true;
			continue;
		}
		at += (unsigned)snprintf(text + at, RVP_LAYER_TEXT_BYTES - at, "%s", has_one ? "," : "(");
		if (has_gap)
			at += (unsigned)put_name(text + at, RVP_LAYER_TEXT_BYTES - at, fact->arguments, i);
		at += (unsigned)snprintf(text + at, RVP_LAYER_TEXT_BYTES - at, "%" PRIu64, argument->first);
		if (argument->second != argument->first)
			at += (unsigned)snprintf(text + at, RVP_LAYER_TEXT_BYTES - at, "x%" PRIu64,
						 argument->second);
		has_one = true;
	}
	if (has_one)
		snprintf(text + at, RVP_LAYER_TEXT_BYTES - at, ")");
	return text;
}

const char *rvp_layer_arguments(const struct rvp_layer *layer, char text[RVP_LAYER_TEXT_BYTES])
{
	const struct rvp_layer_fact *fact = &rvp_layer_facts[layer->kind];
	unsigned at = 0;

	text[0] = 0;
	for (unsigned i = 0; i < argument_count(fact); i++) {
		const struct rvp_argument *argument = &layer->arguments[i];

		at += (unsigned)snprintf(text + at, RVP_LAYER_TEXT_BYTES - at, "%s", i ? " " : "");
		at += (unsigned)put_name(text + at, RVP_LAYER_TEXT_BYTES - at, fact->arguments, i);
		at += (unsigned)snprintf(text + at, RVP_LAYER_TEXT_BYTES - at, "%" PRIu64, argument->first);
		if (argument->second != argument->first)
			at += (unsigned)snprintf(text + at, RVP_LAYER_TEXT_BYTES - at, "x%" PRIu64,
						 argument->second);
	}
	return text;
}

/* ---- what fits ---- */

static struct rvp_status misfit(const struct rvp_layer *layer, unsigned number, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static struct rvp_status misfit(const struct rvp_layer *layer, unsigned number, const char *format, ...)
{
	char detail[RVP_STATUS_DETAIL_BYTES], text[RVP_LAYER_TEXT_BYTES], place[RVP_STATUS_PATH_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(detail, sizeof detail, format, arguments);
	va_end(arguments);
	snprintf(place, sizeof place, "layer %u, %s", number, rvp_layer_text(layer, text));
	return rvp_fail_with("fit", place, "%s", detail);
}

/* The rows' length must be what the layer says. */
static struct rvp_status fit_rows(struct rvp_layer *layer, unsigned number, uint64_t wanted)
{
	char text[RVP_SHAPE_TEXT_BYTES];

	if (!wanted)
		return misfit(layer, number, "its sizes must be 1 and more");
	if (rvp_shape_last(&layer->in) != wanted)
		return misfit(layer, number,
			      "its input is %s: rows of %" PRIu64 " values, and it takes %" PRIu64,
			      rvp_shape_text(&layer->in, text), rvp_shape_last(&layer->in), wanted);
	return RVP_OK;
}

static struct rvp_status fit_channels(struct rvp_layer *layer, unsigned number, uint64_t wanted)
{
	char text[RVP_SHAPE_TEXT_BYTES];

	if (layer->in.size[1] != wanted)
		return misfit(layer, number, "its input %s has %" PRIu64 " channels, and it takes %" PRIu64,
			      rvp_shape_text(&layer->in, text), layer->in.size[1], wanted);
	return RVP_OK;
}

static struct rvp_status fit_linear(struct rvp_layer *layer, unsigned number)
{
	uint64_t out = layer->arguments[RVP_ARG_OUT].first;

	if (!out)
		return misfit(layer, number, "its sizes must be 1 and more");
	layer->out.size[layer->out.count - 1] = out;
	return fit_rows(layer, number, layer->arguments[RVP_ARG_IN].first);
}

/* How many windows lie in `size` values; 0: none. */
static uint64_t windows(uint64_t size, uint64_t k, uint64_t stride, uint64_t pad, uint64_t dilation)
{
	uint64_t reach = dilation * (k - 1) + 1;

	return size + 2 * pad < reach ? 0 : (size + 2 * pad - reach) / stride + 1;
}

static struct rvp_status fit_windows(struct rvp_layer *layer, unsigned number, struct rvp_argument k,
				     struct rvp_argument stride, struct rvp_argument pad,
				     struct rvp_argument dilation)
{
	uint64_t *size = layer->out.size;
	char text[RVP_SHAPE_TEXT_BYTES];

	if (!k.first || !k.second || !stride.first || !stride.second || !dilation.first || !dilation.second)
		return misfit(layer, number, "kernel, stride and dilation must be 1 and more");
	size[2] = windows(layer->in.size[2], k.first, stride.first, pad.first, dilation.first);
	size[3] = windows(layer->in.size[3], k.second, stride.second, pad.second, dilation.second);
	if (!size[2] || !size[3])
		return misfit(layer, number, "its kernel is larger than its padded input %s",
			      rvp_shape_text(&layer->in, text));
	return RVP_OK;
}

static struct rvp_status fit_conv2d(struct rvp_layer *layer, unsigned number)
{
	const struct rvp_argument *arguments = layer->arguments;
	uint64_t groups = arguments[RVP_ARG_GROUPS].first;
	struct rvp_status status = fit_channels(layer, number, arguments[RVP_ARG_IN].first);

	if (rvp_failed(status))
		return status;
	if (!groups || !arguments[RVP_ARG_OUT].first || arguments[RVP_ARG_IN].first % groups ||
	    arguments[RVP_ARG_OUT].first % groups)
		return misfit(layer, number, "%" PRIu64 " groups don't divide its channels", groups);
	layer->out.size[1] = arguments[RVP_ARG_OUT].first;
	return fit_windows(layer, number, arguments[RVP_ARG_K], arguments[RVP_ARG_STRIDE],
			   arguments[RVP_ARG_PAD], arguments[RVP_ARG_DILATION]);
}

static struct rvp_status fit_pool(struct rvp_layer *layer, unsigned number)
{
	struct rvp_argument *k = &layer->arguments[RVP_ARG_POOL_K],
			    *stride = &layer->arguments[RVP_ARG_POOL_STRIDE];
	struct rvp_argument pad = layer->arguments[RVP_ARG_POOL_PAD];

	if (!stride->first && !stride->second)
		*stride = *k;
	if (pad.first > k->first / 2 || pad.second > k->second / 2)
		return misfit(layer, number, "its padding is more than half of its kernel");
	return fit_windows(layer, number, *k, *stride, pad, (struct rvp_argument){1, 1});
}

static struct rvp_status fit_attention(struct rvp_layer *layer, unsigned number, unsigned kv_heads_at)
{
	uint64_t features = layer->arguments[RVP_ARG_FEATURES].first,
		 heads = layer->arguments[RVP_ARG_HEADS].first;
	struct rvp_argument *kv_heads = &layer->arguments[kv_heads_at];

	if (!kv_heads->first)
		*kv_heads = (struct rvp_argument){heads, heads};
	if (!heads || features % heads)
		return misfit(layer, number, "%" PRIu64 " heads don't divide %" PRIu64 " features", heads,
			      features);
	if (heads % kv_heads->first)
		return misfit(layer, number, "%" PRIu64 " KV heads don't divide %" PRIu64 " heads",
			      kv_heads->first, heads);
	return fit_rows(layer, number, features);
}

static struct rvp_status fit_block(struct rvp_layer *layer, unsigned number)
{
	struct rvp_argument *hidden = &layer->arguments[RVP_ARG_HIDDEN];

	if (!hidden->first)
		hidden->first = hidden->second = 4 * layer->arguments[RVP_ARG_FEATURES].first;
	return fit_attention(layer, number, RVP_ARG_BLOCK_KV_HEADS);
}

static void fold(struct rvp_shape *shape, uint64_t rest)
{
	shape->count = 2;
	shape->size[1] = rest;
}

static struct rvp_status fit_kind(struct rvp_layer *layer, unsigned number)
{
	switch (layer->kind) {
	case RVP_LAYER_LINEAR: return fit_linear(layer, number);
	case RVP_LAYER_CONV2D: return fit_conv2d(layer, number);
	case RVP_LAYER_ATTENTION: return fit_attention(layer, number, RVP_ARG_KV_HEADS);
	case RVP_LAYER_BLOCK: return fit_block(layer, number);
	case RVP_LAYER_MAXPOOL2D:
	case RVP_LAYER_AVGPOOL2D: return fit_pool(layer, number);
	case RVP_LAYER_BATCHNORM2D: return fit_channels(layer, number, layer->arguments[0].first);
	case RVP_LAYER_LAYERNORM:
	case RVP_LAYER_RMSNORM: return fit_rows(layer, number, layer->arguments[0].first);
	case RVP_LAYER_EMBEDDING:
		if (!layer->arguments[0].first || !layer->arguments[1].first)
			return misfit(layer, number, "its sizes must be 1 and more");
		layer->out.size[layer->out.count++] = layer->arguments[1].first;
		return RVP_OK;
	case RVP_LAYER_GLOBALPOOL: fold(&layer->out, layer->in.size[1]); return RVP_OK;
	case RVP_LAYER_FLATTEN: fold(&layer->out, rvp_shape_sample_values(&layer->in)); return RVP_OK;
	case RVP_LAYER_SUM: fold(&layer->out, 1); return RVP_OK;
	default: return RVP_OK;
	}
}

struct rvp_status rvp_layer_fit(struct rvp_layer *layer, unsigned number, const struct rvp_shape *in)
{
	static const char *const shapes[] = {[2] = "batch x tokens",
					     [3] = "batch x tokens x features",
					     [4] = "batch x channels x height x width"};
	unsigned takes = rvp_layer_facts[layer->kind].takes;
	char text[RVP_SHAPE_TEXT_BYTES];
	struct rvp_status status;

	layer->in = layer->out = *in;
	if (takes && in->count != takes)
		return misfit(layer, number, "its input is %s, and it takes %s", rvp_shape_text(in, text),
			      shapes[takes]);
	status = fit_kind(layer, number);
	if (rvp_failed(status))
		return status;
	if (rvp_shape_values(&layer->out) > INT64_MAX || !rvp_layer_count(layer))
		return misfit(layer, number, "it has more values or operations than 64 bits can count");
	return RVP_OK;
}
