/* SPDX-License-Identifier: MIT */
/* model_gguf.c: the header of a GGUF file: magic, version, counts, key-value pairs, tensors.
 *
 * Source: ggml's docs/gguf.md. In version 1 counts and lengths have 32 bits, later 64. A big-endian file has
 * its version's bytes turned round, and is said not to be read.
 *
 * Rules
 *   - A count is believed only as far as the bytes that are left could hold it.
 *   - Values that are not asked for are skipped, arrays of texts by their lengths, nested arrays to
 * DEPTH_MAX.
 */
#include "report/model_file.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 256, NAME_MAX_BYTES = 1024, DIMENSIONS_MAX = 8, DEPTH_MAX = 4, LEAST_TENSOR_BYTES = 24 };

enum value_type { U8, I8, U16, I16, U32, I32, F32, BOOL, TEXT, ARRAY, U64, I64, F64, VALUE_TYPE_COUNT };
static const unsigned char value_bytes[VALUE_TYPE_COUNT] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

/* ggml's tensor types. Those not named are not known (or gone). */
static const struct {
	const char *name;
	unsigned short values, bytes;
} tensor_types[] = {
#define RVP_TENSOR_TYPE(number, name, values, bytes) [number] = {name, values, bytes},
#include "report/tensor_types.def"
};

struct gguf {
	struct rvp_model *model;
	struct rvp_cursor *cursor;
	uint32_t version;
	uint64_t alignment;
	uint64_t head_count_kv;   /* of each block; 0: not said, or a list */
	uint64_t listed_kv_heads; /* sum of a list */
	size_t unknown_types;
};

static uint64_t get_length(struct gguf *gguf)
{
	return gguf->version == 1 ? rvp_cursor_u32(gguf->cursor) : rvp_cursor_u64(gguf->cursor);
}

/* The first room - 1 bytes of a text, terminated; how many in *length. The rest is passed over. */
static bool get_text(struct gguf *gguf, char *to, size_t room, size_t *length)
{
	uint64_t bytes = get_length(gguf);

	*length = bytes < room ? (size_t)bytes : room - 1;
	if (bytes > rvp_cursor_left(gguf->cursor))
		gguf->cursor->failed = true;
	rvp_cursor_get(gguf->cursor, to, *length);
	to[*length] = 0;
	return rvp_cursor_skip(gguf->cursor, bytes - *length);
}

static bool skip_text(struct gguf *gguf)
{
	uint64_t bytes = get_length(gguf);

	return rvp_cursor_skip(gguf->cursor, bytes);
}

static bool skip_value(struct gguf *gguf, uint32_t type, int depth);

static bool skip_array(struct gguf *gguf, int depth)
{
	uint32_t type = rvp_cursor_u32(gguf->cursor);
	uint64_t count = get_length(gguf);

	if (type >= VALUE_TYPE_COUNT || depth >= DEPTH_MAX || count > rvp_cursor_left(gguf->cursor))
		return false;
	if (value_bytes[type])
		return rvp_cursor_skip(gguf->cursor, count * value_bytes[type]);
	for (uint64_t i = 0; i < count; i++)
		if (!skip_value(gguf, type, depth + 1))
			return false;
	return true;
}

static bool skip_value(struct gguf *gguf, uint32_t type, int depth)
{
	if (type >= VALUE_TYPE_COUNT)
		return false;
	if (type == TEXT)
		return skip_text(gguf);
	if (type == ARRAY)
		return skip_array(gguf, depth);
	return rvp_cursor_skip(gguf->cursor, value_bytes[type]);
}

static bool is_whole(uint32_t type)
{
	return type < VALUE_TYPE_COUNT && value_bytes[type] && type != F32 && type != F64;
}

