/* SPDX-License-Identifier: MIT */
/* model_safetensors.c: the header of a safetensors file: its length in 8 bytes, then one JSON object, a
 * member a tensor: {"name": {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12]}, "__metadata__":
 * {..}}.
 *
 * The JSON is read a character at a time and never held; texts beyond TEXT_MAX are cut. What is no tensor is
 * passed over with a depth of at most DEPTH_MAX.
 */
#include "report/model_file.h"

#include <string.h>

enum { TEXT_MAX = 1024, DEPTH_MAX = 64 };

struct header {
	struct rvp_model *model;
	struct rvp_cursor *cursor;
	uint64_t end; /* of the header: where the data begins */
	bool no_memory;
};

static int next(struct header *header)
{
	return header->cursor->at < header->end ? rvp_cursor_byte(header->cursor) : -1;
}

static int peek(struct header *header)
{
	return header->cursor->at < header->end ? rvp_cursor_peek(header->cursor) : -1;
}

static int peek_token(struct header *header)
{
	int byte;

	while ((byte = peek(header)) == ' ' || byte == '\n' || byte == '\t' || byte == '\r')
		next(header);
	return byte;
}

static bool take(struct header *header, int wanted)
{
	if (peek_token(header) != wanted)
		return false;
	next(header);
	return true;
}

/* Escapes stay as they are written, but for those of one character. */
static bool take_text(struct header *header, char *to, size_t room, size_t *length)
{
	int byte;

	*length = 0;
	if (!take(header, '"'))
		return false;
	while ((byte = next(header)) != '"') {
		if (byte == '\\')
			byte = next(header);
		if (byte < 0)
			return false;
		if (*length + 1 < room)
			to[(*length)++] = (char)byte;
	}
	to[*length] = 0;
	return true;
}

static bool take_number(struct header *header, uint64_t *to)
{
	int byte = peek_token(header);

	*to = 0;
	if (byte < '0' || byte > '9')
		return false;
	for (; (byte = peek(header)) >= '0' && byte <= '9'; next(header))
		if (__builtin_mul_overflow(*to, 10, to) ||
		    __builtin_add_overflow(*to, (uint64_t)(byte - '0'), to))
			return false;
	return true;
}

static bool skip_word(struct header *header)
{
	int byte = peek(header), length = 0;

	for (; (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || byte == '-' || byte == '+' ||
	       byte == '.' || byte == 'E';
	     byte = peek(header), length++)
		next(header);
	return length > 0;
}

/* Any value: brackets are counted, not matched with each other: what is inside is nobody's concern. */
static bool skip_value(struct header *header)
{
	char text[2];
	size_t length;
	int depth = 0;

	do {
		int byte = peek_token(header);

		if (byte == '{' || byte == '[') {
			next(header);
			if (++depth > DEPTH_MAX)
				return false;
		} else if (byte == '}' || byte == ']') {
			next(header);
			depth--;
		} else if (byte == ',' || byte == ':') {
			next(header);
		} else if (byte == '"' ? !take_text(header, text, sizeof text, &length)
				       : !skip_word(header)) {
			return false;
		}
	} while (depth > 0);
	return depth == 0;
}

static bool take_offsets(struct header *header, uint64_t *begin, uint64_t *end)
{
	return take(header, '[') && take_number(header, begin) && take(header, ',') &&
	       take_number(header, end) && take(header, ']');
}

static bool take_shape(struct header *header, struct rvp_model_tensor *tensor)
{
	uint64_t size;

	tensor->values = 1;
	tensor->dimensions = 0;
	if (!take(header, '['))
		return false;
	if (take(header, ']'))
		return true;
	do {
		if (!take_number(header, &size) ||
		    __builtin_mul_overflow(tensor->values, size, &tensor->values) ||
		    ++tensor->dimensions > DEPTH_MAX)
			return false;
	} while (take(header, ','));
	return take(header, ']');
}

static const char *type_named(const char *dtype)
{
	static const struct {
		const char *dtype, *name;
	} types[] = {
#define RVP_SAFE_TYPE(dtype, name, bytes) {dtype, name},
#include "report/tensor_types.def"
	};

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strcmp(types[i].dtype, dtype) == 0)
			return types[i].name;
	return NULL;
}

/* Behind a tensor's name and colon. `tensor` has its offsets as they are said. */
static bool take_fields(struct header *header, struct rvp_model_tensor *tensor)
{
	uint64_t begin = 0, end = 0;
	char key[32], dtype[32];
	size_t length;
	bool has_offsets = false, is_good;

	if (!take(header, '{'))
		return false;
	do {
		if (!take_text(header, key, sizeof key, &length) || !take(header, ':'))
			return false;
		if (strcmp(key, "data_offsets") == 0) {
			is_good = has_offsets = take_offsets(header, &begin, &end);
		} else if (strcmp(key, "shape") == 0) {
			is_good = take_shape(header, tensor);
		} else if (strcmp(key, "dtype") == 0) {
			is_good = take_text(header, dtype, sizeof dtype, &length);
			tensor->type = type_named(dtype);
		} else {
			is_good = skip_value(header);
		}
		if (!is_good)
			return false;
	} while (take(header, ','));
	tensor->offset = begin;
	tensor->bytes = end - begin;
	return take(header, '}') && has_offsets && end >= begin;
}

static bool take_tensor(struct header *header, const char *name, size_t name_length)
{
	struct rvp_model_tensor tensor = {.bytes = 0};

	if (!take_fields(header, &tensor))
		return false;
	if (tensor.offset + tensor.bytes > header->cursor->size - header->end)
		rvp_model_flaw(header->model, "a tensor lies outside of the file: it is cut");
	if (header->model->tensor_count >= RVP_MODEL_TENSORS_MAX)
		return false;
	tensor.offset += header->end;
	header->no_memory = !rvp_model_add(header->model, name, name_length, tensor);
	return !header->no_memory;
}

static bool take_members(struct header *header)
{
	char name[TEXT_MAX];
	size_t length;

	if (!take(header, '{'))
		return false;
	if (take(header, '}'))
		return true;
	do {
		if (!take_text(header, name, sizeof name, &length) || !take(header, ':'))
			return false;
		if (strcmp(name, "__metadata__") == 0 ? !skip_value(header)
						      : !take_tensor(header, name, length))
			return false;
	} while (take(header, ','));
	return take(header, '}');
}

bool rvp_model_read_safetensors(struct rvp_model *model, struct rvp_cursor *cursor)
{
	struct header header = {.model = model, .cursor = cursor};
	uint64_t bytes = rvp_cursor_u64(cursor);

	if (bytes > rvp_cursor_left(cursor)) {
		rvp_model_flaw(model, "its header claims %llu bytes: more than the file has",
			       (unsigned long long)bytes);
		return true;
	}
	header.end = cursor->at + bytes;
	if (!take_members(&header) && !header.no_memory)
		rvp_model_flaw(model, "its header is cut or damaged behind tensor %zu", model->tensor_count);
	model->has_header = !model->flaw[0] && !header.no_memory;
	return !header.no_memory;
}
