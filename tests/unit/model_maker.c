/* SPDX-License-Identifier: MIT */
/* model_maker.c: see model_maker.h. Tensors hold float numbers of both signs. */
#include "tests/unit/model_maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put(struct model_bytes *model, const void *bytes, size_t length)
{
	if (model->length + length > model->room) {
		model->room = (model->length + length) * 2 + 4096;
		model->bytes = realloc(model->bytes, model->room);
		if (!model->bytes)
			abort();
	}
	memcpy(model->bytes + model->length, bytes, length);
	model->length += length;
}

static void put_u32(struct model_bytes *model, uint32_t value)
{
	put(model, &value, sizeof value);
}

static void put_length(struct model_bytes *model, uint32_t version, uint64_t value)
{
	put(model, &value, version == 1 ? 4 : 8);
}

static void put_text(struct model_bytes *model, uint32_t version, const char *text)
{
	put_length(model, version, strlen(text));
	put(model, text, strlen(text));
}

static void put_number(struct model_bytes *model, uint32_t version, const char *key, uint32_t value)
{
	put_text(model, version, key);
	put_u32(model, 4);
	put_u32(model, value);
}

static void put_words(struct model_bytes *model, uint32_t version, const char *key, const char *value)
{
	put_text(model, version, key);
	put_u32(model, 8);
	put_text(model, version, value);
}

/* A vocabulary: texts, scores. */
static void put_lists(struct model_bytes *model, uint32_t version)
{
	put_text(model, version, "tokenizer.ggml.tokens");
	put_u32(model, 9);
	put_u32(model, 8);
	put_length(model, version, 3);
	put_text(model, version, "a");
	put_text(model, version, "");
	put_text(model, version, "longer than the others");
	put_text(model, version, "tokenizer.ggml.scores");
	put_u32(model, 9);
	put_u32(model, 6);
	put_length(model, version, 2);
	put(model, "\0\0\0\0\0\0\200\277", 8);
}

static void put_kv_heads(struct model_bytes *model, uint32_t version, const char *key, int is_list)
{
	if (!is_list) {
		put_number(model, version, key, MADE_KV_HEADS);
		return;
	}
	put_text(model, version, key);
	put_u32(model, 9);
	put_u32(model, 5);
	put_length(model, version, MADE_BLOCKS);
	for (uint32_t i = 0; i < MADE_BLOCKS; i++)
		put_u32(model, i + 1);
}

static const char *key_of(const char *architecture, const char *key)
{
	static char text[128];

	snprintf(text, sizeof text, "%s.%s", architecture, key);
	return text;
}

static void put_padding(struct model_bytes *model, size_t alignment)
{
	while (model->length % alignment)
		put(model, "", 1);
}

static void put_data(struct model_bytes *model, size_t bytes)
{
	for (size_t i = 0; i < bytes / 4; i++) {
		float value = (float)((i * 2654435761u >> 7) % 2001) * 0.001f - 1;

		put(model, &value, 4);
	}
	for (size_t i = 0; i < bytes % 4; i++)
		put(model, "\1", 1);
}

static void put_pairs(struct model_bytes *model, const struct gguf_wish *wish)
{
	const char *name = wish->architecture ? wish->architecture : "llama";
	uint32_t version = wish->version;

	put_words(model, version, "general.architecture", name);
	put_words(model, version, "general.type", wish->type ? wish->type : "model");
	put_lists(model, version);
	put_number(model, version, key_of(name, "block_count"), MADE_BLOCKS);
	put_number(model, version, key_of(name, "embedding_length"), MADE_EMBEDDING);
	put_number(model, version, key_of(name, "context_length"), MADE_CONTEXT);
	put_number(model, version, key_of(name, "attention.head_count"), MADE_HEADS);
	put_kv_heads(model, version, key_of(name, "attention.head_count_kv"), wish->has_kv_list);
}

void make_gguf(struct model_bytes *model, struct gguf_wish wish)
{
	uint64_t step = (wish.tensor_bytes + 31) / 32 * 32;

	memset(model, 0, sizeof *model);
	put(model, "GGUF", 4);
	put_u32(model, wish.version);
	put_length(model, wish.version, wish.tensor_count);
	put_length(model, wish.version, 9);
	put_pairs(model, &wish);
	for (uint32_t i = 0; i < wish.tensor_count; i++) {
		char name[32];
		uint64_t offset = i * step;

		snprintf(name, sizeof name, "blk.%u.attn_q.weight", i);
		put_text(model, wish.version, name);
		put_u32(model, 2);
		put_length(model, wish.version, wish.tensor_values / 2);
		put_length(model, wish.version, 2);
		put_u32(model, wish.tensor_type);
		put(model, &offset, 8);
	}
	put_padding(model, 32);
	model->data_begin = model->length;
	for (uint32_t i = 0; i < wish.tensor_count; i++) {
		put_data(model, wish.tensor_bytes);
		if (i + 1 < wish.tensor_count)
			put_padding(model, 32);
	}
	model->tensor_bytes = wish.tensor_count * wish.tensor_bytes;
}

/* ---- a whole llama ---- */

struct llama {
	struct model_bytes *model;
	struct llama_wish wish;
	uint64_t offset;
	uint32_t tensors;
};

