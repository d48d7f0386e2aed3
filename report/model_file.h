/* SPDX-License-Identifier: MIT */
/* model_file.h: whether a file holds a model's weights, and what its header says of them.
 *
 * Known by their first bytes: GGUF v1 to v3 and safetensors (headers are read: tensors with name, place and
 * size), archives of torch.save, ggml's files before GGUF, TFLite. Of these latter only the kind is told: a
 * pickle is a program and is not run here. ONNX has no magic: its name must say it, too.
 *
 * A header that is cut, hostile or of a version that is not known: the file is of its kind, `flaw` says in
 * one line what is wrong, and what was read before stays. Memory is bounded by the file's own size.
 */
#ifndef RVP_REPORT_MODEL_FILE_H
#define RVP_REPORT_MODEL_FILE_H

#include "report/arena.h"
#include "report/model_cursor.h"

enum rvp_model_kind {
	RVP_MODEL_NONE,
	RVP_MODEL_GGUF,
	RVP_MODEL_SAFETENSORS,
	RVP_MODEL_TORCH,
	RVP_MODEL_GGML,
	RVP_MODEL_TFLITE,
	RVP_MODEL_ONNX,
	RVP_MODEL_KIND_COUNT
};
extern const char *const rvp_model_kind_names[RVP_MODEL_KIND_COUNT];

struct rvp_model_tensor {
	const char *name;
	uint64_t offset, bytes; /* in the file */
	uint64_t values;
	unsigned dimensions;
	const char *type; /* by tensor_types.def; NULL: not known */
};

/* What the arithmetic of a KV cache needs; 0: not said. */
struct rvp_model_shape {
	uint64_t block_count, embedding_length, context_length, head_count;
	uint64_t kv_heads; /* of all blocks together */
	uint64_t expert_count, experts_used;
	uint64_t sliding_window;           /* tokens that a block of a kind looks back */
	uint64_t key_length, value_length; /* of a head */
};

enum { RVP_MODEL_TENSORS_MAX = 1 << 20 };

struct rvp_model {
	enum rvp_model_kind kind;
	char architecture[64]; /* "" when not said */
	char role[16];         /* "projector", "adapter"; "" of the model itself */
	struct rvp_model_shape shape;
	struct rvp_model_tensor *tensors; /* in the header's order */
	size_t tensor_count, tensor_room;
	uint64_t tensor_bytes; /* of all */
	bool has_header;       /* tensors and their bytes are known, all of them */
	char flaw[160];        /* "" if there is nothing to say */
	struct rvp_arena texts;
};

/* `name`: the file's, for what its bytes do not say; may be "". False only without memory; kind NONE: not a
 * model file. */
bool rvp_model_read(struct rvp_model *model, struct rvp_cursor *cursor, const char *name);

/* By the name alone, for a file that is gone. */
enum rvp_model_kind rvp_model_kind_by_name(const char *name);

void rvp_model_free(struct rvp_model *model);

/* For the readers of headers. */
bool rvp_model_add(struct rvp_model *model, const char *name, size_t length, struct rvp_model_tensor tensor);
void rvp_model_flaw(struct rvp_model *model, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool rvp_model_read_gguf(struct rvp_model *model, struct rvp_cursor *cursor);
bool rvp_model_read_safetensors(struct rvp_model *model, struct rvp_cursor *cursor);

#endif
