/* SPDX-License-Identifier: MIT */
/* hand_realloc.c: a decoder whose cache grows by realloc, a row a token; one fread a tensor, prompt and
 * output alike token by token.
 *
 * Usage: hand_realloc make FILE | hand_realloc FILE
 */
#include "account.h"
#include "vectors.h"

#include <stdlib.h>

enum { LAYERS = 5, WIDTH = 288, HIDDEN = 760, WORDS = 2100, PROMPT = 17, OUTPUT = 150, TENSORS = 6 };

struct layer {
	float *tensor[TENSORS]; /* norm, query, key, value, up, down */
	float *keys, *values;
	size_t tokens;
};
static const size_t sizes[TENSORS] = {WIDTH,        WIDTH *WIDTH,  WIDTH *WIDTH,
				      WIDTH *WIDTH, HIDDEN *WIDTH, HIDDEN *WIDTH};
static struct layer layers[LAYERS];
static float *words;

static void make(const char *path)
{
	FILE *file = fopen(path, "wb");
	size_t count = (size_t)WORDS * WIDTH;
	unsigned state = 1;

	for (int i = 0; i < TENSORS; i++)
		count += sizes[i] * LAYERS;
	while (file && count--) {
		float value = noise(&state);

		fwrite(&value, sizeof value, 1, file);
	}
	if (!file || fclose(file))
		exit(1);
}

static float *tensor_from(FILE *file, size_t count)
{
	float *tensor = malloc(count * sizeof *tensor);

	hold(WEIGHTS, (int64_t)(count * sizeof *tensor));
	if (!tensor || fread(tensor, sizeof *tensor, count, file) != count)
		exit(1);
	return tensor;
}

static void load(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (!file)
		exit(1);
	words = tensor_from(file, (size_t)WORDS * WIDTH);
	for (int i = 0; i < LAYERS; i++)
		for (int j = 0; j < TENSORS; j++)
			layers[i].tensor[j] = tensor_from(file, sizes[j]);
	fclose(file);
}

static float *result(enum purpose purpose, size_t count)
{
	hold(purpose, (int64_t)(count * sizeof(float)));
	return calloc(count, sizeof(float));
}

static void drop(enum purpose purpose, float *block, size_t count)
{
	let_go(purpose, (int64_t)(count * sizeof(float)));
	free(block);
}

static void remember(struct layer *layer, const float *in)
{
	size_t bytes = (layer->tokens + 1) * WIDTH * sizeof(float);

	hold(KV_CACHE, 2 * WIDTH * (int64_t)sizeof(float));
	layer->keys = realloc(layer->keys, bytes);
	layer->values = realloc(layer->values, bytes);
	product(layer->keys + layer->tokens * WIDTH, layer->tensor[2], in, WIDTH, WIDTH);
	product(layer->values + layer->tokens * WIDTH, layer->tensor[3], in, WIDTH, WIDTH);
	layer->tokens++;
}

static void attend(struct layer *layer, const float *in, float *out)
{
	float *query = result(TEMP, WIDTH), *scores = result(TEMP, layer->tokens);

	product(query, layer->tensor[1], in, WIDTH, WIDTH);
	product(scores, layer->keys, query, layer->tokens, WIDTH);
	for (size_t t = 0; t < layer->tokens; t++)
		for (size_t i = 0; i < WIDTH; i++)
			out[i] += scores[t] * layer->values[t * WIDTH + i] / (float)layer->tokens;
	drop(TEMP, scores, layer->tokens);
	drop(TEMP, query, WIDTH);
}

static void feed(struct layer *layer, const float *in, float *out)
{
	float *hidden = result(TEMP, HIDDEN);

	product(hidden, layer->tensor[4], in, HIDDEN, WIDTH);
	for (size_t i = 0; i < HIDDEN; i++)
		for (size_t j = 0; j < WIDTH; j += 16)
			out[j] += hidden[i] * layer->tensor[5][i * WIDTH + j] / HIDDEN;
	drop(TEMP, hidden, HIDDEN);
}

static size_t step(size_t token)
{
	float *kept[LAYERS], *scores;
	const float *in = words + token * WIDTH;
	size_t best = 0;

	for (int i = 0; i < LAYERS; i++) {
		kept[i] = result(ACTIVATION, WIDTH);
		remember(&layers[i], in);
		attend(&layers[i], in, kept[i]);
		feed(&layers[i], in, kept[i]);
		in = kept[i];
	}
	scores = result(ACTIVATION, WORDS);
	product(scores, words, in, WORDS, WIDTH);
	for (size_t i = 1; i < WORDS; i++)
		best = scores[i] > scores[best] ? i : best;
	drop(ACTIVATION, scores, WORDS);
	for (int i = 0; i < LAYERS; i++)
		drop(ACTIVATION, kept[i], WIDTH);
	account_steps++;
	return best;
}

int main(int argc, char **argv)
{
	size_t token = 1;

	if (argc == 3) {
		make(argv[2]);
		return 0;
	}
	load(argv[1]);
	for (int i = 0; i < PROMPT; i++)
		step((size_t)i * 37 % WORDS);
	for (int i = 0; i < OUTPUT; i++)
		token = step(token);
	printf("token %zu\n", token);
	account_print();
	return 0;
}
