/* SPDX-License-Identifier: MIT */
/* check_model_file.c: headers of model files: what they say, where they are cut, what is none. */
#include "report/model_file.h"
#include "report/file_content.h"
#include "tests/unit/model_maker.h"
#include "tests/unit/run_suite.h"

#include <stdlib.h>
#include <string.h>

static struct rvp_cursor cursor;
static struct rvp_model model;

static void read_bytes(const void *bytes, size_t length, const char *name)
{
	rvp_model_free(&model);
	rvp_cursor_over_memory(&cursor, bytes, length);
	ck_assert(rvp_model_read(&model, &cursor, name));
}

static void read_made(const struct model_bytes *made)
{
	read_bytes(made->bytes, made->length, "");
}

static void check_shape(void)
{
	ck_assert_uint_eq(model.shape.block_count, MADE_BLOCKS);
	ck_assert_uint_eq(model.shape.embedding_length, MADE_EMBEDDING);
	ck_assert_uint_eq(model.shape.context_length, MADE_CONTEXT);
	ck_assert_uint_eq(model.shape.head_count, MADE_HEADS);
	ck_assert_uint_eq(model.shape.key_length, MADE_EMBEDDING / MADE_HEADS);
	ck_assert_uint_eq(model.shape.value_length, MADE_EMBEDDING / MADE_HEADS);
}

START_TEST(gguf_of_each_version)
{
	struct model_bytes made;

	make_gguf(&made, (struct gguf_wish){.version = (uint32_t)_i,
					    .tensor_count = 5,
					    .tensor_type = 8,
					    .tensor_values = 640,
					    .tensor_bytes = 680});
	read_made(&made);
	ck_assert_int_eq(model.kind, RVP_MODEL_GGUF);
	ck_assert_str_eq(model.flaw, "");
	ck_assert(model.has_header);
	ck_assert_str_eq(model.architecture, "llama");
	ck_assert_str_eq(model.role, "");
	ck_assert_uint_eq(model.tensor_count, 5);
	ck_assert_uint_eq(model.tensor_bytes, made.tensor_bytes);
	ck_assert_str_eq(model.tensors[4].name, "blk.4.attn_q.weight");
	ck_assert_uint_eq(model.tensors[0].offset, made.data_begin);
	ck_assert_uint_eq(model.tensors[1].offset, made.data_begin + 704);
	ck_assert_uint_eq(model.tensors[1].bytes, 680);
	ck_assert_uint_eq(model.shape.kv_heads, MADE_KV_HEADS * MADE_BLOCKS);
	check_shape();
	model_bytes_free(&made);
}
END_TEST

/* Bytes of a tensor by ggml's types: the sizes that its own table has. */
START_TEST(gguf_tensor_types)
{
	static const struct {
		uint32_t type;
		uint64_t bytes; /* of 512 values */
	} rows[] = {{0, 2048}, {1, 1024}, {2, 288},  {3, 320},   {6, 352},   {7, 384},
		    {8, 544},  {10, 168}, {11, 220}, {12, 288},  {13, 352},  {14, 420},
		    {20, 288}, {23, 272}, {24, 512}, {28, 4096}, {30, 1024}, {39, 272}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct model_bytes made;

		make_gguf(&made, (struct gguf_wish){.version = 3,
						    .tensor_count = 1,
						    .tensor_type = rows[i].type,
						    .tensor_values = 512,
						    .tensor_bytes = rows[i].bytes});
		read_made(&made);
		ck_assert(model.has_header);
		ck_assert_uint_eq(model.tensor_bytes, rows[i].bytes);
		model_bytes_free(&made);
	}
}
END_TEST

/* A type from after this was written: the size is what lies before the next tensor. */
START_TEST(gguf_unknown_type)
{
	struct model_bytes made;

	make_gguf(&made, (struct gguf_wish){.version = 3,
					    .tensor_count = 3,
					    .tensor_type = 99,
					    .tensor_values = 512,
					    .tensor_bytes = 320});
	read_made(&made);
	ck_assert(model.has_header);
	ck_assert_uint_eq(model.tensor_bytes, 960);
	model_bytes_free(&made);
}
END_TEST