static void put_llama_tensor(struct llama *llama, const char *name, uint32_t type, unsigned dimensions,
			     const uint64_t *sizes)
{
	uint64_t values = 1, bytes;

	put_text(llama->model, 3, name);
	put_u32(llama->model, dimensions);
	for (unsigned i = 0; i < dimensions; i++) {
		put_length(llama->model, 3, sizes[i]);
		values *= sizes[i];
	}
	put_u32(llama->model, type);
	put(llama->model, &llama->offset, 8);
	bytes = type == 0 ? values * 4 : values / llama->wish.block * llama->wish.block_bytes;
	llama->model->tensor_bytes += bytes;
	llama->offset += (bytes + 31) / 32 * 32;
	llama->tensors++;
}

static void put_matrix(struct llama *llama, const char *name, uint64_t in, uint64_t out)
{
	put_llama_tensor(llama, name, llama->wish.type, 2, (uint64_t[]){in, out});
}

static void put_of_block(struct llama *llama, uint32_t block, const char *part, uint64_t in, uint64_t out)
{
	char name[64];

	snprintf(name, sizeof name, "blk.%u.%s.weight", block, part);
	if (!out)
		put_llama_tensor(llama, name, 0, 1, &in);
	else if (llama->wish.experts && strncmp(part, "ffn", 3) == 0)
		put_llama_tensor(llama, name, llama->wish.type, 3,
				 (uint64_t[]){in, out, llama->wish.experts});
	else
		put_matrix(llama, name, in, out);
}

static void put_block(struct llama *llama, uint32_t block)
{
	const struct llama_wish *wish = &llama->wish;
	uint64_t kv = wish->width / wish->heads * wish->kv_heads;

	put_of_block(llama, block, "attn_norm", wish->width, 0);
	put_of_block(llama, block, "attn_q", wish->width, wish->width);
	put_of_block(llama, block, "attn_k", wish->width, kv);
	put_of_block(llama, block, "attn_v", wish->width, kv);
	put_of_block(llama, block, "attn_output", wish->width, wish->width);
	put_of_block(llama, block, "ffn_norm", wish->width, 0);
	put_of_block(llama, block, wish->experts ? "ffn_gate_exps" : "ffn_gate", wish->width, wish->hidden);
	put_of_block(llama, block, wish->experts ? "ffn_up_exps" : "ffn_up", wish->width, wish->hidden);
	put_of_block(llama, block, wish->experts ? "ffn_down_exps" : "ffn_down", wish->hidden, wish->width);
}

static void put_llama_pairs(struct model_bytes *model, const struct llama_wish *wish)
{
	put_words(model, 3, "general.architecture", "llama");
	put_number(model, 3, "llama.block_count", wish->blocks);
	put_number(model, 3, "llama.embedding_length", wish->width);
	put_number(model, 3, "llama.context_length", MADE_CONTEXT);
	put_number(model, 3, "llama.attention.head_count", wish->heads);
	put_number(model, 3, "llama.attention.head_count_kv", wish->kv_heads);
	put_number(model, 3, "llama.expert_count", wish->experts);
	put_number(model, 3, "llama.expert_used_count", wish->experts_used);
}

static void put_zeros(struct model_bytes *model, size_t bytes)
{
	static const char zeros[4096];

	for (; bytes > sizeof zeros; bytes -= sizeof zeros)
		put(model, zeros, sizeof zeros);
	put(model, zeros, bytes);
}

void make_llama(struct model_bytes *model, struct llama_wish wish)
{
	struct llama llama = {.model = model, .wish = wish};

	memset(model, 0, sizeof *model);
	put(model, "GGUF\3\0\0\0", 8);
	put_length(model, 3, 2 + !wish.has_no_output + 9ull * wish.blocks);
	put_length(model, 3, 8);
	put_llama_pairs(model, &wish);
	put_matrix(&llama, "token_embd.weight", wish.width, wish.vocabulary);
	for (uint32_t i = 0; i < wish.blocks; i++)
		put_block(&llama, i);
	put_llama_tensor(&llama, "output_norm.weight", 0, 1, (uint64_t[]){wish.width});
	if (!wish.has_no_output)
		put_matrix(&llama, "output.weight", wish.width, wish.vocabulary);
	put_padding(model, 32);
	model->data_begin = model->length;
	put_zeros(model, llama.offset);
}

void make_safetensors_of(struct model_bytes *model, const char *header, size_t data_bytes)
{
	uint64_t header_bytes = strlen(header);

	memset(model, 0, sizeof *model);
	put(model, &header_bytes, 8);
	put(model, header, header_bytes);
	model->data_begin = model->length;
	model->tensor_bytes = data_bytes;
	put_zeros(model, data_bytes);
}

void make_safetensors(struct model_bytes *model, unsigned tensor_count, size_t tensor_bytes)
{
	char *text = malloc(200 + tensor_count * 120);
	size_t length;
	uint64_t header_bytes;

	if (!text)
		abort();
	memset(model, 0, sizeof *model);
	length = (size_t)sprintf(text, "{\"__metadata__\":{\"format\":\"pt\",\"of\":\"[\\\"}\"}");
	for (unsigned i = 0; i < tensor_count; i++)
		length += (size_t)sprintf(
		    text + length,
		    ", \"layer.%u.weight\": {\"dtype\":\"F32\",\"shape\":[%zu],\"data_offsets\":[%zu,%zu]}",
		    i, tensor_bytes / 4, i * tensor_bytes, (i + 1) * tensor_bytes);
	length += (size_t)sprintf(text + length, "}  ");
	header_bytes = length;
	put(model, &header_bytes, 8);
	put(model, text, length);
	model->data_begin = model->length;
	model->tensor_bytes = tensor_count * tensor_bytes;
	put_data(model, model->tensor_bytes);
	free(text);
}

void model_bytes_free(struct model_bytes *model)
{
	free(model->bytes);
	memset(model, 0, sizeof *model);
}
