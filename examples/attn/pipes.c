/* SPDX-License-Identifier: MIT */
/* pipes.c: attn gate, coherence and hysteresis: JSON in, JSON out. */
#include "coherence.h"
#include "commands.h"
#include "mincut.h"
#include "numbers.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

enum { WRONG_INPUT = 2 };

static void put_mask(const bool *mask, size_t count)
{
	putchar('[');
	for (size_t i = 0; i < count; i++)
		printf("%s%s", i ? "," : "", mask[i] ? "true" : "false");
	putchar(']');
}

/* ---- gate ---- */

/* Rows one after the other; NULL with a line said: they are no square. */
static float *square_of(const json_t *rows, size_t *n)
{
	float *square = calloc(json_array_size(rows) * json_array_size(rows) + 1, sizeof *square);
	const json_t *row;
	size_t i;

	*n = json_array_size(rows);
	if (!json_is_array(rows) || !square)
		return complain("gate", "standard input is no list of rows"), free(square), NULL;
	json_array_foreach(rows, i, row)
	{
		size_t count = 0;
		float *floats = floats_of("gate", "a row", row, &count);

		if (!floats || count != *n) {
			if (floats)
				complain("gate", "row %zu has %zu numbers where %zu rows are", i + 1, count,
					 *n);
			return free(floats), free(square), NULL;
		}
		memcpy(square + i * *n, floats, count * sizeof *floats);
		free(floats);
	}
	return square;
}

int attn_gate(int argc, char **argv)
{
	float lambda = 0.5f, eps = 0.01f, *logits;
	const struct word words[] = {{"--lambda", WORD_FLOAT, &lambda}, {"--eps", WORD_FLOAT, &eps}, {0}};
	json_t *input = words_read("gate", argc, argv, words) ? read_input("gate") : NULL;
	struct gate gate;
	size_t n = 0;

	logits = input ? square_of(input, &n) : NULL;
	json_decref(input);
	if (!logits || !gate_make(&gate, logits, n, lambda, eps))
		return free(logits), WRONG_INPUT;
	printf("{\"keep_mask\":");
	put_mask(gate.keep, n * n);
	printf(",\"cut_cost\":");
	put_float(stdout, gate.cut_cost);
	printf(",\"edges_kept\":%zu,\"edges_total\":%zu}\n", gate.edges_kept, gate.edges_total);
	gate_free(&gate);
	free(logits);
	return 0;
}

/* ---- coherence ---- */

struct pair {
	float *baseline, *gated;
	size_t baseline_count, gated_count;
};

static void pair_free(struct pair *pair)
{
	free(pair->baseline);
	free(pair->gated);
}

static bool pair_read(struct pair *pair, const json_t *baseline, const json_t *gated)
{
	pair->baseline = floats_of("coherence", "baseline", baseline, &pair->baseline_count);
	pair->gated = pair->baseline ? floats_of("coherence", "gated", gated, &pair->gated_count) : NULL;
	return pair->gated;
}

static size_t both(const struct pair *pair)
{
	return pair->baseline_count < pair->gated_count ? pair->baseline_count : pair->gated_count;
}

static void put_key(const char *key, double value)
{
	printf("\"%s\":", key);
	put_double(stdout, value);
}

static void put_pair(const struct pair *pair)
{
	struct behaviour behaviour = behaviour_of(pair->baseline, pair->gated, both(pair));

	putchar('{');
	put_key("coherence_delta", behaviour.coherence_delta);
	printf(",\"decision_flips\":%zu,", behaviour.decision_flips);
	put_key("path_length_change", behaviour.path_length_change);
	putchar(',');
	put_key("cosine", cosine_of(pair->baseline, pair->gated, both(pair)));
	putchar(',');
	put_key("l2", l2_distance(pair->baseline, pair->baseline_count, pair->gated, pair->gated_count));
	puts("}");
}

/* Lists of lists: a delta each, their mean with its interval, and the share whose cosine reaches the
 * threshold. */
