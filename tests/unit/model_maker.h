/* SPDX-License-Identifier: MIT */
/* model_maker.h: model files with known contents, in memory: GGUF of any version, safetensors. Needs libc
 * alone. */
#ifndef RVP_TESTS_MODEL_MAKER_H
#define RVP_TESTS_MODEL_MAKER_H

#include <stddef.h>
#include <stdint.h>

struct model_bytes {
	unsigned char *bytes;
	size_t length, room;
	size_t data_begin; /* where the first tensor lies */
	size_t tensor_bytes;
};

struct gguf_wish {
	uint32_t version;
	const char *architecture; /* NULL: llama */
	const char *type;         /* general.type; NULL: none */
	uint32_t tensor_count, tensor_type;
	uint64_t tensor_values;
	uint64_t tensor_bytes; /* what that many values of the type are */
	int has_kv_list;       /* head_count_kv as a list: 1, 2, 3, .. */
};

void make_gguf(struct model_bytes *model, struct gguf_wish wish);
void make_safetensors(struct model_bytes *model, unsigned tensor_count, size_t tensor_bytes);

/* A whole llama: matrices of one type, norms in float32, zeros for data. Of `block` values in `block_bytes`.
 */
struct llama_wish {
	uint32_t blocks, width, heads, kv_heads, hidden, vocabulary;
	uint32_t type, block, block_bytes;
	uint32_t experts, experts_used; /* 0: none */
	int has_no_output;              /* the token table serves */
};

void make_llama(struct model_bytes *model, struct llama_wish wish);

/* A safetensors of tensors as `header` lists them (its object), `data_bytes` of zeros behind. */
void make_safetensors_of(struct model_bytes *model, const char *header, size_t data_bytes);

/* 8 blocks, 16 heads, 4 KV heads, embedding 512, context 2048 are what a made GGUF says. */
enum { MADE_BLOCKS = 8, MADE_HEADS = 16, MADE_KV_HEADS = 4, MADE_EMBEDDING = 512, MADE_CONTEXT = 2048 };

void model_bytes_free(struct model_bytes *model);

#endif
