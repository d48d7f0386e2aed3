/* SPDX-License-Identifier: MIT */
/* check_model_facts.c: what a model file comes to. Expected figures are products of the sizes that the files
 * were made with, written out, and those that llama.cpp says of the same sizes (55,609,344 bytes of weights,
 * 8,192 KV bytes a token). */
#include "model/file_facts.h"
#include "model/weights.h"
#include "tests/unit/model_maker.h"
#include "tests/unit/run_suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct rvp_model_facts facts;
static struct model_bytes made;
static const struct rvp_number_type f16 = {"f16", 1, 2}, q8_0 = {"q8_0", 32, 34};
static const struct llama_wish small = {8, 512, 8, 4, 1408, 4096, 1, 1, 2, 0, 0, 0};
static char folder[] = "/tmp/rvprof-facts.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

static void write_bytes(const char *name, const void *bytes, size_t length)
{
	FILE *file = fopen(path_of(name), "w");

	ck_assert(file && fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
}

static struct rvp_status read_as(const char *name)
{
	return rvp_model_facts_read(path_of(name), &facts);
}

static void assert_good(struct rvp_status status)
{
	char line[600];

	ck_assert_msg(!rvp_failed(status), "%s", rvp_status_line(&status, line, sizeof line));
}

static void assert_refused(struct rvp_status status, const char *says)
{
	char line[600];

	ck_assert_msg(rvp_failed(status), "%s was read", says);
	rvp_status_line(&status, line, sizeof line);
	ck_assert_msg(strstr(line, says) && !strchr(line, '\n'), "%s", line);
}

static void read_llama(struct llama_wish wish)
{
	make_llama(&made, wish);
	write_bytes("m.gguf", made.bytes, made.length);
	assert_good(read_as("m.gguf"));
	ck_assert_uint_eq(facts.bytes, made.tensor_bytes);
	model_bytes_free(&made);
}

/* A block's matrices: q and output 512 x 512, k and v 512 x 256, three of 512 x 1408. */
enum { OF_BLOCK = 2 * 512 * 512 + 2 * 512 * 256 + 3 * 512 * 1408, TABLE = 512 * 4096, NORMS = 17 * 512 };

START_TEST(llama)
{
	struct rvp_token_cost cost;

	read_llama(small);
	ck_assert_uint_eq(facts.tensor_count, 75);
	ck_assert_uint_eq(facts.bytes, 55609344);
	ck_assert_uint_eq(facts.parameters, 8 * OF_BLOCK + 2 * TABLE + NORMS);
	ck_assert_uint_eq(facts.product_values, 8 * OF_BLOCK + TABLE);
	ck_assert(!facts.is_output_tied);
	ck_assert_uint_eq(facts.type_count, 2);
	ck_assert_str_eq(facts.types[0].type, "f16");
	ck_assert_uint_eq(facts.types[0].bytes, 55609344 - 4 * NORMS);
	ck_assert_str_eq(facts.types[1].type, "f32");
	ck_assert_uint_eq(facts.types[1].tensor_count, 17);
	ck_assert_uint_eq(facts.types[1].bytes, 4 * NORMS);
	assert_good(rvp_token_cost_of(&facts, 512, f16, &cost));
	ck_assert_uint_eq(cost.kv_bytes_a_token, 8192);
	ck_assert_uint_eq(cost.kv_bytes_a_token * 512, 4194304);
	ck_assert_uint_eq(cost.product_flops, 51380224);
	/* Each of 8 heads in 8 blocks: 64 values of a key, 64 of a value, twice. */
	ck_assert_uint_eq(cost.attention_flops, 2ull * 8 * 8 * 128 * 512);
	ck_assert_uint_eq(cost.decode_flops, 51380224 + 8388608);
	ck_assert_uint_eq(cost.prefill_flops, 512ull * 51380224 + 2ull * 8 * 8 * 128 * (512 * 513 / 2));
	assert_good(rvp_token_cost_of(&facts, 1, q8_0, &cost));
	ck_assert_uint_eq(cost.kv_bytes_a_token, 8192 / 2 / 32 * 34);
	ck_assert_uint_eq(cost.prefill_flops, cost.decode_flops);
}
END_TEST

START_TEST(blocks_of_types)
{
	struct llama_wish wish = small;

	wish.type = 2;
	wish.block = 32;
	wish.block_bytes = 18;
	read_llama(wish);
	ck_assert_str_eq(facts.types[0].type, "q4_0");
	ck_assert_uint_eq(facts.types[0].values, 8 * OF_BLOCK + 2 * TABLE);
	ck_assert_uint_eq(facts.types[0].bytes, (8ull * OF_BLOCK + 2 * TABLE) / 32 * 18);
	ck_assert_uint_eq(facts.parameters, 8 * OF_BLOCK + 2 * TABLE + NORMS);
}
END_TEST

START_TEST(tied_output)
{
	struct llama_wish wish = small;

	wish.has_no_output = 1;
	read_llama(wish);
	ck_assert(facts.is_output_tied);
	ck_assert_uint_eq(facts.parameters, 8 * OF_BLOCK + TABLE + NORMS);
	ck_assert_uint_eq(facts.product_values, 8 * OF_BLOCK + TABLE);
}
END_TEST

/* Of 8 experts a token uses 2. */
START_TEST(experts)
{
	struct llama_wish wish = small;
	const uint64_t attention = 2 * 512 * 512 + 2 * 512 * 256, expert = 3 * 512 * 64;

	wish.blocks = 2;
	wish.hidden = 64;
	wish.experts = 8;
	wish.experts_used = 2;
	read_llama(wish);
	ck_assert_uint_eq(facts.parameters, 2 * (attention + 8 * expert) + 2 * TABLE + 5 * 512);
	ck_assert_uint_eq(facts.product_values, 2 * (attention + 2 * expert) + TABLE);
}
END_TEST

/* GPT-2's names: a table of positions, masks that are no parameters, an output that is the table. */
static const char gpt2[] =
    "{\"wte.weight\":{\"dtype\":\"F32\",\"shape\":[100,8],\"data_offsets\":[0,3200]},"
    "\"wpe.weight\":{\"dtype\":\"F32\",\"shape\":[16,8],\"data_offsets\":[3200,3712]},"
    "\"h.0.attn.bias\":{\"dtype\":\"F32\",\"shape\":[1,1,16,16],\"data_offsets\":[3712,4736]},"
    "\"h.0.attn.c_attn.weight\":{\"dtype\":\"BF16\",\"shape\":[8,24],\"data_offsets\":[4736,5120]},"
    "\"h.0.attn.c_attn.bias\":{\"dtype\":\"BF16\",\"shape\":[24],\"data_offsets\":[5120,5168]},"
    "\"h.0.scale\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[5168,5172]}}";

START_TEST(safetensors)
{
	struct rvp_token_cost cost;

	make_safetensors_of(&made, gpt2, 5172);
	write_bytes("m.safetensors", made.bytes, made.length);
	assert_good(read_as("m.safetensors"));
	ck_assert_uint_eq(facts.parameters, 800 + 128 + 192 + 24 + 1);
	ck_assert_uint_eq(facts.buffer_values, 256);
	ck_assert_uint_eq(facts.bytes, 5172);
	ck_assert_uint_eq(facts.product_values, 192 + 800);
	ck_assert(facts.is_output_tied && !facts.has_config);
	assert_good(rvp_token_cost_of(&facts, 16, f16, &cost));
	ck_assert_uint_eq(cost.attention_flops, 0);
	ck_assert_uint_eq(cost.kv_bytes_a_token, 0);
	/* With its config: 1 block, 2 heads of 4 values. */
	write_bytes("config.json",
		    "{\"model_type\":\"gpt2\",\"n_layer\":1,\"n_head\":2,\"n_embd\":8,\"n_positions\":16}",
		    72);
	assert_good(read_as("m.safetensors"));
	ck_assert_str_eq(facts.architecture, "gpt2");
	assert_good(rvp_token_cost_of(&facts, 16, f16, &cost));
	ck_assert_uint_eq(cost.kv_bytes_a_token, 2 * 8 * 2);
	ck_assert_uint_eq(cost.attention_flops, 2 * 2 * 8 * 16);
	/* Where it says that the table is not the output, it is not. */
	write_bytes("config.json", "{\"tie_word_embeddings\":false}", 29);
	assert_good(read_as("m.safetensors"));
	ck_assert_uint_eq(facts.product_values, 192);
	write_bytes("config.json", "{\"n_layer\":", 11);
	assert_refused(read_as("m.safetensors"), "config.json");
	write_bytes("config.json", "[]", 2);
	assert_refused(read_as("m.safetensors"), "no JSON object");
	ck_assert_int_eq(unlink(path_of("config.json")), 0);
	model_bytes_free(&made);
}
END_TEST

/* One of several stands for all. */
START_TEST(parts)
{
	make_safetensors_of(&made, "{\"a\":{\"dtype\":\"F16\",\"shape\":[4,5],\"data_offsets\":[0,40]}}", 40);
	write_bytes("p-00001-of-00002.safetensors", made.bytes, made.length);
	assert_refused(read_as("p-00001-of-00002.safetensors"), "p-00002-of-00002.safetensors");
	write_bytes("p-00002-of-00002.safetensors", made.bytes, made.length);
	assert_good(read_as("p-00002-of-00002.safetensors"));
	ck_assert_uint_eq(facts.file_count, 2);
	ck_assert_uint_eq(facts.parameters, 40);
	ck_assert_uint_eq(facts.bytes, 80);
	model_bytes_free(&made);
}
END_TEST

START_TEST(bad_files)
{
	static const char lies[] =
	    "{\"a\":{\"dtype\":\"F32\",\"shape\":[1000,1000],\"data_offsets\":[0,40]}}";
	static const char huge[] =
	    "{\"a\":{\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,40]}}";

	make_llama(&made, (struct llama_wish){1, 64, 2, 1, 64, 64, 1, 1, 2, 0, 0, 0});
	for (size_t length = 8; length < made.length; length += length < made.data_begin ? 7 : 997) {
		write_bytes("cut.gguf", made.bytes, length);
		assert_refused(read_as("cut.gguf"), "cut.gguf");
	}
	model_bytes_free(&made);
	make_safetensors_of(&made, lies, 40);
	write_bytes("lies.safetensors", made.bytes, made.length);
	assert_refused(read_as("lies.safetensors"), "tensor 1 has 40 bytes");
	model_bytes_free(&made);
	make_safetensors_of(&made, huge, 40);
	write_bytes("huge.safetensors", made.bytes, made.length);
	assert_refused(read_as("huge.safetensors"), "damaged");
	model_bytes_free(&made);
	write_bytes("empty.gguf", "", 0);
	assert_refused(read_as("empty.gguf"), "no model file");
	write_bytes("zip.pt", "PK\3\4", 4);
	assert_refused(read_as("zip.pt"), "no model file");
	assert_refused(read_as("none.gguf"), "No such file");
	assert_refused(read_as("."), "no file");
}
END_TEST

/* Absolute values 0.0005, 0.005, 0.05, 0.5 and 1: mean 1.5555 / 5; percentiles at 0.4, 1, 2, 3 and 3.6 of the
 * ranks 0 to 4. */
START_TEST(weights)
{
	static const float whole[] = {-0.5f, 0.0005f, 1};
	static const uint16_t half[] = {0xaa66}, brain[] = {0x3ba4}; /* -0.05 and 0.005, rounded */
	const double values[] = {(double)0.0005f, 0.0050048828125, 0.04998779296875, 0.5, 1};
	struct rvp_weights got;
	double mean = 0, squares = 0;

	make_safetensors_of(&made,
			    "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,12]},"
			    "\"b\":{\"dtype\":\"F16\",\"shape\":[1,1],\"data_offsets\":[12,14]},"
			    "\"c\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[14,16]},"
			    "\"d\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[16,20]},"
			    "\"e\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[20,24]}}",
			    24);
	memcpy(made.bytes + made.data_begin, whole, 12);
	memcpy(made.bytes + made.data_begin + 12, half, 2);
	memcpy(made.bytes + made.data_begin + 14, brain, 2);
	memcpy(made.bytes + made.data_begin + 20, "\0\374\1\376", 4); /* infinity, no number */
	write_bytes("w.safetensors", made.bytes, made.length);
	assert_good(rvp_weights_of_file(path_of("w.safetensors"), &got));
	for (int i = 0; i < 5; i++)
		mean += values[i] / 5;
	for (int i = 0; i < 5; i++)
		squares += (values[i] - mean) * (values[i] - mean) / 5;
	ck_assert_uint_eq(got.count, 5);
	ck_assert_uint_eq(got.tensors_left_out, 1);
	ck_assert_uint_eq(got.not_finite, 2);
	ck_assert_double_eq_tol(got.mean, mean, 1e-15);
	ck_assert_double_eq_tol(got.std * got.std, squares, 1e-15);
	ck_assert_double_eq(got.min, values[0]);
	ck_assert_double_eq(got.max, 1);
	ck_assert_double_eq_tol(got.percentile[0], values[0] + 0.4 * (values[1] - values[0]), 1e-15);
	ck_assert_double_eq(got.percentile[1], values[1]);
	ck_assert_double_eq(got.percentile[2], values[2]);
	ck_assert_double_eq(got.percentile[3], values[3]);
	ck_assert_double_eq_tol(got.percentile[4], 0.8, 1e-15);
	ck_assert_double_eq(got.below_percent[0], 20);
	ck_assert_double_eq(got.below_percent[1], 40);
	ck_assert_double_eq(got.below_percent[2], 60);
	write_bytes("w.safetensors", made.bytes, made.length - 1);
	assert_refused(rvp_weights_of_file(path_of("w.safetensors"), &got), "it is cut");
	model_bytes_free(&made);
	make_safetensors_of(&made, "{\"d\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4);
	write_bytes("w.safetensors", made.bytes, made.length);
	assert_refused(rvp_weights_of_file(path_of("w.safetensors"), &got), "no weights found");
	model_bytes_free(&made);
}
END_TEST

static void make_folder(void)
{
	strcpy(folder + sizeof folder - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void remove_folder(void)
{
	char line[128];

	snprintf(line, sizeof line, "rm -rf '%s'", folder);
	ck_assert_int_eq(system(line), 0);
}

int main(void)
{
	Suite *suite = suite_create("model_facts");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, llama);
	tcase_add_test(tests, blocks_of_types);
	tcase_add_test(tests, tied_output);
	tcase_add_test(tests, experts);
	tcase_add_test(tests, safetensors);
	tcase_add_test(tests, weights);
	tcase_add_test(tests, parts);
	tcase_add_test(tests, bad_files);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
