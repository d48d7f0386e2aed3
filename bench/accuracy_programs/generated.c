/* SPDX-License-Identifier: MIT */
/* generated.c: a decoder without names, whose sizes, order and ways shape.h says (generate.c makes it from a
 * seed). It is compiled with -O2 -s, so no name of it is left.
 *
 * Usage: generated make FILE | generated FILE
 */
#include "account.h"
#include "shape.h"
#include "vectors.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef CALLS_deep
#define CALL static __attribute__((noinline))
#else
#define CALL static inline
#endif
#if defined STYLE_tokens || defined STYLE_transposed || defined STYLE_ring
#define IS_FIXED 1
#else
#define IS_FIXED 0
#endif
#ifdef PAIR_joint
enum { PARTS = 1, ROW = 2 * WIDTH };
#else
enum { PARTS = 2, ROW = WIDTH };
#endif
enum { TENSORS = 6, TOKENS = PROMPT + OUTPUT, PLACES = TOKENS * ROOM, SHIFT = PLACES - TOKENS - 3 };
enum { MATRIX = WIDTH * WIDTH, NORM = 0, QUERY, KEY, VALUE, UP, DOWN };
enum { A_LAYER = WIDTH + 3 * MATRIX + 2 * HIDDEN * WIDTH, ALL = WORDS * WIDTH + LAYERS * A_LAYER };

struct layer {
	float *tensor[TENSORS];
	float *part[2]; /* the cache: joint rows, or keys and values apart */
	float *pages[TOKENS / PAGE + 1];
	size_t room;
};
static const size_t sizes[TENSORS] = {WIDTH, MATRIX, MATRIX, MATRIX, HIDDEN *WIDTH, HIDDEN *WIDTH};
static const int order[TENSORS] = ORDER;
static struct layer layers[LAYERS];
static float *words, *moments[2], *scratch, *book;
static char *record, *text;
static void *noises[64];
static size_t held, moments_count, text_room, text_used;

static void *checked(void *block)
{
	if (!block)
		_exit(3);
	return block;
}

/* ---- the file ---- */

static void make(const char *path)
{
	FILE *file = fopen(path, "wb");
	unsigned state = 11;

	for (int i = 0; file && i < HEADER_BYTES; i++)
		fputc('#', file);
	for (size_t i = 0; file && i < ALL; i++) {
		float value = noise(&state);

		fwrite(&value, sizeof value, 1, file);
	}
	if (!file || fclose(file))
		exit(1);
}

struct input {
	FILE *stream;
	int file;
	off_t at;
};

static void fill(struct input *input, float *block, size_t count)
{
	char *to = (char *)block, *end = (char *)(block + count);

	while (to < end) {
		size_t want = (size_t)(end - to) < PIECE_BYTES ? (size_t)(end - to) : PIECE_BYTES;
#if defined READ_fread
		ssize_t got = (ssize_t)fread(to, 1, want, input->stream);
#elif defined READ_pread
		ssize_t got = pread(input->file, to, want, input->at);
#else
		ssize_t got = read(input->file, to, want);
#endif
		if (got <= 0)
			exit(1);
		input->at += got;
		to += got;
	}
}

static float *request(enum purpose purpose, size_t count)
{
	size_t bytes = count * sizeof(float);

	hold(purpose, (int64_t)bytes);
#if defined GET_calloc
	return checked(calloc(count, sizeof(float)));
#elif defined GET_aligned
	void *block = NULL;

	return posix_memalign(&block, 64, bytes) ? checked(NULL) : block;
#else
	return checked(malloc(bytes));
#endif
}

#ifdef READ_mmap
static void load(const char *path)
{
	int file = open(path, O_RDONLY);
	size_t bytes = HEADER_BYTES + ALL * sizeof(float);
	char *map = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
	float *at = (float *)(map + HEADER_BYTES);

	if (map == MAP_FAILED)
		exit(1);
	hold(WEIGHTS, (int64_t)bytes);
	close(file);
	words = at;
	at += (size_t)WORDS * WIDTH;
	for (int i = 0; i < LAYERS; i++)
		for (int j = 0; j < TENSORS; j++) {
			layers[i].tensor[order[j]] = at;
			at += sizes[order[j]];
		}
}
#else

/* A part of the file: of its own, or of the block that it lies in. */
CALL float *part_of(struct input *input, float **within, size_t count)
{
	float *block = *within;

	if (block)
		*within += count;
	else
		block = request(WEIGHTS, count);
	fill(input, block, count);
	return block;
}

static void load_layers(struct input *input, float *within)
{
	for (int i = 0; i < LAYERS; i++) {
#ifdef BLOCKS_layer
		within = request(WEIGHTS, A_LAYER);
#endif
		for (int j = 0; j < TENSORS; j++)
			layers[i].tensor[order[j]] = part_of(input, &within, sizes[order[j]]);
	}
}

