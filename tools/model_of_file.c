/* SPDX-License-Identifier: MIT */
/* model_of_file.c: `rvprof model FILE`: what a model file's header comes to, and what a token and a run of it
 * cost. */
#include "tools/model.h"

#include "model/exact.h"
#include "model/file_facts.h"
#include "model/roofline.h"
#include "model/weights.h"
#include "report/text_numbers.h"
#include "tools/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void tell_types(struct rvp_figures *figures, const struct rvp_model_facts *facts)
{
	struct rvp_json *json = &figures->json;
	char values[RVP_NUMBER_TEXT_BYTES], bytes[RVP_NUMBER_TEXT_BYTES];

	if (figures->is_json)
		rvp_json_open(json, "types", '[');
	else
		printf("\n%-10s %8s %18s %18s\n", "type", "tensors", "values", "bytes");
	for (unsigned i = 0; i < facts->type_count; i++) {
		const struct rvp_type_sum *sum = &facts->types[i];

		if (!figures->is_json) {
			printf("%-10s %8" PRIu64 " %18s %18s\n", sum->type, sum->tensor_count,
			       rvp_text_count(sum->values, values), rvp_text_count(sum->bytes, bytes));
			continue;
		}
		rvp_json_open(json, NULL, '{');
		rvp_json_string(json, "type", sum->type);
		rvp_json_number(json, "tensors", sum->tensor_count);
		rvp_json_number(json, "values", sum->values);
		rvp_json_number(json, "bytes", sum->bytes);
		rvp_json_close(json, '}');
	}
	if (figures->is_json)
		rvp_json_close(json, ']');
}

static void tell_known(struct rvp_figures *figures, const char *key, uint64_t value)
{
	if (value)
		rvp_figure_whole(figures, key, value);
}

static void tell_facts(struct rvp_figures *figures, const char *path, const struct rvp_model_facts *facts)
{
	const struct rvp_model_shape *shape = &facts->shape;

	rvp_figures_group(figures, "model", path);
	rvp_figure_text(figures, "format", rvp_model_kind_names[facts->kind]);
	if (facts->architecture[0])
		rvp_figure_text(figures, "architecture", facts->architecture);
	if (facts->role[0])
		rvp_figure_text(figures, "role", facts->role);
	if (facts->file_count > 1)
		rvp_figure_whole(figures, "files", facts->file_count);
	rvp_figure_whole(figures, "tensors", facts->tensor_count);
	rvp_figure_whole(figures, "parameters", facts->parameters);
	tell_known(figures, "buffer_values", facts->buffer_values);
	rvp_figure_bytes(figures, "weights_bytes", facts->bytes);
	tell_known(figures, "blocks", shape->block_count);
	tell_known(figures, "embedding_length", shape->embedding_length);
	tell_known(figures, "heads", shape->head_count);
	tell_known(figures, "kv_heads_of_all_blocks", shape->kv_heads);
	tell_known(figures, "experts", shape->expert_count);
	tell_known(figures, "experts_used", shape->experts_used);
	tell_known(figures, "context_length", shape->context_length);
	rvp_figures_end(figures);
	tell_types(figures, facts);
}

static bool is_attention_known(const struct rvp_model_facts *facts)
{
	return facts->shape.head_count && facts->shape.block_count && facts->shape.key_length;
}

static void tell_token(struct rvp_figures *figures, const struct rvp_model_facts *facts,
		       const struct rvp_token_cost *cost, uint64_t context)
{
	if (facts->role[0])
		return;
	rvp_figures_group(figures, "token", "what a token costs");
	rvp_figure_whole(figures, "product_values", facts->product_values);
	rvp_figure_whole(figures, "product_flops", cost->product_flops);
	if (is_attention_known(facts)) {
		rvp_figure_whole(figures, "context", context);
		rvp_figure_whole(figures, "attention_flops", cost->attention_flops);
		rvp_figure_whole(figures, "decode_flops", cost->decode_flops);
		rvp_figure_whole(figures, "prefill_flops", cost->prefill_flops);
		rvp_figure_double(figures, "prefill_flops_a_token",
				  (double)cost->prefill_flops / (double)context);
	}
	tell_known(figures, "kv_bytes_a_token", cost->kv_bytes_a_token);
	rvp_figure_text(figures, "formula",
			is_attention_known(facts)
			    ? "decode: 2 product_values + 2 blocks heads (key + value length) context; "
			      "prefill: each token of the "
			      "context with those before it"
			    : "2 product_values; attention is not in it: the heads are not said");
	if (facts->is_output_tied)
		rvp_figure_text(figures, "output", "none of its own: the table of tokens is taken for it");
	if (facts->shape.sliding_window)
		rvp_figure_text(figures, "sliding_window",
				"said, and not taken into account: attention and KV are upper bounds");
	rvp_figures_end(figures);
}

