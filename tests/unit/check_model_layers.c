/* SPDX-License-Identifier: MIT */
/* check_model_layers.c: a model of layers: its shapes, its costs, the worked examples of TinyTorch's
 * profiler, and what does not fit. Expected numbers are literals from those examples, or the sums that stand
 * beside them. */
#include "model/amount.h"
#include "model/profile.h"
#include "model/spec.h"
#include "model/training.h"
#include "tests/unit/run_suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct rvp_network network;

static void open_network(const char *spec, const char *input)
{
	struct rvp_status status = rvp_network_open(&network, spec, input);
	char line[600];

	ck_assert_msg(!rvp_failed(status), "%s", rvp_status_line(&status, line, sizeof line));
}

static void assert_output(const char *spec, const char *input, const char *output)
{
	char text[RVP_SHAPE_TEXT_BYTES];

	open_network(spec, input);
	ck_assert_str_eq(rvp_shape_text(rvp_network_output(&network), text), output);
	rvp_network_close(&network);
}

START_TEST(shapes)
{
	assert_output("linear(128,64) relu linear(64,10)", "32x128", "32x10");
	assert_output("linear(10,5)", "10", "1x5");
	assert_output("linear(8,16)", "2x7x8", "2x7x16");
	assert_output("conv2d(3,16,3)", "1x3x32x32", "1x16x30x30");
	assert_output("conv2d(3,64,7,2,3)", "2x3x224x224", "2x64x112x112");
	assert_output("conv2d(3,64,7,stride=2)", "1x3x224x224", "1x64x109x109");
	assert_output("conv2d(4,8,5x3,stride=2x1,pad=2x1,groups=4)", "1x4x20x20", "1x8x10x20");
	assert_output("conv2d(1,1,3,dilation=2)", "1x1x9x9", "1x1x5x5");
	assert_output("maxpool2d(2) flatten", "4x16x30x30", "4x3600");
	assert_output("maxpool2d(3,2,1)", "1x1x7x7", "1x1x4x4");
	assert_output("globalavgpool2d -> linear(16,10), softmax", "4x16x30x30", "4x10");
	assert_output("embedding(50257,768) block(768,12)*12 layernorm(768) linear(768,50257,bias=0)",
		      "2x1024", "2x1024x50257");
	assert_output("sum", "4x8x2", "4x1");
}
END_TEST

static const struct {
	const char *spec, *input;
	uint64_t parameters, flops, original;
} worked[] = {
    {"linear(128,64)", "1x128", 8256, 16384, 16384},
    {"linear(128,64)", "32x128", 8256, 16384, 16384},
    {"linear(10,5)", "10", 55, 100, 100},
    {"linear(256,128)", "32x256", 32896, 65536, 65536},
    {"linear(768,3072)", "768", 2362368, 4718592, 4718592},
    {"linear(1024,512)", "32x1024", 524800, 1048576, 1048576},
    {"tensor", "4x8", 0, 8, 32},
    {"linear(128,64) linear(64,10)", "1x128", 8906, 17664, 17664},
    /* An activation is no product; the older count has its 32 x 64 values. */
    {"linear(128,64) relu linear(64,10)", "32x128", 8906, 17664, 17664 + 2048},
    {"conv2d(3,16,3)", "1x3x32x32", 448, 777600, 884736},
    {"conv2d(3,64,7,2)", "1x3x224x224", 9472, 223552896, 236027904},
    {"conv2d(3,64,7,2,3)", "1x3x224x224", 9472, 236027904, 236027904},
    {"conv2d(3,10,3,pad=3)", "1x3x28x28", 280, 552960, 28 * 28 * 9 * 3 * 10 * 2},
    {"conv2d(8,8,3,groups=8,bias=0)", "5x8x10x10", 72, 64 * 9 * 8 * 2, 100 * 9 * 8 * 8 * 2},
    /* Two tokens: 2 x 2 x 4 x 16 for the projections, 4 x 4 x 4 for scores and sums. */
    {"attention(4,2,bias=0)", "1x2x4", 64, 256 + 64, 256 + 64},
    /* Half as many keys and values: 4 x (4 + 2 + 2 + 4). */
    {"attention(4,2,kv_heads=1)", "3x2x4", 48 + 12, 192 + 64, 192 + 64},
    {"block(4,2)", "1x2x4", 64 + 16 + 128 + 20 + 16, 256 + 64 + 4 * 2 * 64, 256 + 64 + 512},
};

