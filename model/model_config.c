/* SPDX-License-Identifier: MIT */
/* model_config.c: see model_config.h. */
#include "model/model_config.h"

#include "model/exact.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first of the names that is a whole number from 1; 0: none is. */
static uint64_t number(const json_t *config, const char *const *names)
{
	for (; *names; names++) {
		const json_t *value = json_object_get(config, *names);

		if (json_is_integer(value) && json_integer_value(value) > 0)
			return (uint64_t)json_integer_value(value);
	}
	return 0;
}
#define NUMBER(config, ...) number(config, (const char *const[]){__VA_ARGS__, NULL})

static void take_shape(struct rvp_model_shape *shape, const json_t *config)
{
	uint64_t kv_heads, head;

	shape->block_count = NUMBER(config, "num_hidden_layers", "n_layer", "num_layers");
	shape->embedding_length = NUMBER(config, "hidden_size", "n_embd", "d_model");
	shape->context_length = NUMBER(config, "max_position_embeddings", "n_positions", "n_ctx");
	shape->head_count = NUMBER(config, "num_attention_heads", "n_head", "num_heads");
	shape->expert_count = NUMBER(config, "num_local_experts", "num_experts", "n_routed_experts");
	shape->experts_used = NUMBER(config, "num_experts_per_tok");
	shape->sliding_window = NUMBER(config, "sliding_window");
	kv_heads = NUMBER(config, "num_key_value_heads");
	shape->kv_heads = rvp_times(kv_heads ? kv_heads : shape->head_count, shape->block_count);
	head = NUMBER(config, "head_dim");
	if (!head && shape->head_count)
		head = shape->embedding_length / shape->head_count;
	shape->key_length = shape->value_length = head;
}

static void take(struct rvp_model_facts *facts, const json_t *config)
{
	const json_t *text = json_object_get(config, "text_config"), *tied;
	const char *type = json_string_value(json_object_get(config, "model_type"));

	/* A model that sees pictures too has its language part inside. */
	take_shape(&facts->shape, json_is_object(text) ? text : config);
	tied = json_object_get(config, "tie_word_embeddings");
	facts->says_untied = json_is_false(tied);
	facts->says_tied = json_is_true(tied);
	if (type)
		snprintf(facts->architecture, sizeof facts->architecture, "%s", type);
	facts->has_config = true;
}

static void path_beside(const char *model_path, char path[PATH_MAX])
{
	const char *slash = strrchr(model_path, '/');

	snprintf(path, PATH_MAX, "%.*sconfig.json", slash ? (int)(slash - model_path) + 1 : 0, model_path);
}

struct rvp_status rvp_model_config_read(const char *model_path, struct rvp_model_facts *facts)
{
	struct rvp_status status = RVP_OK;
	char path[PATH_MAX];
	json_error_t error;
	json_t *config;

	path_beside(model_path, path);
	if (access(path, F_OK) != 0)
		return RVP_OK;
	config = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(config))
		status = rvp_fail_with("read", path, config ? "it is no JSON object" : "line %d: %s",
				       error.line, error.text);
	else
		take(facts, config);
	json_decref(config);
	return status;
}
