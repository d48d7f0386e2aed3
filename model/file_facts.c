/* SPDX-License-Identifier: MIT */
/* file_facts.c: see file_facts.h. Names are those of llama.cpp's GGUFs and of Hugging Face's safetensors. */
#include "model/file_facts.h"

#include "model/exact.h"
#include "model/model_config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what a tensor is ---- */

static bool has_part(const char *name, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(name, *parts))
			return true;
	return false;
}

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), part = strlen(end);

	return length >= part && strcmp(name + length - part, end) == 0;
}

static bool is_token_table(const char *name)
{
	static const char *const parts[] = {"token_embd.",     "embed_tokens.", "wte.", "word_embeddings.",
					    "tok_embeddings.", "embed_in.",     NULL};

	return has_part(name, parts);
}

static bool is_other_table(const char *name)
{
	static const char *const parts[] = {
	    "position_embd.",         "token_types.",     "wpe.", "position_embeddings.",
	    "token_type_embeddings.", "embed_positions.", NULL};

	return has_part(name, parts);
}

static bool is_output(const char *name)
{
	return strcmp(name, "output.weight") == 0 || ends_with(name, "lm_head.weight") ||
	       ends_with(name, "embed_out.weight");
}

static bool is_expert(const char *name)
{
	static const char *const parts[] = {"_exps.", ".experts.", NULL};

	return has_part(name, parts);
}

/* Masks and tables of angles that frameworks keep beside the parameters. */
static bool is_buffer(const struct rvp_model_tensor *tensor)
{
	return (tensor->dimensions > 1 && ends_with(tensor->name, "attn.bias")) ||
	       ends_with(tensor->name, "masked_bias") || ends_with(tensor->name, "inv_freq") ||
	       ends_with(tensor->name, "rope_freqs.weight");
}

static void add_products(struct rvp_model_facts *facts, const struct rvp_model_tensor *tensor)
{
	if (tensor->dimensions < 2 || is_other_table(tensor->name) || ends_with(tensor->name, "bias"))
		return;
	if (is_token_table(tensor->name)) {
		facts->table_values = rvp_plus(facts->table_values, tensor->values);
		return;
	}
	facts->has_output |= is_output(tensor->name);
	if (is_expert(tensor->name))
		facts->expert_values = rvp_plus(facts->expert_values, tensor->values);
	else
		facts->dense_values = rvp_plus(facts->dense_values, tensor->values);
}

static bool add_type(struct rvp_model_facts *facts, const struct rvp_model_tensor *tensor)
{
	const char *type = tensor->type ? tensor->type : "unknown";
	unsigned i = 0;

	while (i < facts->type_count && strcmp(facts->types[i].type, type) != 0)
		i++;
	if (i == RVP_TYPES_MAX)
		return false;
	if (i == facts->type_count) {
		facts->types[facts->type_count++] = (struct rvp_type_sum){.tensor_count = 0};
		snprintf(facts->types[i].type, RVP_TYPE_NAME_BYTES, "%s", type);
	}
	facts->types[i].tensor_count++;
	facts->types[i].values = rvp_plus(facts->types[i].values, tensor->values);
	facts->types[i].bytes = rvp_plus(facts->types[i].bytes, tensor->bytes);
	return true;
}

/* Of a known type bytes follow from the shape. */
static bool agrees(const struct rvp_model_tensor *tensor)
{
	struct rvp_number_type type;

	return !tensor->type || rvp_failed(rvp_number_type_of(tensor->type, &type)) ||
	       rvp_bytes_of_values(type, tensor->values) == tensor->bytes;
}

static void take_shape(struct rvp_model_facts *facts, const struct rvp_model *model)
{
	/* Of several files the first has the keys. */
	if (!facts->shape.block_count)
		facts->shape = model->shape;
	if (!facts->architecture[0])
		memcpy(facts->architecture, model->architecture, sizeof facts->architecture);
	if (!facts->role[0])
		memcpy(facts->role, model->role, sizeof facts->role);
}

struct rvp_status rvp_model_facts_add(struct rvp_model_facts *facts, const char *path,
				      const struct rvp_model *model)
{
	if (model->flaw[0])
		return rvp_fail_with("read", path, "%s", model->flaw);
	facts->kind = model->kind;
	facts->file_count++;
	take_shape(facts, model);
	for (size_t i = 0; i < model->tensor_count; i++) {
		const struct rvp_model_tensor *tensor = &model->tensors[i];

		if (!agrees(tensor))
			return rvp_fail_with("read", path,
					     "tensor %zu has %" PRIu64
					     " bytes, and its shape and type another number",
					     i + 1, tensor->bytes);
		facts->tensor_count++;
		facts->bytes = rvp_plus(facts->bytes, tensor->bytes);
		if (!add_type(facts, tensor))
			return rvp_fail_with("read", path, "it has more than %d types", RVP_TYPES_MAX);
		if (is_buffer(tensor)) {
			facts->buffer_values = rvp_plus(facts->buffer_values, tensor->values);
			continue;
		}
		facts->parameters = rvp_plus(facts->parameters, tensor->values);
		add_products(facts, tensor);
	}
	if (facts->bytes == UINT64_MAX || facts->parameters == UINT64_MAX)
		return rvp_fail_with("read", path, "its tensors are more than 64 bits can count");
	return RVP_OK;
}

