/* SPDX-License-Identifier: MIT */
/* hand_copy.c: a decoder whose cache is made anew at every step (new block, copy, old one freed), keys and
 * values together. All weights lie in one block, filled by read() in small pieces; the prompt is one batch.
 *
 * Usage: hand_copy make FILE | hand_copy FILE
 */
#include "account.h"
#include "vectors.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { LAYERS = 4, WIDTH = 320, HIDDEN = 640, WORDS = 1500, PROMPT = 23, OUTPUT = 130, PIECE = 6000 };
enum { A_LAYER = WIDTH + 3 * WIDTH * WIDTH + HIDDEN * WIDTH, ALL = WORDS * WIDTH + LAYERS * A_LAYER };

static float *weights, *cache[LAYERS];
static size_t held; /* tokens in the cache */

static void make(const char *path)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	unsigned state = 7;

	for (int i = 0; i < ALL; i += WIDTH) {
		float row[WIDTH];

		for (int j = 0; j < WIDTH; j++)
			row[j] = noise(&state);
		if (write(file, row, sizeof row) != sizeof row)
			exit(1);
	}
	close(file);
}

static void load(const char *path)
{
	int file = open(path, O_RDONLY);
	size_t bytes = (size_t)ALL * sizeof *weights;
	char *at = malloc(bytes), *end = at + bytes;

	hold(WEIGHTS, (int64_t)bytes);
	weights = (float *)at;
	while (at < end) {
		ssize_t got = read(file, at, end - at < PIECE ? (size_t)(end - at) : PIECE);

		if (got <= 0)
			exit(1);
		at += got;
	}
	close(file);
}

static float *extended(float *old, size_t add)
{
	size_t before = held * 2 * WIDTH, after = (held + add) * 2 * WIDTH;
	float *block = malloc(after * sizeof *block);

	hold(KV_CACHE, (int64_t)(after * sizeof *block));
	if (old)
		memcpy(block, old, before * sizeof *block);
	free(old);
	let_go(KV_CACHE, (int64_t)(before * sizeof *block));
	return block;
}

static void attend(const float *layer, const float *rows, const float *in, float *out, size_t tokens)
{
	size_t bytes = (WIDTH + tokens) * sizeof(float);
	float *query = malloc(bytes), *scores = query + WIDTH;

	hold(TEMP, (int64_t)bytes);
	product(query, layer + WIDTH, in, WIDTH, WIDTH);
	for (size_t t = 0; t < tokens; t++)
		scores[t] = dot(rows + t * 2 * WIDTH, query, WIDTH) / (float)tokens;
	for (size_t t = 0; t < tokens; t++)
		for (size_t i = 0; i < WIDTH; i++)
			out[i] += scores[t] * rows[t * 2 * WIDTH + WIDTH + i];
	free(query);
	let_go(TEMP, (int64_t)bytes);
}

static void through(const float *layer, float **rows, const float *in, float *out, size_t batch)
{
	size_t hidden_bytes = batch * HIDDEN * sizeof(float);
	float *hidden;

	*rows = extended(*rows, batch);
	for (size_t b = 0; b < batch; b++) {
		float *row = *rows + (held + b) * 2 * WIDTH;

		product(row, layer + WIDTH + WIDTH * WIDTH, in + b * WIDTH, WIDTH, WIDTH);
		product(row + WIDTH, layer + WIDTH + 2 * WIDTH * WIDTH, in + b * WIDTH, WIDTH, WIDTH);
		attend(layer, *rows, in + b * WIDTH, out + b * WIDTH, held + b + 1);
	}
	hidden = malloc(hidden_bytes);
	hold(TEMP, (int64_t)hidden_bytes);
	for (size_t b = 0; b < batch; b++)
		product(hidden + b * HIDDEN, layer + WIDTH + 3 * WIDTH * WIDTH, in + b * WIDTH, HIDDEN,
			WIDTH);
	for (size_t b = 0; b < batch * WIDTH; b++)
		out[b] += in[b] + hidden[b / WIDTH * HIDDEN + b % WIDTH];
	free(hidden);
	let_go(TEMP, (int64_t)hidden_bytes);
}

static size_t chosen(const float *in)
{
	float *scores = malloc(WORDS * sizeof *scores);
	size_t best = 0;

	hold(ACTIVATION, WORDS * (int64_t)sizeof *scores);
	product(scores, weights, in, WORDS, WIDTH);
	for (size_t i = 1; i < WORDS; i++)
		best = scores[i] > scores[best] ? i : best;
	free(scores);
	let_go(ACTIVATION, WORDS * (int64_t)sizeof *scores);
	return best;
}

static size_t step(const size_t *tokens, size_t batch)
{
	size_t bytes = batch * WIDTH * sizeof(float), next;
	float *in = malloc(bytes), *out;

	hold(ACTIVATION, (int64_t)bytes);
	for (size_t b = 0; b < batch; b++)
		memcpy(in + b * WIDTH, weights + tokens[b] * WIDTH, WIDTH * sizeof(float));
	for (int i = 0; i < LAYERS; i++) {
		out = calloc(batch * WIDTH, sizeof(float));
		hold(ACTIVATION, (int64_t)bytes);
		through(weights + WORDS * WIDTH + i * A_LAYER, &cache[i], in, out, batch);
		for (size_t b = 0; b < batch * WIDTH; b++)
			out[b] = out[b] > 2 ? 2 : out[b] < -2 ? -2 : out[b];
		free(in);
		let_go(ACTIVATION, (int64_t)bytes);
		in = out;
	}
	held += batch;
	next = chosen(in + (batch - 1) * WIDTH);
	free(in);
	let_go(ACTIVATION, (int64_t)bytes);
	account_steps++;
	return next;
}

int main(int argc, char **argv)
{
	size_t prompt[PROMPT], token;

	if (argc == 3) {
		make(argv[2]);
		return 0;
	}
	load(argv[1]);
	for (size_t i = 0; i < PROMPT; i++)
		prompt[i] = i * 61 % WORDS;
	token = step(prompt, PROMPT);
	for (int i = 0; i < OUTPUT; i++)
		token = step(&token, 1);
	printf("token %zu\n", token);
	account_print();
	return 0;
}
