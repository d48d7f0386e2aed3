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
