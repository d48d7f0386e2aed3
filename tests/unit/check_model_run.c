/* SPDX-License-Identifier: MIT */
/* check_model_run.c: what the runner computes, against sums written out by their definitions. Without
 * OpenBLAS each test says so and passes. */
#include "model/measure.h"
#include "model/profile.h"
#include "tests/unit/run_suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rvp_blas blas;
static struct rvp_network network;
static struct rvp_runner runner;
static const float *got;

static bool start(const char *spec, const char *input)
{
	if (rvp_failed(rvp_blas_open(&blas))) {
		printf("no OpenBLAS here\n");
		return false;
	}
	ck_assert(!rvp_failed(rvp_network_open(&network, spec, input)));
	ck_assert(!rvp_failed(rvp_runner_open(&runner, &network, &blas)));
	/* Twice: a run leaves nothing behind that changes the next. */
	rvp_runner_run(&runner);
	got = rvp_runner_run(&runner);
	return true;
}

static void finish(void)
{
	rvp_runner_close(&runner);
	rvp_network_close(&network);
	rvp_blas_close(&blas);
}

static void assert_near(size_t i, double wanted)
{
	ck_assert_msg(fabs(got[i] - wanted) <= 1e-5 * (0.01 + fabs(wanted)), "value %zu is %g, not %g", i,
		      got[i], wanted);
}

START_TEST(linear)
{
	const float *x, *w;

	if (!start("linear(7,5) relu", "2x3x7"))
		return;
	x = runner.input;
	w = runner.parameters[0];
	for (size_t row = 0; row < 6; row++)
		for (size_t out = 0; out < 5; out++) {
			double sum = w[35 + out];

			for (size_t in = 0; in < 7; in++)
				sum += (double)x[row * 7 + in] * w[in * 5 + out];
			assert_near(row * 5 + out, sum > 0 ? sum : 0);
		}
	finish();
}
END_TEST

struct conv {
	const char *spec, *input;
	int in, out, kh, kw, sy, sx, py, px, dy, dx, groups;
};

static const struct conv convolutions[] = {
    {"conv2d(3,4,3)", "2x3x9x8", 3, 4, 3, 3, 1, 1, 0, 0, 1, 1, 1},
    {"conv2d(4,6,5x3,stride=2x1,pad=2x1,groups=2)", "2x4x11x9", 4, 6, 5, 3, 2, 1, 2, 1, 1, 1, 2},
    {"conv2d(2,2,3,dilation=2x1,pad=1)", "1x2x9x9", 2, 2, 3, 3, 1, 1, 1, 1, 2, 1, 1},
    {"conv2d(6,5,1,bias=1)", "3x6x4x4", 6, 5, 1, 1, 1, 1, 0, 0, 1, 1, 1},
    {"conv2d(1,2,2,stride=3x2,pad=5x4)", "1x1x3x4", 1, 2, 2, 2, 3, 2, 5, 4, 1, 1, 1},
    {"conv2d(2,1,3,stride=2,dilation=3,pad=4)", "1x2x6x7", 2, 1, 3, 3, 2, 2, 4, 4, 3, 3, 1},
    {"conv2d(4,4,3,groups=4,pad=1)", "2x4x5x5", 4, 4, 3, 3, 1, 1, 1, 1, 1, 1, 4},
};

static double pixel(const float *x, int height, int width, int channel, int y, int at)
{
	return y < 0 || y >= height || at < 0 || at >= width ? 0 : x[(channel * height + y) * width + at];
}

START_TEST(convolution)
{
	const struct conv *c = &convolutions[_i];
	const uint64_t *in, *out;
	const float *w;
	size_t i = 0;

	if (!start(c->spec, c->input))
		return;
	in = network.layers[0].in.size;
	out = network.layers[0].out.size;
	w = runner.parameters[0];
	for (uint64_t sample = 0; sample < in[0]; sample++)
		for (int o = 0; o < c->out; o++)
			for (int y = 0; y < (int)out[2]; y++)
				for (int x = 0; x < (int)out[3]; x++, i++) {
					int deep = c->in / c->groups, group = o / (c->out / c->groups);
					double sum = w[(size_t)(c->out * deep * c->kh * c->kw + o)];

					for (int d = 0; d < deep; d++)
						for (int ky = 0; ky < c->kh; ky++)
							for (int kx = 0; kx < c->kw; kx++)
								sum +=
								    w[((o * deep + d) * c->kh + ky) * c->kw +
								      kx] *
								    pixel(runner.input +
									      sample * in[1] * in[2] * in[3],
									  (int)in[2], (int)in[3],
									  group * deep + d,
									  y * c->sy + ky * c->dy - c->py,
									  x * c->sx + kx * c->dx - c->px);
					assert_near(i, sum);
				}
	ck_assert_uint_eq(i, rvp_shape_values(&network.layers[0].out));
	finish();
}
END_TEST

