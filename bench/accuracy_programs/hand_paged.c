/* SPDX-License-Identifier: MIT */
/* hand_paged.c: a decoder whose cache is a list of pages of PAGE tokens, each page holding the keys and
 * values of one layer. Weights: a block a layer for the matrices and a small one for the norms, filled by
 * pread().
 *
 * Usage: hand_paged make FILE | hand_paged FILE
 */
#include "account.h"
#include "vectors.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { LAYERS = 6, WIDTH = 256, WORDS = 3000, PROMPT = 40, OUTPUT = 260, PAGE = 8, MAX_PAGES = 64 };
enum { MATRICES = 4 * WIDTH * WIDTH, NORMS = 2 * WIDTH, PAGE_BYTES = PAGE * 2 * WIDTH * sizeof(float) };

struct layer {
	float *matrices, *norms;
	float *pages[MAX_PAGES];
};
static struct layer layers[LAYERS];
static float *words;
static size_t held;

static void make(const char *path)
{
	FILE *file = fopen(path, "wb");
	size_t count = (size_t)WORDS * WIDTH + LAYERS * (size_t)(MATRICES + NORMS);
	unsigned state = 3;

	while (file && count--) {
		float value = noise(&state);

		fwrite(&value, sizeof value, 1, file);
	}
	if (!file || fclose(file))
		exit(1);
}

static float *part_of(int file, off_t *from, size_t count)
{
	size_t bytes = count * sizeof(float);
	float *block = aligned_alloc(64, bytes);

	hold(WEIGHTS, (int64_t)bytes);
	if (!block || pread(file, block, bytes, *from) != (ssize_t)bytes)
		exit(1);
	*from += (off_t)bytes;
	return block;
}

static void load(const char *path)
{
	int file = open(path, O_RDONLY);
	off_t from = 0;

	words = part_of(file, &from, (size_t)WORDS * WIDTH);
	for (int i = 0; i < LAYERS; i++) {
		layers[i].norms = part_of(file, &from, NORMS);
		layers[i].matrices = part_of(file, &from, MATRICES);
	}
	close(file);
}

static float *place_of(struct layer *layer, size_t token)
{
	float **page = &layer->pages[token / PAGE];

	if (!*page) {
		hold(KV_CACHE, PAGE_BYTES);
		*page = malloc(PAGE_BYTES);
	}
	return *page + token % PAGE * 2 * WIDTH;
}

static void attend(struct layer *layer, const float *in, float *out)
{
	size_t tokens = held + 1;
	float *query = malloc(WIDTH * sizeof *query), *scores = malloc(tokens * sizeof *scores);

	hold(TEMP, (int64_t)((WIDTH + tokens) * sizeof *scores));
	product(query, layer->matrices, in, WIDTH, WIDTH);
	for (size_t t = 0; t < tokens; t++)
		scores[t] = dot(place_of(layer, t), query, WIDTH) / (float)tokens;
	for (size_t t = 0; t < tokens; t++)
		for (size_t i = 0; i < WIDTH; i++)
			out[i] += scores[t] * place_of(layer, t)[WIDTH + i];
	free(scores);
	free(query);
	let_go(TEMP, (int64_t)((WIDTH + tokens) * sizeof *scores));
}

static float *through(struct layer *layer, float *in)
{
	float *out = calloc(WIDTH, sizeof *out), *row = place_of(layer, held), *hidden;

	hold(ACTIVATION, WIDTH * (int64_t)sizeof *out);
	product(row, layer->matrices + WIDTH * WIDTH, in, WIDTH, WIDTH);
	product(row + WIDTH, layer->matrices + 2 * WIDTH * WIDTH, in, WIDTH, WIDTH);
	attend(layer, in, out);
	hidden = malloc(WIDTH * sizeof *hidden);
	hold(TEMP, WIDTH * (int64_t)sizeof *hidden);
	product(hidden, layer->matrices + 3 * WIDTH * WIDTH, in, WIDTH, WIDTH);
	for (size_t i = 0; i < WIDTH; i++)
		out[i] = (out[i] + hidden[i]) * (1 + layer->norms[i]) / 2;
	free(hidden);
	let_go(TEMP, WIDTH * (int64_t)sizeof *hidden);
	return out;
}

static size_t step(size_t token)
{
	float *results[LAYERS], *in = words + token * WIDTH, *scores;
	size_t best = 0;

	for (int i = 0; i < LAYERS; i++)
		in = results[i] = through(&layers[i], in);
	scores = malloc(WORDS * sizeof *scores);
	hold(ACTIVATION, WORDS * (int64_t)sizeof *scores);
	product(scores, words, in, WORDS, WIDTH);
	for (size_t i = 1; i < WORDS; i++)
		best = scores[i] > scores[best] ? i : best;
	free(scores);
	let_go(ACTIVATION, WORDS * (int64_t)sizeof *scores);
	for (int i = 0; i < LAYERS; i++)
		free(results[i]);
	let_go(ACTIVATION, LAYERS * WIDTH * (int64_t)sizeof *in);
	held++;
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
