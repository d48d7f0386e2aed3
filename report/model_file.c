/* SPDX-License-Identifier: MIT */
/* model_file.c: see model_file.h. */
#include "report/model_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const rvp_model_kind_names[RVP_MODEL_KIND_COUNT] = {"none", "GGUF",   "safetensors", "torch.save",
								"ggml", "TFLite", "ONNX"};

static const struct {
	const char *ending;
	enum rvp_model_kind kind;
} endings[] = {
    {".gguf", RVP_MODEL_GGUF},  {".safetensors", RVP_MODEL_SAFETENSORS},
    {".pt", RVP_MODEL_TORCH},   {".pth", RVP_MODEL_TORCH},
    {".ckpt", RVP_MODEL_TORCH}, {".ggml", RVP_MODEL_GGML},
    {".onnx", RVP_MODEL_ONNX},  {".tflite", RVP_MODEL_TFLITE},
};

enum rvp_model_kind rvp_model_kind_by_name(const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		size_t part = strlen(endings[i].ending);

		if (length > part && strcasecmp(name + length - part, endings[i].ending) == 0)
			return endings[i].kind;
	}
	return RVP_MODEL_NONE;
}

void rvp_model_flaw(struct rvp_model *model, const char *format, ...)
{
	va_list arguments;

	if (model->flaw[0])
		return;
	va_start(arguments, format);
	vsnprintf(model->flaw, sizeof model->flaw, format, arguments);
	va_end(arguments);
}

/* The tensor's name is taken from `name`. */
bool rvp_model_add(struct rvp_model *model, const char *name, size_t length, struct rvp_model_tensor tensor)
{
	if (model->tensor_count == model->tensor_room) {
		size_t room = model->tensor_room ? model->tensor_room * 2 : 64;
		struct rvp_model_tensor *more = realloc(model->tensors, room * sizeof *more);

		if (!more)
			return false;
		model->tensors = more;
		model->tensor_room = room;
	}
	tensor.name = rvp_arena_text(&model->texts, name, length);
	model->tensors[model->tensor_count++] = tensor;
	model->tensor_bytes += tensor.bytes;
	return true;
}

/* An archive of torch.save begins with "<name>/data.pkl", uncompressed; others of its kind are no models. */
static bool is_torch_archive(const unsigned char *head, size_t length)
{
	size_t name_bytes;

	if (length < 30 || memcmp(head, "PK\3\4", 4) != 0)
		return false;
	name_bytes = head[26] | (size_t)head[27] << 8;
	return name_bytes >= 9 && 30 + name_bytes <= length &&
	       memcmp(head + 30 + name_bytes - 9, "/data.pkl", 9) == 0;
}

static bool is_ggml(const unsigned char *head)
{
	static const char *const magics[] = {"lmgg", "fmgg", "tjgg", "algg"};

	for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
		if (memcmp(head, magics[i], 4) == 0)
			return true;
	return false;
}

/* A length of 8 bytes, then an object. */
static bool is_safetensors(const unsigned char *head, size_t length, uint64_t size)
{
	uint64_t header_bytes = 0;

	if (length < 9 || head[8] != '{')
		return false;
	for (int i = 8; i-- > 0;)
		header_bytes = header_bytes << 8 | head[i];
	return header_bytes >= 2 && header_bytes < size && header_bytes <= 100000000;
}

static enum rvp_model_kind kind_of(const unsigned char *head, size_t length, uint64_t size, const char *name)
{
	enum rvp_model_kind named = rvp_model_kind_by_name(name);

	if (length < 8)
		return RVP_MODEL_NONE;
	if (memcmp(head, "GGUF", 4) == 0)
		return RVP_MODEL_GGUF;
	if (is_safetensors(head, length, size))
		return RVP_MODEL_SAFETENSORS;
	if (is_torch_archive(head, length))
		return RVP_MODEL_TORCH;
	if (is_ggml(head))
		return RVP_MODEL_GGML;
	if (memcmp(head + 4, "TFL3", 4) == 0)
		return RVP_MODEL_TFLITE;
	/* ir_version, a number of field 1, comes first in what the usual exporters write. */
	if (named == RVP_MODEL_ONNX && head[0] == 8)
		return RVP_MODEL_ONNX;
	/* torch.save before 1.6: pickles one after the other. */
	if (named == RVP_MODEL_TORCH && head[0] == 0x80 && head[1] <= 5)
		return RVP_MODEL_TORCH;
	return RVP_MODEL_NONE;
}

bool rvp_model_read(struct rvp_model *model, struct rvp_cursor *cursor, const char *name)
{
	unsigned char head[512] = {0};
	size_t length = rvp_cursor_left(cursor) < sizeof head ? (size_t)rvp_cursor_left(cursor) : sizeof head;

	memset(model, 0, sizeof *model);
	if (!rvp_cursor_get(cursor, head, length))
		return true;
	model->kind = kind_of(head, length, cursor->size, name);
	cursor->at = 0;
	switch (model->kind) {
	case RVP_MODEL_GGUF: return rvp_model_read_gguf(model, cursor);
	case RVP_MODEL_SAFETENSORS: return rvp_model_read_safetensors(model, cursor);
	default: return true;
	}
}

void rvp_model_free(struct rvp_model *model)
{
	free(model->tensors);
	rvp_arena_free(&model->texts);
	memset(model, 0, sizeof *model);
}
