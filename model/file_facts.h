/* SPDX-License-Identifier: MIT */
/* file_facts.h: what a model file's header comes to: parameters, bytes by type, what a token costs.
 *
 *   - A file that is one of several ("x-00001-of-00003.gguf") stands for all of them; one that is missing is
 * a failure.
 *   - A GGUF says its shape itself; beside a safetensors its config.json does. What is not said is 0, and
 * what depends on it is not told.
 *   - product_values: values of the matrices that each token is multiplied with. Not in it: tables that rows
 * are taken from (tokens, positions), norms, biases. A table of tokens that serves as output too (no other
 * one is there) is in it. Of experts only the share that a token uses.
 */
#ifndef RVP_MODEL_FILE_FACTS_H
#define RVP_MODEL_FILE_FACTS_H

#include "model/number_type.h"
#include "report/model_file.h"

enum { RVP_TYPES_MAX = 48, RVP_TYPE_NAME_BYTES = 16 };

struct rvp_type_sum {
	char type[RVP_TYPE_NAME_BYTES];
	uint64_t tensor_count, values, bytes;
};

struct rvp_model_facts {
	enum rvp_model_kind kind;
	char architecture[64], role[16];
	unsigned file_count;
	uint64_t tensor_count, parameters, bytes;
	uint64_t buffer_values; /* masks and the like: no parameters */
	struct rvp_type_sum types[RVP_TYPES_MAX];
	unsigned type_count;
	uint64_t table_values, dense_values,
	    expert_values; /* of the token table, other products, experts' products */
	uint64_t product_values;
	bool has_output, is_output_tied;
	struct rvp_model_shape shape;
	bool has_config; /* config.json was there */
	bool says_tied, says_untied;
};

struct rvp_status rvp_model_facts_read(const char *path, struct rvp_model_facts *facts);

/* One header more. Fails where a tensor's shape and bytes do not agree. */
struct rvp_status rvp_model_facts_add(struct rvp_model_facts *facts, const char *path,
				      const struct rvp_model *model);

/* When all headers are in: what a token uses. */
void rvp_model_facts_settle(struct rvp_model_facts *facts);

struct rvp_token_cost {
	uint64_t product_flops;    /* of a token: 2 product_values */
	uint64_t attention_flops;  /* of one more token at the end of the context; 0: not known */
	uint64_t decode_flops;     /* both */
	uint64_t prefill_flops;    /* of a prompt as long as the context: each token sees those before it and
				      itself */
	uint64_t kv_bytes_a_token; /* 0: not known */
};

struct rvp_status rvp_token_cost_of(const struct rvp_model_facts *facts, uint64_t context,
				    struct rvp_number_type kv_type, struct rvp_token_cost *cost);

#endif