START_TEST(worked_counts)
{
	open_network(worked[_i].spec, worked[_i].input);
	ck_assert_uint_eq(network.total.parameters, worked[_i].parameters);
	ck_assert_uint_eq(network.total.flops, worked[_i].flops);
	ck_assert_uint_eq(network.total.flops_original, worked[_i].original);
	rvp_network_close(&network);
}
END_TEST

/* The usual GPT-2 small, whose parameters are published: 124,439,808 with a tied head and 1,024 learned
 * positions. */
START_TEST(gpt2)
{
	const uint64_t positions = 1024 * 768;

	open_network("embedding(50257,768) block(768,12)*12 layernorm(768)", "1x1024");
	ck_assert_uint_eq(network.total.parameters + positions, 124439808);
	rvp_network_close(&network);
}
END_TEST

START_TEST(worked_memory)
{
	struct rvp_profile_base base;
	struct rvp_forward forward;

	open_network("linear(1024,512)", "32x1024");
	base = rvp_profile_base_of(&network, 4);
	forward = rvp_forward_of(&base);
	ck_assert_double_eq(forward.parameter_memory_mb, 2.001953125);
	ck_assert_double_eq(forward.activation_memory_mb, 0.25);
	ck_assert_double_eq(forward.peak_memory_mb, 2.251953125);
	ck_assert_double_eq(forward.memory_efficiency, 1);
	ck_assert_uint_eq(network.buffer_values_max, 32 * 1024 + 32 * 512);
	ck_assert(!forward.has_rates);
	rvp_network_close(&network);
	/* A convolution's window matrix is larger than what it came from: the footprint is its own then. */
	open_network("conv2d(3,8,5)", "1x3x64x64");
	ck_assert_uint_eq(network.total.workspace_values, 75 * 3600);
	base = rvp_profile_base_of(&network, 4);
	forward = rvp_forward_of(&base);
	ck_assert_double_eq(forward.peak_memory_mb, (3 * 64 * 64 + 8 * 3600 + 75 * 3600) * 4 / 1048576.0);
	ck_assert_double_lt(forward.memory_efficiency, 1);
	rvp_network_close(&network);
	open_network("conv2d(3,8,1)", "1x3x64x64");
	ck_assert_uint_eq(network.total.workspace_values, 0);
	rvp_network_close(&network);
}
END_TEST

START_TEST(worked_rates)
{
	struct rvp_rates rates = rvp_rates_of(1e9, 1000, 100);

	ck_assert_double_eq(rates.gflops_per_second, 1);
	ck_assert_double_eq(rates.memory_bandwidth_mbs, 100);
	ck_assert_double_eq(rates.computational_efficiency, .01);
	ck_assert(!rates.is_memory_bound);
	ck_assert(rvp_rates_of(1e9, 1000, 10000).is_memory_bound);
	ck_assert(!rvp_rates_of(50e9, 1000, 100).is_memory_bound);
	ck_assert(!rvp_rates_of(10e9, 1000, 500).is_memory_bound);
	rates = rvp_rates_of(1e6, 0, 1);
	ck_assert_double_eq_tol(rates.gflops_per_second, 1000, 1e-9);
	ck_assert_double_eq(rates.computational_efficiency, 1);
	ck_assert_double_eq(rvp_memory_efficiency(10, 10), 1);
	ck_assert_double_eq(rvp_memory_efficiency(5, 10), .5);
	ck_assert_double_eq(rvp_memory_efficiency(20, 10), 1);
	ck_assert_double_eq(rvp_memory_efficiency(5, 0), 1);
	ck_assert_double_eq(rvp_median((double[]){100, 1, 3, 2}, 4), 2.5);
	ck_assert_double_eq(rvp_median((double[]){7}, 1), 7);
	ck_assert(isnan(rvp_median(NULL, 0)));
}
END_TEST