START_TEST(gguf_roles_and_lists)
{
	struct model_bytes made;

	make_gguf(&made, (struct gguf_wish){.version = 3,
					    .architecture = "clip",
					    .tensor_count = 1,
					    .tensor_values = 64,
					    .tensor_bytes = 256,
					    .has_kv_list = 1});
	read_made(&made);
	ck_assert_str_eq(model.role, "projector");
	ck_assert_uint_eq(model.shape.kv_heads, 36); /* 1 + 2 + .. + 8 */
	model_bytes_free(&made);
	make_gguf(&made, (struct gguf_wish){.version = 3,
					    .type = "adapter",
					    .tensor_count = 1,
					    .tensor_values = 64,
					    .tensor_bytes = 256});
	read_made(&made);
	ck_assert_str_eq(model.role, "adapter");
	model_bytes_free(&made);
}
END_TEST

/* Cut anywhere: said, unless only padding or nothing is missing. */
START_TEST(cut_files_say_so)
{
	struct model_bytes made;

	if (_i)
		make_safetensors(&made, 4, 256);
	else
		make_gguf(&made,
			  (struct gguf_wish){
			      .version = 3, .tensor_count = 4, .tensor_values = 64, .tensor_bytes = 256});
	for (size_t length = 8; length < made.length; length++) {
		unsigned char *exact = malloc(length);

		memcpy(exact, made.bytes, length);
		read_bytes(exact, length, "");
		ck_assert_msg(!model.has_header, "at %zu", length);
		/* Too short for the header that it claims: safetensors has no magic to be known by. */
		ck_assert_msg(model.flaw[0] || model.kind == RVP_MODEL_NONE, "at %zu", length);
		ck_assert(model.kind != RVP_MODEL_NONE || (_i && length < made.data_begin));
		free(exact);
	}
	model_bytes_free(&made);
}
END_TEST

START_TEST(hostile_counts_are_refused)
{
	static const unsigned char many_tensors[64] =
	    "GGUF\3\0\0\0\377\377\377\377\377\377\377\177\0\0\0\0\0\0\0\0";
	static const unsigned char many_pairs[64] =
	    "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377";
	static const unsigned char big_endian[64] = "GGUF\0\0\0\3";
	static const unsigned char version_9[64] = "GGUF\11\0\0\0";

	read_bytes(many_tensors, sizeof many_tensors, "");
	ck_assert_ptr_nonnull(strstr(model.flaw, "more than the file can hold"));
	read_bytes(many_pairs, sizeof many_pairs, "");
	ck_assert_ptr_nonnull(strstr(model.flaw, "more than the file can hold"));
	read_bytes(big_endian, sizeof big_endian, "");
	ck_assert_ptr_nonnull(strstr(model.flaw, "big-endian"));
	read_bytes(version_9, sizeof version_9, "");
	ck_assert_ptr_nonnull(strstr(model.flaw, "version 9"));
}
END_TEST

START_TEST(safetensors_header)
{
	struct model_bytes made;

	make_safetensors(&made, 6, 1024);
	read_made(&made);
	ck_assert_int_eq(model.kind, RVP_MODEL_SAFETENSORS);
	ck_assert_str_eq(model.flaw, "");
	ck_assert(model.has_header);
	ck_assert_uint_eq(model.tensor_count, 6);
	ck_assert_uint_eq(model.tensor_bytes, made.tensor_bytes);
	ck_assert_str_eq(model.tensors[5].name, "layer.5.weight");
	ck_assert_uint_eq(model.tensors[5].offset, made.data_begin + 5 * 1024);
	model_bytes_free(&made);
}
END_TEST

static void put_safetensors(unsigned char *to, const char *json)
{
	memset(to, 0, 512);
	to[0] = (unsigned char)strlen(json);
	strcpy((char *)to + 8, json);
}

START_TEST(safetensors_that_are_wrong)
{
	static const char *const wrong[] = {
	    "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[8,4]}}", /* ends before it begins */
	    "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,99999999999999999999999]}}",
	    "{\"a\":{\"dtype\":\"F32\"}}",
	    "{\"a\":{\"data_offsets\":[0,4]}",
	    "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]",
	    "{\"a\":{\"data_offsets\":[0,4000]}}", /* outside */
	};
	unsigned char bytes[512];

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		put_safetensors(bytes, wrong[i]);
		read_bytes(bytes, sizeof bytes, "");
		ck_assert_int_eq(model.kind, RVP_MODEL_SAFETENSORS);
		ck_assert_msg(!model.has_header && model.flaw[0], "%s", wrong[i]);
	}
	put_safetensors(bytes, "{}");
	read_bytes(bytes, sizeof bytes, "");
	ck_assert(model.has_header);
}
END_TEST