/* A whole number that is not negative; 0 for any other. */
static uint64_t get_number(struct gguf *gguf, uint32_t type)
{
	unsigned char bytes[8] = {0};
	bool is_signed = type == I8 || type == I16 || type == I32 || type == I64;
	uint64_t value = 0;

	rvp_cursor_get(gguf->cursor, bytes, value_bytes[type]);
	if (is_signed && bytes[value_bytes[type] - 1] & 0x80)
		return 0;
	for (int i = value_bytes[type]; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

/* head_count_kv is a list where blocks differ. */
static bool take_kv_heads(struct gguf *gguf, uint32_t type)
{
	uint32_t item;
	uint64_t count;

	if (is_whole(type)) {
		gguf->head_count_kv = get_number(gguf, type);
		return true;
	}
	if (type != ARRAY)
		return skip_value(gguf, type, 0);
	item = rvp_cursor_u32(gguf->cursor);
	count = get_length(gguf);
	if (!is_whole(item) || count > rvp_cursor_left(gguf->cursor) / value_bytes[item])
		return false;
	for (uint64_t i = 0; i < count; i++)
		gguf->listed_kv_heads += get_number(gguf, item) & UINT32_MAX;
	return true;
}

static bool take_number(struct gguf *gguf, uint32_t type, uint64_t *to)
{
	if (!is_whole(type))
		return skip_value(gguf, type, 0);
	*to = get_number(gguf, type);
	return true;
}

static bool take_general(struct gguf *gguf, const char *key, uint32_t type)
{
	char kind[32];
	size_t length;

	if (strcmp(key, "alignment") == 0)
		return take_number(gguf, type, &gguf->alignment);
	if (type != TEXT)
		return skip_value(gguf, type, 0);
	if (strcmp(key, "architecture") == 0)
		return get_text(gguf, gguf->model->architecture, sizeof gguf->model->architecture, &length);
	if (strcmp(key, "type") != 0)
		return skip_text(gguf);
	if (!get_text(gguf, kind, sizeof kind, &length))
		return false;
	if (strcmp(kind, "adapter") == 0)
		strcpy(gguf->model->role, "adapter");
	if (strcmp(kind, "mmproj") == 0)
		strcpy(gguf->model->role, "projector");
	return true;
}

/* A key of the architecture, its name before the dot taken away. */
static bool take_of_architecture(struct gguf *gguf, const char *key, uint32_t type)
{
	struct rvp_model_shape *shape = &gguf->model->shape;
	const struct {
		const char *key;
		uint64_t *to;
	} wanted[] = {
	    {"block_count", &shape->block_count},
	    {"embedding_length", &shape->embedding_length},
	    {"context_length", &shape->context_length},
	    {"attention.head_count", &shape->head_count},
	    {"attention.key_length", &shape->key_length},
	    {"attention.value_length", &shape->value_length},
	    {"expert_count", &shape->expert_count},
	    {"expert_used_count", &shape->experts_used},
	    {"attention.sliding_window", &shape->sliding_window},
	};

	if (strcmp(key, "attention.head_count_kv") == 0)
		return take_kv_heads(gguf, type);
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		if (strcmp(key, wanted[i].key) == 0)
			return take_number(gguf, type, wanted[i].to);
	return skip_value(gguf, type, 0);
}

static bool take_pair(struct gguf *gguf)
{
	char key[KEY_MAX], *dot;
	size_t length;
	uint32_t type;

	if (!get_text(gguf, key, sizeof key, &length))
		return false;
	type = rvp_cursor_u32(gguf->cursor);
	dot = strchr(key, '.');
	if (!dot)
		return skip_value(gguf, type, 0);
	if (strncmp(key, "general.", 8) == 0)
		return take_general(gguf, dot + 1, type);
	return take_of_architecture(gguf, dot + 1, type);
}

/* False: not to be known. */
static bool tensor_size(uint32_t type, uint64_t values, uint64_t *bytes)
{
	if (type >= sizeof tensor_types / sizeof tensor_types[0] || !tensor_types[type].values)
		return false;
	return !__builtin_mul_overflow(values / tensor_types[type].values, tensor_types[type].bytes, bytes);
}

static bool take_tensor(struct gguf *gguf)
{
	char name[NAME_MAX_BYTES];
	size_t length;
	uint32_t dimensions, type;
	uint64_t values = 1;
	struct rvp_model_tensor tensor = {.bytes = 0};

	if (!get_text(gguf, name, sizeof name, &length))
		return false;
	dimensions = rvp_cursor_u32(gguf->cursor);
	if (dimensions > DIMENSIONS_MAX)
		return false;
	for (uint32_t i = 0; i < dimensions; i++)
		if (__builtin_mul_overflow(values, get_length(gguf), &values))
			return false;
	type = rvp_cursor_u32(gguf->cursor);
	if (tensor_size(type, values, &tensor.bytes))
		tensor.type = tensor_types[type].name;
	else
		gguf->unknown_types++;
	tensor.offset = rvp_cursor_u64(gguf->cursor);
	tensor.values = values;
	tensor.dimensions = dimensions;
	return rvp_model_add(gguf->model, name, length, tensor) && !gguf->cursor->failed;
}

static int compare_offsets(const void *left, const void *right)
{
	const struct rvp_model_tensor *a = *(struct rvp_model_tensor *const *)left;
	const struct rvp_model_tensor *b = *(struct rvp_model_tensor *const *)right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Of types that are not known the size is what lies before the next tensor, padding included. */
static bool fill_gaps(struct gguf *gguf, uint64_t data_bytes)
{
	struct rvp_model *model = gguf->model;
	struct rvp_model_tensor **order = calloc(model->tensor_count + 1, sizeof *order);

	if (!order)
		return false;
	for (size_t i = 0; i < model->tensor_count; i++)
		order[i] = &model->tensors[i];
	qsort(order, model->tensor_count, sizeof *order, compare_offsets);
	for (size_t i = 0; i < model->tensor_count; i++) {
		uint64_t end = i + 1 < model->tensor_count ? order[i + 1]->offset : data_bytes;

		if (order[i]->bytes || order[i]->offset >= end || end > data_bytes)
			continue;
		order[i]->bytes = end - order[i]->offset;
		model->tensor_bytes += order[i]->bytes;
	}
	free(order);
	return true;
}

/* Offsets count from the data's begin, which is aligned. False without memory. */
static bool place_tensors(struct gguf *gguf)
{
	uint64_t alignment = gguf->alignment, size = gguf->cursor->size, begin, outside = 0;
	struct rvp_model *model = gguf->model;

	if (alignment == 0 || alignment > 1 << 20)
		alignment = 32;
	begin = (gguf->cursor->at + alignment - 1) / alignment * alignment;
	if (gguf->unknown_types && begin < size && !fill_gaps(gguf, size - begin))
		return false;
	for (size_t i = 0; i < model->tensor_count; i++) {
		struct rvp_model_tensor *tensor = &model->tensors[i];

		outside += begin > size || tensor->offset > size - begin ||
			   tensor->bytes > size - begin - tensor->offset;
		tensor->offset += begin;
	}
	if (outside)
		rvp_model_flaw(model, "%llu of %zu tensors lie outside of the file: it is cut",
			       (unsigned long long)outside, model->tensor_count);
	return true;
}

static void settle_shape(struct gguf *gguf)
{
	struct rvp_model_shape *shape = &gguf->model->shape;
	uint64_t each = gguf->head_count_kv ? gguf->head_count_kv : shape->head_count;
	uint64_t per_head = shape->head_count ? shape->embedding_length / shape->head_count : 0;

	shape->kv_heads = gguf->listed_kv_heads;
	if (!shape->kv_heads && __builtin_mul_overflow(each, shape->block_count, &shape->kv_heads))
		shape->kv_heads = 0;
	if (!shape->key_length)
		shape->key_length = per_head;
	if (!shape->value_length)
		shape->value_length = per_head;
	if (!gguf->model->role[0] && strcmp(gguf->model->architecture, "clip") == 0)
		strcpy(gguf->model->role, "projector");
}

/* Pairs and tensors; false when the header ends too early or makes no sense. */
static bool take_header(struct gguf *gguf)
{
	uint64_t tensors = get_length(gguf), pairs = get_length(gguf);
	struct rvp_model *model = gguf->model;

	if (gguf->cursor->failed) {
		rvp_model_flaw(model, "its header is cut before its counts");
		return false;
	}
	if (tensors > RVP_MODEL_TENSORS_MAX || tensors > rvp_cursor_left(gguf->cursor) / LEAST_TENSOR_BYTES ||
	    pairs > rvp_cursor_left(gguf->cursor)) {
		rvp_model_flaw(model,
			       "its header claims %llu tensors and %llu keys: more than the file can hold",
			       (unsigned long long)tensors, (unsigned long long)pairs);
		return false;
	}
	for (uint64_t i = 0; i < pairs; i++)
		if (!take_pair(gguf)) {
			rvp_model_flaw(model, "its header is cut or damaged at key %llu of %llu",
				       (unsigned long long)i + 1, (unsigned long long)pairs);
			return false;
		}
	for (uint64_t i = 0; i < tensors; i++)
		if (!take_tensor(gguf)) {
			rvp_model_flaw(model, "its header is cut or damaged at tensor %llu of %llu",
				       (unsigned long long)i + 1, (unsigned long long)tensors);
			return false;
		}
	return true;
}

bool rvp_model_read_gguf(struct rvp_model *model, struct rvp_cursor *cursor)
{
	struct gguf gguf = {.model = model, .cursor = cursor};

	rvp_cursor_skip(cursor, 4);
	gguf.version = rvp_cursor_u32(cursor);
	if (gguf.version < 1 || gguf.version > 3) {
		rvp_model_flaw(model,
			       gguf.version && (gguf.version & 0xffff) == 0
				   ? "it is a big-endian GGUF: its header is not read"
				   : "GGUF version %u is not known: its header is not read",
			       gguf.version);
		return true;
	}
	if (!take_header(&gguf))
		return true;
	settle_shape(&gguf);
	if (!place_tensors(&gguf))
		return false;
	model->has_header = !model->flaw[0];
	return true;
}