/* The batch's FLOPs by the batch's time; what divided one sample's by it stands beside. */
START_TEST(batch)
{
	struct rvp_profile_base base;
	struct rvp_forward forward;
	struct rvp_backward backward;

	open_network("linear(1024,512)", "32x1024");
	base = rvp_profile_base_of(&network, 4);
	base.latency_ms = 2;
	forward = rvp_forward_of(&base);
	backward = rvp_backward_of(&base, &forward);
	ck_assert_uint_eq(forward.batch_flops, 33554432);
	ck_assert_double_eq(forward.rates.gflops_per_second, 33554432 / 1e9 / .002);
	ck_assert_double_eq(forward.original.gflops_per_second, 1048576 / 1e9 / .002);
	ck_assert_uint_eq(backward.flops, 2097152);
	ck_assert_uint_eq(backward.total_flops, 3145728);
	ck_assert_double_eq(backward.total_latency_ms, 6);
	ck_assert_double_eq(backward.total_memory_mb, 2.001953125 * 2 + .25);
	ck_assert_double_eq_tol(backward.total_gflops_per_second, forward.rates.gflops_per_second, 1e-9);
	ck_assert_double_eq(backward.adam_mb, 2.001953125 * 2);
	rvp_network_close(&network);
}
END_TEST

START_TEST(amounts)
{
	static const struct {
		const char *text;
		uint64_t amount;
	} rows[] = {{"125M", 125000000},    {"7B", 7000000000},
		    {"1.5k", 1500},         {"1e9", 1000000000},
		    {"26214400", 26214400}, {"0", 0},
		    {"1048576", 1048576},   {"9223372036854775807", INT64_MAX}};
	static const char *const wrong[] = {"",     "M",   "-1", "1x", "1MM", "0x10", "9223372036854775808",
					    "1e30", "nan", "1 "};
	uint64_t amount;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		ck_assert_msg(rvp_amount_parse(rows[i].text, &amount), "%s", rows[i].text);
		ck_assert_uint_eq(amount, rows[i].amount);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		ck_assert_msg(!rvp_amount_parse(wrong[i], &amount), "%s", wrong[i]);
}
END_TEST

START_TEST(training)
{
	struct rvp_number_type f32, q8, q4;
	struct rvp_optimizer adam, sgd;
	struct rvp_training memory;

	ck_assert(!rvp_failed(rvp_number_type_of("float32", &f32)));
	ck_assert(!rvp_failed(rvp_number_type_of("Q8_0", &q8)));
	ck_assert(!rvp_failed(rvp_number_type_of("q4_k", &q4)));
	ck_assert(rvp_failed(rvp_number_type_of("q9", &q4)));
	ck_assert(!rvp_failed(rvp_optimizer_of("adam", &adam)));
	ck_assert(!rvp_failed(rvp_optimizer_of("SGD", &sgd)));
	ck_assert(!rvp_failed(rvp_training_of(125000000, f32, adam, &memory)));
	ck_assert_uint_eq(memory.weights_bytes, 500000000);
	ck_assert_uint_eq(memory.gradient_bytes, 500000000);
	ck_assert_uint_eq(memory.optimizer_bytes, 1000000000);
	ck_assert_uint_eq(memory.total_bytes, 2000000000);
	ck_assert(!rvp_failed(rvp_training_of(64, q8, sgd, &memory)));
	ck_assert_uint_eq(memory.weights_bytes, 68);
	ck_assert(!rvp_failed(rvp_training_of(257, q4, sgd, &memory)));
	ck_assert_uint_eq(memory.weights_bytes, 288);
	ck_assert(rvp_failed(rvp_training_of(UINT64_MAX / 8, f32, adam, &memory)));
}
END_TEST