START_TEST(kinds_by_magic_and_name)
{
	static const unsigned char torch[64] =
	    "PK\3\4\0\0\10\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0archive/data.pkl";
	static const unsigned char jar[64] =
	    "PK\3\4\0\0\10\10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\20\0\0\0META-INF/MANIFES";
	static const unsigned char onnx[64] = "\10\7\22\4test";
	static const unsigned char old_pickle[64] = "\200\2\212\12";

	read_bytes(torch, sizeof torch, "");
	ck_assert_int_eq(model.kind, RVP_MODEL_TORCH);
	read_bytes(jar, sizeof jar, "x.pt");
	ck_assert_int_eq(model.kind, RVP_MODEL_NONE);
	read_bytes("tjgg\3\0\0\0", 8, "");
	ck_assert_int_eq(model.kind, RVP_MODEL_GGML);
	read_bytes("\34\0\0\0TFL3", 8, "");
	ck_assert_int_eq(model.kind, RVP_MODEL_TFLITE);
	read_bytes(onnx, sizeof onnx, "m/model.onnx");
	ck_assert_int_eq(model.kind, RVP_MODEL_ONNX);
	read_bytes(onnx, sizeof onnx, "m/model.bin");
	ck_assert_int_eq(model.kind, RVP_MODEL_NONE);
	read_bytes(old_pickle, sizeof old_pickle, "m/old.pth");
	ck_assert_int_eq(model.kind, RVP_MODEL_TORCH);
	read_bytes(old_pickle, sizeof old_pickle, "m/data.pkl");
	ck_assert_int_eq(model.kind, RVP_MODEL_NONE);
	ck_assert_int_eq(rvp_model_kind_by_name("/a/b.GGUF"), RVP_MODEL_GGUF);
	ck_assert_int_eq(rvp_model_kind_by_name(".gguf"), RVP_MODEL_NONE);
	ck_assert_int_eq(rvp_model_kind_by_name("b.bin"), RVP_MODEL_NONE);
}
END_TEST

static enum rvp_content content_of(const void *bytes, size_t length)
{
	rvp_cursor_over_memory(&cursor, bytes, length);
	return rvp_content_of(&cursor);
}

enum { CONTENT_BYTES = 1 << 18 };

/* What numbers of a kind look like; the 3-bit generator is enough for that. */
START_TEST(contents)
{
	static unsigned char bytes[CONTENT_BYTES];
	float *singles = (float *)(void *)bytes;
	uint16_t *halves = (uint16_t *)(void *)bytes;
	uint32_t *ids = (uint32_t *)(void *)bytes, random = 1;

	for (int i = 0; i < CONTENT_BYTES / 4; i++, random = random * 1664525 + 1013904223)
		singles[i] = (float)(int32_t)random * 1e-11f;
	ck_assert_int_eq(content_of(bytes, sizeof bytes), RVP_CONTENT_FLOATS);
	for (int i = 0; i < CONTENT_BYTES / 2; i++, random = random * 1664525 + 1013904223)
		halves[i] = (uint16_t)((random >> 16 & 0x8fff) | 0x2400); /* 0.02 to 0.3, either sign */
	ck_assert_int_eq(content_of(bytes, sizeof bytes), RVP_CONTENT_FLOATS);
	for (int i = 0; i < CONTENT_BYTES / 4; i++, random = random * 1664525 + 1013904223)
		ids[i] = random;
	ck_assert_int_eq(content_of(bytes, sizeof bytes), RVP_CONTENT_OPAQUE);
	for (int i = 0; i < CONTENT_BYTES / 4; i++, random = random * 1664525 + 1013904223)
		ids[i] = random >> 17;
	ck_assert_int_eq(content_of(bytes, sizeof bytes), RVP_CONTENT_COUNTING);
	for (int i = 0; i < CONTENT_BYTES; i++, random = random * 1664525 + 1013904223)
		bytes[i] = (unsigned char)("abcdefgh \nxyz123"[random >> 28]);
	ck_assert_int_eq(content_of(bytes, sizeof bytes), RVP_CONTENT_OTHER);
	memset(bytes, 0, sizeof bytes);
	ck_assert_int_eq(content_of(bytes, sizeof bytes), RVP_CONTENT_OPAQUE);
	memcpy(bytes, "SQLite format 3", 16);
	ck_assert_int_eq(content_of(bytes, sizeof bytes), RVP_CONTENT_OTHER);
	ck_assert_int_eq(content_of(bytes, 8), RVP_CONTENT_UNREAD);
}
END_TEST