struct memory {
	uint64_t weights_bytes, kv_bytes, total_bytes;
	struct rvp_training training;
};

/* Of a type that was asked for; else as the file has it. */
static struct rvp_status plan_memory(const struct rvp_model_wish *wish, const struct rvp_model_facts *facts,
				     const struct rvp_token_cost *cost, uint64_t context,
				     struct memory *memory)
{
	struct rvp_status status = RVP_OK;

	*memory = (struct memory){
	    .weights_bytes =
		wish->has_type ? rvp_bytes_of_values(wish->type, facts->parameters) : facts->bytes,
	    .kv_bytes = rvp_times(rvp_times(cost->kv_bytes_a_token, context), wish->batch)};
	if (wish->has_optimizer)
		status = rvp_training_of(facts->parameters, wish->type, wish->optimizer, &memory->training);
	memory->total_bytes =
	    rvp_plus(memory->weights_bytes, wish->has_optimizer ? rvp_plus(memory->training.gradient_bytes,
									   memory->training.optimizer_bytes)
								: memory->kv_bytes);
	if (!rvp_failed(status) && memory->total_bytes == UINT64_MAX)
		status = rvp_fail_with("count", "the memory of it", "it is more than 64 bits can count");
	return status;
}

static void tell_memory(struct rvp_figures *figures, const struct rvp_model_wish *wish,
			const struct memory *memory, uint64_t context)
{
	rvp_figures_group(figures, "memory",
			  wish->has_optimizer ? "memory of training, without activations"
					      : "memory, without compute buffers");
	rvp_figure_text(figures, "dtype", wish->has_type ? wish->type.name : "as in the file");
	rvp_figure_bytes(figures, "weights_bytes", memory->weights_bytes);
	if (wish->has_optimizer) {
		rvp_figure_text(figures, "optimizer", wish->optimizer.name);
		rvp_figure_bytes(figures, "gradient_bytes", memory->training.gradient_bytes);
		rvp_figure_bytes(figures, "optimizer_bytes", memory->training.optimizer_bytes);
	} else if (memory->kv_bytes) {
		rvp_figure_whole(figures, "context", context);
		rvp_figure_whole(figures, "batch", wish->batch);
		rvp_figure_text(figures, "kv_type", wish->kv_type.name);
		rvp_figure_bytes(figures, "kv_cache_bytes", memory->kv_bytes);
	}
	rvp_figure_bytes(figures, "total_bytes", memory->total_bytes);
	rvp_figures_end(figures);
}

/* What was asked for, else what the model was made for, else one token. */
static uint64_t context_of(const struct rvp_model_wish *wish, const struct rvp_model_facts *facts)
{
	if (wish->has_context)
		return wish->context;
	return facts->shape.context_length ? facts->shape.context_length : 1;
}

static bool is_whole_rows(struct rvp_number_type type, const struct rvp_model_shape *shape)
{
	return shape->kv_heads * shape->key_length % type.values == 0 &&
	       shape->kv_heads * shape->value_length % type.values == 0;
}