void rvp_model_facts_settle(struct rvp_model_facts *facts)
{
	const struct rvp_model_shape *shape = &facts->shape;
	uint64_t experts = facts->expert_values;

	if (shape->expert_count && shape->experts_used && shape->experts_used <= shape->expert_count)
		experts = rvp_times(experts / shape->expert_count, shape->experts_used);
	facts->is_output_tied = !facts->has_output && facts->table_values && !facts->says_untied;
	facts->product_values =
	    rvp_plus(rvp_plus(facts->dense_values, experts), facts->is_output_tied ? facts->table_values : 0);
}

/* ---- files ---- */

static struct rvp_status read_one(const char *path, struct rvp_model_facts *facts)
{
	static struct rvp_cursor cursor;
	struct rvp_model model;
	struct rvp_status status;
	struct stat about;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0 || fstat(file, &about) != 0) {
		status = rvp_fail("open", path, errno);
		if (file >= 0)
			close(file);
		return status;
	}
	rvp_cursor_over_file(&cursor, file, (uint64_t)about.st_size);
	if (!S_ISREG(about.st_mode))
		status = rvp_fail_with("read", path, "it is no file: name a .gguf or .safetensors");
	else if (!rvp_model_read(&model, &cursor, path))
		status = rvp_fail("read", path, ENOMEM);
	else {
		if (model.kind == RVP_MODEL_GGUF || model.kind == RVP_MODEL_SAFETENSORS)
			status = rvp_model_facts_add(facts, path, &model);
		else
			status = model.kind ? rvp_fail_with("read", path,
							    "it is a %s: only GGUF and safetensors say what is in them",
							    rvp_model_kind_names[model.kind])
					    : rvp_fail_with("read", path,
							    "it is no model file: GGUF and safetensors are read");
		rvp_model_free(&model);
	}
	close(file);
	return status;
}

/* "x-00002-of-00003.gguf": where its number stands; 0: none. */
static size_t place_of_number(const char *path, unsigned *count)
{
	static const char form[] = "-00001-of-00001";
	size_t form_bytes = sizeof form - 1, length = strlen(path);
	const char *dot = strrchr(path, '.');
	size_t at = dot ? (size_t)(dot - path) : length;

	if (at < form_bytes)
		return 0;
	at -= form_bytes;
	for (size_t i = 0; i < form_bytes; i++)
		if (form[i] >= '0' && form[i] <= '9' ? path[at + i] < '0' || path[at + i] > '9'
						     : path[at + i] != form[i])
			return 0;
	*count = (unsigned)strtoul(path + at + 10, NULL, 10);
	return *count ? at + 1 : 0;
}

static struct rvp_status read_all(const char *path, struct rvp_model_facts *facts)
{
	unsigned count = 1;
	size_t at = place_of_number(path, &count);
	struct rvp_status status = RVP_OK;
	char *name = strdup(path), digits[8];

	if (!name)
		return rvp_fail("read", path, ENOMEM);
	for (unsigned i = 1; i <= count && !rvp_failed(status); i++) {
		if (at) {
			snprintf(digits, sizeof digits, "%05u", i);
			memcpy(name + at, digits, 5);
		}
		status = read_one(name, facts);
	}
	free(name);
	return status;
}

struct rvp_status rvp_model_facts_read(const char *path, struct rvp_model_facts *facts)
{
	struct rvp_status status;

	*facts = (struct rvp_model_facts){.kind = RVP_MODEL_NONE};
	status = read_all(path, facts);
	if (!rvp_failed(status) && facts->kind == RVP_MODEL_SAFETENSORS)
		status = rvp_model_config_read(path, facts);
	if (!rvp_failed(status))
		rvp_model_facts_settle(facts);
	return status;
}

/* ---- a token ---- */

struct rvp_status rvp_token_cost_of(const struct rvp_model_facts *facts, uint64_t context,
				    struct rvp_number_type kv_type, struct rvp_token_cost *cost)
{
	const struct rvp_model_shape *shape = &facts->shape;
	uint64_t widths = rvp_plus(shape->key_length, shape->value_length);
	uint64_t each = rvp_times(2, rvp_times(rvp_times(shape->head_count, widths), shape->block_count));

	*cost = (struct rvp_token_cost){.product_flops = rvp_times(2, facts->product_values)};
	cost->attention_flops = rvp_times(each, context);
	cost->decode_flops = rvp_plus(cost->product_flops, cost->attention_flops);
	cost->prefill_flops =
	    rvp_plus(rvp_times(cost->product_flops, context),
		     each ? rvp_times(each, context % 2 ? rvp_times(context, (context + 1) / 2)
							: rvp_times(context / 2, context + 1))
			  : 0);
	cost->kv_bytes_a_token =
	    rvp_plus(rvp_bytes_of_values(kv_type, rvp_times(shape->kv_heads, shape->key_length)),
		     rvp_bytes_of_values(kv_type, rvp_times(shape->kv_heads, shape->value_length)));
	if (cost->prefill_flops == UINT64_MAX || cost->decode_flops == UINT64_MAX ||
	    cost->kv_bytes_a_token == UINT64_MAX)
		return rvp_fail_with("count", "what a token costs", "it is more than 64 bits can count");
	return RVP_OK;
}