/* One line that names the place; nothing is left behind. */
static const struct {
	const char *spec, *input, *says;
} refused[] = {
    {"linear(64,10)", "32x128",
     "layer 1, linear(64,10): its input is 32x128: rows of 128 values, and it takes 64"},
    {"linear(128,64) relu linear(128,10)", "32x128", "layer 3, linear(128,10): its input is 32x64"},
    {"conv2d(3,8,3)", "32x128", "takes batch x channels x height x width"},
    {"conv2d(4,8,3)", "1x3x8x8", "has 3 channels, and it takes 4"},
    {"conv2d(3,8,3,groups=2)", "1x3x8x8", "2 groups"},
    {"conv2d(3,8,9)", "1x3x8x8", "kernel is larger"},
    {"conv2d(3,8,0)", "1x3x8x8", "1 and more"},
    {"conv2d(3,8,3,stride=0)", "1x3x8x8", "1 and more"},
    {"conv2d(3,0,3)", "1x3x8x8", "groups"},
    {"maxpool2d(0)", "1x3x8x8", "1 and more"},
    {"maxpool2d(2,pad=2)", "1x3x8x8", "padding"},
    {"batchnorm2d(4)", "1x3x8x8", "channels"},
    {"layernorm(0)", "1x8", "1 and more"},
    {"attention(8,3)", "1x4x8", "3 heads"},
    {"attention(8,0)", "1x4x8", "0 heads"},
    {"attention(8,4,kv_heads=3)", "1x4x8", "3 KV heads"},
    {"embedding(10,4)", "1x2x3", "batch x tokens"},
    {"embedding(0,4)", "1x2", "1 and more"},
    {"lineer(1,2)", "1", "did you mean 'linear'?"},
    {"zzzzzz", "1", "there is no layer 'zzzzzz'"},
    {"linear(1)", "1", "linear needs out"},
    {"linear(1,", "1", "at character 10"},
    {"linear(1 2)", "1", "a ')' is missing"},
    {"linear(1,99999999999)", "1", "whole number"},
    {"linear(1x2,3)", "1", "one number is wanted"},
    {"relu*0", "1", "'*'"},
    {"relu*10000 relu", "1", "more than 10000 layers"},
    {"", "1", "no layer"},
    {"()", "1", "a layer's name"},
    {"relu", "", "whole number"},
    {"relu", "0", "whole number"},
    {"relu", "1x2x", "whole number"},
    {"relu", "1,2", "'x' between"},
    {"relu", "1x1x1x1x1x1x1", "more than 6"},
    {"relu", "2147483647x2147483647x2147483647", "63 bits"},
    {"linear(2147483647,2147483647)", "2147483647x2147483647", "64 bits"},
    {"conv2d(1,2147483647,2000000,pad=1000000)", "1x1x9x9", "64 bits"},
};

START_TEST(refusals)
{
	struct rvp_status status = rvp_network_open(&network, refused[_i].spec, refused[_i].input);
	char line[600];

	ck_assert(rvp_failed(status));
	rvp_status_line(&status, line, sizeof line);
	ck_assert_msg(strstr(line, refused[_i].says) != NULL, "%s", line);
	ck_assert_ptr_null(network.layers);
}
END_TEST

/* What a layer is called is read again as the same layer. */
START_TEST(texts)
{
	static const char *const same[] = {"linear(128,64)",
					   "linear(1,2,0)",
					   "conv2d(3,16,3)",
					   "conv2d(3,16,3,2,1)",
					   "conv2d(3,16,5x3,pad=1)",
					   "conv2d(8,8,3,groups=8,bias=0)",
					   "relu",
					   "maxpool2d(2)"};
	char text[RVP_LAYER_TEXT_BYTES];

	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		struct rvp_layer *layers, *again;
		size_t count;

		ck_assert(!rvp_failed(rvp_spec_parse(same[i], &layers, &count)));
		rvp_layer_text(&layers[0], text);
		ck_assert_msg(!rvp_failed(rvp_spec_parse(text, &again, &count)), "%s", text);
		ck_assert_mem_eq(layers[0].arguments, again[0].arguments, sizeof layers[0].arguments);
		free(layers);
		free(again);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model_layers");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, shapes);
	tcase_add_loop_test(tests, worked_counts, 0, sizeof worked / sizeof *worked);
	tcase_add_test(tests, gpt2);
	tcase_add_test(tests, worked_memory);
	tcase_add_test(tests, worked_rates);
	tcase_add_test(tests, batch);
	tcase_add_test(tests, amounts);
	tcase_add_test(tests, training);
	tcase_add_loop_test(tests, refusals, 0, sizeof refused / sizeof *refused);
	tcase_add_test(tests, texts);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