/* A single sequence: each weight that a token is multiplied with is read once, and the whole cache. */
static void tell_limits(struct rvp_figures *figures, const struct rvp_model_wish *wish,
			const struct rvp_model_facts *facts, const struct rvp_token_cost *cost,
			const struct memory *memory, uint64_t context)
{
	double bytes =
	    (double)memory->weights_bytes * (double)facts->product_values / (double)facts->parameters +
	    (double)cost->kv_bytes_a_token * (double)context;
	struct rvp_machine machine;
	struct rvp_roof roof;

	if (facts->role[0] || !facts->product_values || !is_attention_known(facts) ||
	    !rvp_model_machine(wish, &machine))
		return;
	roof = rvp_roof_of(&machine, (double)cost->decode_flops, bytes, NAN);
	rvp_figures_group(figures, "decode_limits", "a decoded token under the machine's limits");
	rvp_figure_text(figures, "machine", machine.processor);
	rvp_figure_double(figures, "decode_bytes", round(bytes));
	rvp_figure_double(figures, "intensity_flops_per_byte", roof.intensity);
	rvp_figure_text(figures, "bound", roof.is_memory_bound ? "memory" : "compute");
	rvp_figure_double(figures, "least_ms_a_token", roof.least_ms);
	rvp_figure_double(figures, "most_tokens_per_second", 1000 / roof.least_ms);
	rvp_figures_end(figures);
}

static struct rvp_status check(struct rvp_model_wish *wish, const struct rvp_model_facts *facts,
			       uint64_t context)
{
	if (!context || !wish->batch)
		return rvp_fail_with("use", context ? "--batch" : "--context", "it is 1 and more");
	if (!is_whole_rows(wish->kv_type, &facts->shape))
		return rvp_fail_with("keep keys and values as", wish->kv_type.name,
				     "a token's do not fill its blocks of %u", wish->kv_type.values);
	if (wish->has_optimizer && !wish->has_type)
		return rvp_fail_with("count", "what the optimizer keeps",
				     "say the type of parameters and gradients: --dtype f32");
	return RVP_OK;
}

struct rvp_status rvp_model_of_file(struct rvp_model_wish *wish)
{
	struct rvp_model_facts facts;
	struct rvp_token_cost cost;
	struct rvp_figures figures;
	struct memory memory;
	uint64_t context = 0;
	struct rvp_status status = rvp_model_facts_read(wish->of, &facts);

	if (!rvp_failed(status)) {
		context = context_of(wish, &facts);
		status = check(wish, &facts, context);
	}
	if (!rvp_failed(status))
		status = rvp_token_cost_of(&facts, context, wish->kv_type, &cost);
	if (!rvp_failed(status))
		status = plan_memory(wish, &facts, &cost, context, &memory);
	if (rvp_failed(status))
		return status;
	rvp_figures_open(&figures, wish->is_json, "rvprof.model/1");
	tell_facts(&figures, wish->of, &facts);
	tell_token(&figures, &facts, &cost, context);
	tell_memory(&figures, wish, &memory, context);
	tell_limits(&figures, wish, &facts, &cost, &memory, context);
	rvp_figures_close(&figures);
	return RVP_OK;
}

/* The names are those of TinyTorch's analysis of weights. */
struct rvp_status rvp_model_weights(struct rvp_model_wish *wish)
{
	static const char *const percentiles[] = {"percentile_10", "percentile_25", "percentile_50",
						  "percentile_75", "percentile_90"};
	static const char *const below[] = {"below_threshold_0001", "below_threshold_001",
					    "below_threshold_01"};
	struct rvp_weights weights;
	struct rvp_figures figures;
	struct rvp_status status = rvp_weights_of_file(wish->of, &weights);

	if (rvp_failed(status))
		return status;
	rvp_figures_open(&figures, wish->is_json, "rvprof.model/1");
	rvp_figures_group(&figures, "weights", "absolute values of its weights");
	rvp_figure_whole(&figures, "total_weights", weights.count);
	tell_known(&figures, "tensors_left_out", weights.tensors_left_out);
	tell_known(&figures, "not_finite", weights.not_finite);
	rvp_figure_double(&figures, "mean", weights.mean);
	rvp_figure_double(&figures, "std", weights.std);
	rvp_figure_double(&figures, "min", weights.min);
	rvp_figure_double(&figures, "max", weights.max);
	for (int i = 0; i < RVP_WEIGHT_PERCENTILES; i++)
		rvp_figure_double(&figures, percentiles[i], weights.percentile[i]);
	for (int i = 0; i < RVP_WEIGHT_THRESHOLDS; i++)
		rvp_figure_double(&figures, below[i], weights.below_percent[i]);
	rvp_figures_end(&figures);
	rvp_figures_close(&figures);
	return RVP_OK;
}