/* out[row][to] = bias + sum of x[row][..] w[..][to]. */
static void multiply(const float *x, const float *w, const float *bias, int rows, int in, int out, double *to)
{
	for (int row = 0; row < rows; row++)
		for (int o = 0; o < out; o++) {
			to[row * out + o] = bias[o];
			for (int i = 0; i < in; i++)
				to[row * out + o] += (double)x[row * in + i] * w[i * out + o];
		}
}

/* Two heads each share keys and values: of heads 0 and 1, of 2 and 3. The second of two samples. */
enum { FEATURES = 8, HEADS = 4, WIDTH = 2, KV = 4, TOKENS = 3 };

/* One head's weighted sum of values, of one token. */
static void attend(const double *q, const double *k, const double *v, int head, int token, double *found)
{
	double weight[TOKENS], sum = 0;
	int shared = head / 2 * WIDTH;

	for (int past = 0; past <= token; past++) {
		double score = 0;

		for (int i = 0; i < WIDTH; i++)
			score += q[token * FEATURES + head * WIDTH + i] * k[past * KV + shared + i];
		sum += weight[past] = exp(score / sqrt(WIDTH));
	}
	for (int i = 0; i < WIDTH; i++) {
		found[token * FEATURES + head * WIDTH + i] = 0;
		for (int past = 0; past <= token; past++)
			found[token * FEATURES + head * WIDTH + i] +=
			    weight[past] / sum * v[past * KV + shared + i];
	}
}

START_TEST(attention)
{
	double q[TOKENS * FEATURES], k[TOKENS * KV], v[TOKENS * KV], found[TOKENS * FEATURES];
	const float *x, *w, *out, *bias;

	if (!start("attention(8,4,kv_heads=2)", "2x3x8"))
		return;
	x = runner.input + TOKENS * FEATURES;
	w = runner.parameters[0];
	out = w + FEATURES * (FEATURES + 2 * KV);
	bias = out + FEATURES * FEATURES;
	multiply(x, w, bias, TOKENS, FEATURES, FEATURES, q);
	multiply(x, w + FEATURES * FEATURES, bias + FEATURES, TOKENS, FEATURES, KV, k);
	multiply(x, w + FEATURES * (FEATURES + KV), bias + FEATURES + KV, TOKENS, FEATURES, KV, v);
	for (int head = 0; head < HEADS; head++)
		for (int token = 0; token < TOKENS; token++)
			attend(q, k, v, head, token, found);
	for (int token = 0; token < TOKENS; token++)
		for (int o = 0; o < FEATURES; o++) {
			double sum = bias[FEATURES + 2 * KV + o];

			for (int i = 0; i < FEATURES; i++)
				sum += found[token * FEATURES + i] * out[i * FEATURES + o];
			assert_near((size_t)(TOKENS * FEATURES + token * FEATURES + o), sum);
		}
	finish();
}
END_TEST

/* A block is its parts, one after the other, with what went in added twice. */
START_TEST(block)
{
	const size_t norm = 8, heads = 4 * 16 + 16, values = 12;
	struct rvp_network parts;
	struct rvp_layer *layer;
	float half[12], out[12], inner[24], room[200];
	const float *w;

	if (!start("block(4,2,hidden=8)", "1x3x4"))
		return;
	ck_assert(!rvp_failed(rvp_network_open(
	    &parts, "layernorm(4) attention(4,2) layernorm(4) linear(4,8) gelu linear(8,4)", "1x3x4")));
	ck_assert_uint_eq(parts.total.parameters, network.total.parameters);
	layer = parts.layers;
	w = runner.parameters[0];
	rvp_layer_run(&blas, &layer[0], w, runner.input, out, room);
	rvp_layer_run(&blas, &layer[1], w + norm, out, half, room);
	for (size_t i = 0; i < values; i++)
		half[i] += runner.input[i];
	rvp_layer_run(&blas, &layer[2], w + norm + heads, half, out, room);
	rvp_layer_run(&blas, &layer[3], w + 2 * norm + heads, out, inner, room);
	rvp_layer_run(&blas, &layer[4], NULL, inner, inner, room);
	rvp_layer_run(&blas, &layer[5], w + 2 * norm + heads + 40, inner, out, room);
	for (size_t i = 0; i < values; i++)
		assert_near(i, half[i] + out[i]);
	rvp_network_close(&parts);
	finish();
}
END_TEST