static void load(const char *path)
{
	struct input input = {fopen(path, "rb"), open(path, O_RDONLY), HEADER_BYTES};
	float *within = NULL, *own = NULL;

	if (!input.stream || fseek(input.stream, HEADER_BYTES, SEEK_SET) ||
	    lseek(input.file, HEADER_BYTES, SEEK_SET) < 0)
		exit(1);
#ifdef BLOCKS_whole
	within = request(WEIGHTS, ALL);
#endif
	(void)own;
#ifdef WORDS_first
	words = part_of(&input, within ? &within : &own, (size_t)WORDS * WIDTH);
	load_layers(&input, within);
#else
	load_layers(&input, within);
	within = within ? within + (size_t)LAYERS * A_LAYER : NULL;
	words = part_of(&input, &within, (size_t)WORDS * WIDTH);
#endif
	fclose(input.stream);
	close(input.file);
}
#endif

/* ---- the cache ---- */

/* Element i of the key (which 0) or value (1) of a token. */
static inline float *cell(struct layer *layer, int which, size_t token, size_t i)
{
#ifdef STYLE_paged
	return layer->pages[token / PAGE] + (token % PAGE * 2 + (size_t)which) * WIDTH + i;
#else
	float *part = layer->part[which % PARTS];
	size_t within = PARTS == 1 ? (size_t)which * WIDTH + i : i;

#if defined STYLE_transposed
	return part + within * PLACES + token;
#elif defined STYLE_ring
	return part + (token + SHIFT) % PLACES * ROW + within;
#else
	return part + token * ROW + within;
#endif
#endif
}

#if IS_FIXED
static void open_cache(void)
{
	for (int i = 0; i < LAYERS; i++)
		for (int j = 0; j < PARTS; j++)
			layers[i].part[j] = request(KV_CACHE, (size_t)PLACES * ROW);
}
#define make_room(layer, count) ((void)(layer), (void)(count))
#elif defined STYLE_paged
CALL void make_room(struct layer *layer, size_t count)
{
	for (size_t page = held / PAGE; page <= (held + count - 1) / PAGE; page++)
		if (!layer->pages[page])
			layer->pages[page] = request(KV_CACHE, (size_t)PAGE * 2 * WIDTH);
}
#else
CALL float *grown(float *old, size_t before, size_t after)
{
#ifdef STYLE_copy
	float *block = request(KV_CACHE, after);

	if (old)
		memcpy(block, old, before * sizeof *block);
	free(old);
	let_go(KV_CACHE, (int64_t)(before * sizeof *block));
	return block;
#else
	hold(KV_CACHE, (int64_t)((after - before) * sizeof *old));
	return checked(realloc(old, after * sizeof *old));
#endif
}

CALL void make_room(struct layer *layer, size_t count)
{
	size_t room = held + count;

#ifdef STYLE_double
	if (room <= layer->room)
		return;
	room = room > 2 * layer->room ? room : 2 * layer->room;
#endif
	for (int i = 0; i < PARTS; i++)
		layer->part[i] = grown(layer->part[i], layer->room * ROW, room * ROW);
	layer->room = room;
}
#endif

/* ---- a step ---- */

static void drop(enum purpose purpose, float *block, size_t count)
{
	let_go(purpose, (int64_t)(count * sizeof *block));
	free(block);
}

CALL void attend(struct layer *layer, const float *in, float *out, size_t tokens)
{
	float *query = request(TEMP, WIDTH), *scores = request(TEMP, tokens);

	product(query, layer->tensor[QUERY], in, WIDTH, WIDTH);
	for (size_t t = 0; t < tokens; t++) {
		scores[t] = 0;
		for (size_t i = 0; i < WIDTH; i += 4)
			scores[t] += *cell(layer, 0, t, i) * query[i] / (float)tokens;
	}
	for (size_t t = 0; t < tokens; t++)
		for (size_t i = 0; i < WIDTH; i += 4)
			out[i] += scores[t] * *cell(layer, 1, t, i);
	drop(TEMP, scores, tokens);
	drop(TEMP, query, WIDTH);
}

CALL void remember(struct layer *layer, const float *in, size_t token)
{
	float *row = request(TEMP, 2 * WIDTH);

	product(row, layer->tensor[KEY], in, WIDTH, WIDTH);
	product(row + WIDTH, layer->tensor[VALUE], in, WIDTH, WIDTH);
	for (size_t i = 0; i < 2 * WIDTH; i++)
		*cell(layer, i >= WIDTH, token, i % WIDTH) = row[i] + 0.001f;
	drop(TEMP, row, 2 * WIDTH);
}

CALL void feed(struct layer *layer, const float *in, float *out, size_t batch)
{
	float *hidden = request(TEMP, batch * HIDDEN);

	for (size_t b = 0; b < batch; b++) {
		product(hidden + b * HIDDEN, layer->tensor[UP], in + b * WIDTH, HIDDEN, WIDTH);
		for (size_t i = 0; i < HIDDEN; i++)
			out[b * WIDTH + i % WIDTH] +=
			    hidden[b * HIDDEN + i] * layer->tensor[DOWN][i * WIDTH + b] / 8;
		for (size_t i = 0; i < WIDTH; i++) {
			float value = out[b * WIDTH + i] * (1 + layer->tensor[NORM][i]);

			out[b * WIDTH + i] = value > 2 ? 2 : value < -2 ? -2 : value;
		}
	}
	drop(TEMP, hidden, batch * HIDDEN);
}