enum body { BODY_SINGLES, BODY_HALVES, BODY_RANDOM, BODY_IDS, BODY_TEXT, BODY_SAMPLES };

static void put_body(unsigned char *at, const unsigned char *end, enum body body)
{
	uint32_t random = 1;

	for (; at + 4 <= end; at += 4, random = random * 1664525 + 1013904223) {
		float single = (float)(int32_t)random * 1e-11f;
		uint32_t word = random;

		if (body == BODY_SINGLES)
			memcpy(&word, &single, 4);
		if (body == BODY_HALVES)
			word = (random & 0x8fff8fff) | 0x24002400;
		if (body == BODY_IDS)
			word = random >> 17;
		if (body == BODY_TEXT)
			memset(&word, "ab \n"[random >> 30], 4);
		if (body == BODY_SAMPLES) /* of sound: either sign, 8 bits loud */
			word = (uint16_t)((int32_t)random >> 24) | (uint32_t)(uint16_t)((int32_t)random >> 23)
								       << 16;
		memcpy(at, &word, 4);
	}
}

/* A header in front changes nothing, whatever its length, until it is a sixteenth of the file; neither does
 * it make weights of something else. */
START_TEST(contents_behind_a_header)
{
	static const enum rvp_content expected[] = {
	    [BODY_SINGLES] = RVP_CONTENT_FLOATS, [BODY_HALVES] = RVP_CONTENT_FLOATS,
	    [BODY_RANDOM] = RVP_CONTENT_OPAQUE,  [BODY_IDS] = RVP_CONTENT_COUNTING,
	    [BODY_TEXT] = RVP_CONTENT_OTHER,     [BODY_SAMPLES] = RVP_CONTENT_OPAQUE,
	};
	static const size_t headers[] = {0, 8, 10, 656, 1021, CONTENT_BYTES / 16};
	static unsigned char bytes[CONTENT_BYTES];

	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
		memset(bytes, '#', headers[i]);
		put_body(bytes + headers[i], bytes + sizeof bytes, (enum body)_i);
		ck_assert_int_eq(content_of(bytes, sizeof bytes), expected[_i]);
		if (headers[i] < 8)
			continue;
		memcpy(bytes, "\177ELF", 4);
		ck_assert_int_eq(content_of(bytes, sizeof bytes), RVP_CONTENT_OTHER);
	}
}
END_TEST

/* What is no float in the middle of the file is no header. */
START_TEST(one_in_a_hundred_may_be_none)
{
	static unsigned char bytes[CONTENT_BYTES];
	size_t at = CONTENT_BYTES / 2, body = 15 * 4096;

	put_body(bytes, bytes + sizeof bytes, BODY_SINGLES);
	memset(bytes + at, '#', body / 100 / 4 * 4);
	ck_assert_int_eq(content_of(bytes, sizeof bytes), RVP_CONTENT_FLOATS);
	memset(bytes + at, '#', body / 100 / 4 * 4 + 8);
	ck_assert_int_eq(content_of(bytes, sizeof bytes), RVP_CONTENT_OPAQUE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model_file");
	TCase *tests = tcase_create("model_file");

	tcase_add_loop_test(tests, gguf_of_each_version, 1, 4);
	tcase_add_test(tests, gguf_tensor_types);
	tcase_add_test(tests, gguf_unknown_type);
	tcase_add_test(tests, gguf_roles_and_lists);
	tcase_add_loop_test(tests, cut_files_say_so, 0, 2);
	tcase_add_test(tests, hostile_counts_are_refused);
	tcase_add_test(tests, safetensors_header);
	tcase_add_test(tests, safetensors_that_are_wrong);
	tcase_add_test(tests, kinds_by_magic_and_name);
	tcase_add_test(tests, contents);
	tcase_add_loop_test(tests, contents_behind_a_header, 0, BODY_SAMPLES + 1);
	tcase_add_test(tests, one_in_a_hundred_may_be_none);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