/* Rows of a softmax sum to 1, of a layernorm with scale 1 have mean 0: by the same weights, so by identities.
 */
START_TEST(loops)
{
	if (!start("softmax", "3x10"))
		return;
	for (size_t row = 0; row < 3; row++) {
		double sum = 0;

		for (size_t i = 0; i < 10; i++) {
			sum += got[row * 10 + i];
			ck_assert_double_eq_tol(got[row * 10 + i] / got[row * 10],
						exp(runner.input[row * 10 + i] - runner.input[row * 10]),
						1e-5);
		}
		ck_assert_double_eq_tol(sum, 1, 1e-5);
	}
	finish();
	ck_assert(start("maxpool2d(2)", "1x2x4x4"));
	for (size_t i = 0; i < 8; i++) {
		size_t at = i / 4 * 16 + i % 4 / 2 * 8 + i % 2 * 2;

		assert_near(i, fmax(fmax(runner.input[at], runner.input[at + 1]),
				    fmax(runner.input[at + 4], runner.input[at + 5])));
	}
	finish();
	/* Of a padded corner only what is there. */
	ck_assert(start("avgpool2d(3,2,1)", "1x1x3x3"));
	assert_near(0, ((double)runner.input[0] + runner.input[1] + runner.input[3] + runner.input[4]) / 4);
	finish();
	ck_assert(start("identity dropout flatten", "2x3x2"));
	ck_assert_ptr_eq(got, runner.input);
	finish();
	ck_assert(start("globalavgpool2d", "2x3x2x2"));
	assert_near(5,
		    ((double)runner.input[20] + runner.input[21] + runner.input[22] + runner.input[23]) / 4);
	finish();
	ck_assert(start("sum", "2x5"));
	assert_near(1, (double)runner.input[5] + runner.input[6] + runner.input[7] + runner.input[8] +
			   runner.input[9]);
	finish();
}
END_TEST

START_TEST(times)
{
	struct rvp_measured measured;

	if (!start("linear(64,64) relu", "8x64"))
		return;
	ck_assert(!rvp_failed(rvp_measure(&network, (struct rvp_measure_wish){2, 9, 1}, &measured)));
	ck_assert_int_eq(measured.threads, 1);
	ck_assert(measured.least_ms > 0 && measured.least_ms <= measured.latency_ms &&
		  measured.latency_ms <= measured.most_ms && measured.std_ms >= 0);
	ck_assert(measured.layer_ms[0] > 0 && measured.layer_ms[1] > 0);
	rvp_measured_free(&measured);
	ck_assert(!rvp_failed(rvp_measure(&network, (struct rvp_measure_wish){0, 0, 1}, &measured)));
	ck_assert(isnan(measured.latency_ms));
	rvp_measured_free(&measured);
	finish();
}
END_TEST

START_TEST(too_large)
{
	struct rvp_measured measured;
	struct rvp_status status;

	if (!start("relu", "1"))
		return;
	finish();
	ck_assert(!rvp_failed(rvp_network_open(&network, "linear(2000000,2000000)", "1x2000000")));
	status = rvp_measure(&network, (struct rvp_measure_wish){1, 1, 1}, &measured);
	ck_assert(rvp_failed(status) && strstr(status.detail, "MiB are free"));
	rvp_network_close(&network);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("model_run");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, linear);
	tcase_add_loop_test(tests, convolution, 0, sizeof convolutions / sizeof *convolutions);
	tcase_add_test(tests, attention);
	tcase_add_test(tests, block);
	tcase_add_test(tests, loops);
	tcase_add_test(tests, times);
	tcase_add_test(tests, too_large);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