CALL float *through(struct layer *layer, const float *in, size_t batch)
{
	float *out = request(ACTIVATION, batch * WIDTH);

	memcpy(out, in, batch * WIDTH * sizeof *out);
	make_room(layer, batch);
	for (size_t b = 0; b < batch; b++) {
		remember(layer, in + b * WIDTH, held + b);
		attend(layer, in + b * WIDTH, out + b * WIDTH, held + b + 1);
	}
	feed(layer, in, out, batch);
	return out;
}

CALL size_t choose(const float *in)
{
	float *scores = request(ACTIVATION, WORDS);
	size_t best = 0;

	product(scores, words, in, WORDS, WIDTH);
	for (size_t i = 1; i < WORDS; i++)
		best = scores[i] > scores[best] ? i : best;
	drop(ACTIVATION, scores, WORDS);
	return best;
}

static size_t step(const size_t *tokens, size_t batch)
{
	float *kept[LAYERS + 1];
	size_t best;

	kept[0] = request(ACTIVATION, batch * WIDTH);
	for (size_t b = 0; b < batch; b++)
		memcpy(kept[0] + b * WIDTH, words + tokens[b] * WIDTH, WIDTH * sizeof(float));
	for (int i = 0; i < LAYERS; i++) {
		kept[i + 1] = through(&layers[i], kept[i], batch);
#ifdef KEEP_last
		drop(ACTIVATION, kept[i], batch * WIDTH);
#endif
	}
	best = choose(kept[LAYERS] + (batch - 1) * WIDTH);
#ifdef KEEP_all
	for (int i = 0; i < LAYERS; i++)
		drop(ACTIVATION, kept[i], batch * WIDTH);
#endif
	drop(ACTIVATION, kept[LAYERS], batch * WIDTH);
	held += batch;
	account_steps++;
	return best;
}

/* ---- what else a program has ---- */

/* As big as the weights, and hardly touched. */
static void open_book(void)
{
	size_t bytes = (size_t)ALL * sizeof(float) - 4096;

	hold(OTHER, (int64_t)bytes);
	book = checked(malloc(bytes));
	memset(book, 1, 4096);
}

/* Decoys of a cache that is there from the start: rewritten each step, appended to by somebody else, scratch.
 */
static void open_decoys(void)
{
	moments_count = (size_t)PLACES * WIDTH + 512;
	for (int i = 0; i < 2; i++) {
		moments[i] = request(OPTIMIZER, moments_count);
		memset(moments[i], 0, moments_count * sizeof(float));
	}
	hold(OTHER, (int64_t)TOKENS * LOG_BYTES);
	record = checked(malloc((size_t)TOKENS * LOG_BYTES));
	scratch = request(ACTIVATION, 80000 + 7 * WIDTH);
}

static void decoys(void)
{
	for (size_t i = 0; i < moments_count; i++) {
		moments[0][i] = 0.9f * moments[0][i] + 0.1f;
		moments[1][i] = 0.99f * moments[1][i] + 0.01f * moments[0][i];
	}
	memset(record + (account_steps - 1) * LOG_BYTES, (int)account_steps % 200 + 32, LOG_BYTES);
	for (int i = 0; i < 80000; i += 1 + (int)account_steps % 3)
		scratch[i] = (float)i * (float)account_steps;
}

/* Small things that come and go, and the text that grows with every token. */
static void noise_of_a_step(size_t token)
{
	static unsigned state = 5;

	for (int i = 0; i < NOISE; i++) {
		unsigned at = (state = state * 1103515245u + 12345u) >> 16;

		free(noises[at % 64]);
		noises[at % 64] = checked(malloc(at % 300 + 1));
	}
	if (text_used + 8 > text_room) {
		text_room = text_room ? 2 * text_room : 32;
		text = checked(realloc(text, text_room));
	}
	memcpy(text + text_used, &token, 8);
	text_used += 8;
}

static size_t one(size_t token)
{
	token = step(&token, 1);
	noise_of_a_step(token);
	if (IS_FIXED)
		decoys();
	return token;
}

static size_t prefill(void)
{
	size_t prompt[PROMPT], token = 0;

	for (size_t i = 0; i < PROMPT; i++)
		prompt[i] = i * 37 % WORDS;
#ifdef PREFILL_batch
	token = step(prompt, PROMPT);
#else
	for (size_t i = 0; i < PROMPT; i++)
		token = one(prompt[i]);
#endif
	return token;
}

int main(int argc, char **argv)
{
	size_t token;

	if (argc == 3) {
		make(argv[2]);
		return 0;
	}
#ifdef BOOK_before
	open_book();
#endif
	load(argv[1]);
#ifdef BOOK_after
	open_book();
#endif
#if IS_FIXED
	open_cache();
	open_decoys();
#endif
	token = prefill();
	for (int i = 0; i < OUTPUT; i++)
		token = one(token);
	printf("token %zu of %zu\n", token, text_used / 8);
	account_print();
	return 0;
}