static bool put_batch(const json_t *baseline, const json_t *gated, double threshold)
{
	size_t count = json_array_size(baseline), passed = 0;
	double *deltas = calloc(count + 1, sizeof *deltas);
	struct batch batch;
	bool is_good = deltas && count == json_array_size(gated);

	if (!is_good)
		complain("coherence", "baseline and gated have different numbers of lists");
	for (size_t i = 0; is_good && i < count; i++) {
		struct pair pair = {.gated = NULL};

		is_good = pair_read(&pair, json_array_get(baseline, i), json_array_get(gated, i));
		if (is_good) {
			deltas[i] = behaviour_of(pair.baseline, pair.gated, both(&pair)).coherence_delta;
			passed += cosine_of(pair.baseline, pair.gated, both(&pair)) >= threshold;
		}
		pair_free(&pair);
	}
	if (is_good) {
		batch = batch_of(deltas, count);
		putchar('{');
		put_key("mean_coherence_delta", batch.mean);
		printf(",\"n_samples\":%zu,", count);
		put_key("std", batch.std);
		printf(",\"ci_95\":[");
		put_double(stdout, batch.low);
		putchar(',');
		put_double(stdout, batch.high);
		printf("],");
		put_key("pass_rate", count ? (double)passed / (double)count : 0);
		puts("}");
	}
	free(deltas);
	return is_good;
}

static bool put_masks(const json_t *baseline, const json_t *gated)
{
	size_t baseline_count = 0, gated_count = 0;
	bool *one = mask_of("coherence", "baseline", baseline, &baseline_count);
	bool *other = one ? mask_of("coherence", "gated", gated, &gated_count) : NULL;
	struct mask_difference difference;

	if (other) {
		difference = mask_difference_of(one, baseline_count, other, gated_count);
		putchar('{');
		put_key("jaccard", difference.jaccard);
		printf(",\"edge_flips\":%zu,\"baseline_edges\":%zu,\"gated_edges\":%zu,",
		       difference.edge_flips, difference.baseline_edges, difference.gated_edges);
		put_key("sparsity_ratio", difference.sparsity_ratio);
		puts("}");
	}
	free(one);
	free(other);
	return other;
}

static bool put_floats(const json_t *baseline, const json_t *gated)
{
	struct pair pair = {.gated = NULL};
	bool is_good = pair_read(&pair, baseline, gated);

	if (is_good)
		put_pair(&pair);
	pair_free(&pair);
	return is_good;
}

/* Numbers, lists of numbers, or truth values. */
static bool put_coherence(const json_t *input, float threshold)
{
	const json_t *baseline = json_object_get(input, "baseline"), *gated = json_object_get(input, "gated");
	const json_t *first = json_array_get(json_array_size(baseline) ? baseline : gated, 0);

	if (!json_is_array(baseline) || !json_is_array(gated))
		return complain("coherence", "standard input has no lists \"baseline\" and \"gated\"");
	if (json_is_array(first))
		return put_batch(baseline, gated, (double)threshold);
	return json_is_boolean(first) ? put_masks(baseline, gated) : put_floats(baseline, gated);
}

int attn_coherence(int argc, char **argv)
{
	float threshold = 0.5f;
	const struct word words[] = {{"--threshold", WORD_FLOAT, &threshold}, {0}};
	json_t *input = words_read("coherence", argc, argv, words) ? read_input("coherence") : NULL;
	bool is_good = input && put_coherence(input, threshold);

	json_decref(input);
	return is_good ? 0 : WRONG_INPUT;
}

/* ---- hysteresis ---- */

int attn_hysteresis(int argc, char **argv)
{
	struct hysteresis state = {.tau = 2};
	uint64_t tau = state.tau;
	const struct word words[] = {{"--tau", WORD_COUNT, &tau}, {0}};
	json_t *input = words_read("hysteresis", argc, argv, words) ? read_input("hysteresis") : NULL;
	bool is_good = json_is_array(input);
	const json_t *list;
	size_t i;

	if (input && !is_good)
		complain("hysteresis", "standard input is no list of masks");
	state.tau = tau;
	json_array_foreach(input, i, list)
	{
		size_t count = 0;
		bool *mask = is_good ? mask_of("hysteresis", "a mask", list, &count) : NULL;

		is_good = mask && hysteresis_apply(&state, mask, count);
		if (is_good) {
			put_mask(mask, count);
			putchar('\n');
		}
		free(mask);
	}
	hysteresis_free(&state);
	json_decref(input);
	return is_good ? 0 : WRONG_INPUT;
}
