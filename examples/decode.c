/* SPDX-License-Identifier: MIT */
/* decode.c: a small transformer that generates tokens on the CPU, to be looked at with a memory profiler.
 *
 * It includes nothing of rvprof. It has what every inference program has: weights that live from start to
 * end, a KV cache that is only ever appended to (a page of PAGE_TOKENS rows at a time, for each layer),
 * activations that live for one token, and temporaries that live within one operator. Weights are random
 * numbers from a fixed seed, so its output is the same in every run, with any number of threads.
 *
 * It keeps its own exact account of what it asks from malloc, calloc, realloc and free, by purpose, and
 * prints it at its end as key=value lines; a profiler that sees every call must come to the same numbers.
 *
 * RULES
 * 1. Every request goes through get, get_zeroed, grow or give; stdio has a static buffer and asks for
 * nothing.
 * 2. Counting follows the usual words: a realloc of a block is one free and one alloc, realloc(NULL) an
 * alloc.
 * 3. With --threads the workers' temporaries are all alive between two barriers, so that peaks do not depend
 * on scheduling. The C library itself asks for one block for each thread that is started (its table of
 *    thread-local storage); that block is not in this account. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP __attribute__((noinline)) /* a frame of its own in every stack */

enum { WIDTH = 256, HEADS = 8, HEAD_WIDTH = WIDTH / HEADS, HIDDEN = 688, VOCABULARY = 4096 };
enum { PAGE_TOKENS = 32, MAX_LAYERS = 64, MAX_THREADS = 16, MAX_TOKENS = 1 << 16 };

/* ---- the account ---- */

enum purpose { WEIGHTS, KV, ACTIVATION, TEMP, PURPOSES };
static const char *const purpose_name[PURPOSES] = {"weights", "kv", "activation", "temp"};

struct tally {
	atomic_size_t now, peak, requested;
};
static struct tally by_purpose[PURPOSES], all;
static atomic_size_t malloc_calls, calloc_calls, realloc_calls, free_calls, alloc_count, free_count;

static void tally_add(struct tally *tally, size_t bytes)
{
	size_t now = atomic_fetch_add(&tally->now, bytes) + bytes, peak = atomic_load(&tally->peak);

	atomic_fetch_add(&tally->requested, bytes);
	while (now > peak && !atomic_compare_exchange_weak(&tally->peak, &peak, now))
		;
}

static void count_alloc(enum purpose purpose, size_t bytes)
{
	alloc_count++;
	tally_add(&by_purpose[purpose], bytes);
	tally_add(&all, bytes);
}

static void count_free(enum purpose purpose, size_t bytes)
{
	free_count++;
	atomic_fetch_sub(&by_purpose[purpose].now, bytes);
	atomic_fetch_sub(&all.now, bytes);
}

static void *checked(void *block)
{
	if (!block) {
		fputs("decode: out of memory\n", stderr);
		_Exit(1);
	}
	return block;
}

static void *get(enum purpose purpose, size_t bytes)
{
	void *block = checked(malloc(bytes));

	malloc_calls++;
	count_alloc(purpose, bytes);
	return block;
}

static void *get_zeroed(enum purpose purpose, size_t count, size_t each)
{
	void *block = checked(calloc(count, each));

	calloc_calls++;
	count_alloc(purpose, count * each);
	return block;
}

static void *grow(enum purpose purpose, void *block, size_t old_bytes, size_t bytes)
{
	int had_one = block != NULL;

	block = checked(realloc(block, bytes));
	realloc_calls++;
	if (had_one)
		count_free(purpose, old_bytes);
	count_alloc(purpose, bytes);
	return block;
}

static void give(enum purpose purpose, void *block, size_t bytes)
{
	free_calls++;
	count_free(purpose, bytes);
	free(block);
}

/* ---- worker threads: every job is run as part 0..parts-1 of parts ---- */

typedef void job_fn(void *argument, int part, int parts);
static struct {
	pthread_t threads[MAX_THREADS];
	pthread_barrier_t begin, end, between;
	job_fn *job;
	void *argument;
	int count;
} pool;

static void *worker(void *number)
{
	for (;;) {
		pthread_barrier_wait(&pool.begin);
		if (!pool.job)
			return NULL;
		pool.job(pool.argument, (int)(intptr_t)number, pool.count);
		pthread_barrier_wait(&pool.end);
	}
}

static void pool_run(job_fn *job, void *argument)
{
	pool.job = job;
	pool.argument = argument;
	if (!pool.count) {
		job(argument, 0, 1);
		return;
	}
	pthread_barrier_wait(&pool.begin);
	pthread_barrier_wait(&pool.end);
}

static void pool_wait_for_all(void)
{
	if (pool.count)
		pthread_barrier_wait(&pool.between);
}

static void pool_start(int count)
{
	pool.count = count;
	if (!count)
		return;
	pthread_barrier_init(&pool.begin, NULL, (unsigned)count + 1);
	pthread_barrier_init(&pool.end, NULL, (unsigned)count + 1);
	pthread_barrier_init(&pool.between, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		if (pthread_create(&pool.threads[i], NULL, worker, (void *)(intptr_t)i))
			checked(NULL);
}

static void pool_stop(void)
{
	if (!pool.count)
		return;
	pool.job = NULL;
	pthread_barrier_wait(&pool.begin);
	for (int i = 0; i < pool.count; i++)
		pthread_join(pool.threads[i], NULL);
}

/* ---- operators ---- */

struct matrix {
	float *at;
	int rows, columns;
};
struct product {
	const struct matrix *matrix;
	const float *in;
	float *out;
};

#ifdef DECODE_BLAS
/* decode-blas: a library for linear algebra multiplies, as in most programs: calls that a profiler can see, with their shapes. */
void cblas_sgemv(int order, int turned, int rows, int columns, float alpha, const float *matrix, int stride, const float *in,
		 int step_in, float beta, float *out, int step_out);

static void multiply_part(void *argument, int part, int parts)
{
	enum { ROW_MAJOR = 101, NOT_TURNED = 111 };
	const struct product *product = argument;
	int columns = product->matrix->columns, rows = product->matrix->rows;
	int first = rows * part / parts, last = rows * (part + 1) / parts;

	cblas_sgemv(ROW_MAJOR, NOT_TURNED, last - first, columns, 1, product->matrix->at + (size_t)first * (size_t)columns,
		    columns, product->in, 1, 0, product->out + first, 1);
}
#else
static void multiply_part(void *argument, int part, int parts)
{
	const struct product *product = argument;
	int columns = product->matrix->columns, rows = product->matrix->rows;

	for (int r = rows * part / parts; r < rows * (part + 1) / parts; r++) {
		const float *row = product->matrix->at + (size_t)r * (size_t)columns;
		float sum[8] = {0};

		for (int c = 0; c < columns; c += 8)
			for (int lane = 0; lane < 8; lane++)
				sum[lane] += row[c + lane] * product->in[c + lane];
		product->out[r] =
		    ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
	}
}
#endif

/* A library would repack the input here; this one copies it, so that each product has a temporary. */
STEP static void multiply(const struct matrix *matrix, const float *in, float *out)
{
	size_t bytes = (size_t)matrix->columns * sizeof(float);
	float *packed = get(TEMP, bytes);

	memcpy(packed, in, bytes);
	pool_run(multiply_part, &(struct product){matrix, packed, out});
	give(TEMP, packed, bytes);
}

STEP static void normalize(const float *in, const float *gain, float *out)
{
	float squares = 0;

	for (int i = 0; i < WIDTH; i++)
		squares += in[i] * in[i];
	squares = 1.0f / sqrtf(squares / WIDTH + 1e-5f);
	for (int i = 0; i < WIDTH; i++)
		out[i] = in[i] * squares * gain[i];
}

static void softmax(float *scores, int count)
{
	float highest = scores[0], sum = 0;

	for (int i = 1; i < count; i++)
		highest = scores[i] > highest ? scores[i] : highest;
	for (int i = 0; i < count; i++)
		sum += scores[i] = expf(scores[i] - highest);
	for (int i = 0; i < count; i++)
		scores[i] /= sum;
}

/* ---- the KV cache: for each layer a growing table of pages, PAGE_TOKENS keys and values each ---- */

struct kv_cache {
	float **pages;
	int page_count, tokens;
};
static const size_t page_floats = (size_t)PAGE_TOKENS * 2 * WIDTH;

static float *kv_row(const struct kv_cache *cache, int token)
{
	return cache->pages[token / PAGE_TOKENS] + (size_t)(token % PAGE_TOKENS) * 2 * WIDTH;
}

STEP static void kv_append(struct kv_cache *cache, const float *key, const float *value)
{
	if (cache->tokens == cache->page_count * PAGE_TOKENS) {
		size_t table = (size_t)cache->page_count * sizeof *cache->pages;

		cache->pages = grow(KV, cache->pages, table, table + sizeof *cache->pages);
		cache->pages[cache->page_count++] = get_zeroed(KV, page_floats, sizeof(float));
	}
	memcpy(kv_row(cache, cache->tokens), key, WIDTH * sizeof(float));
	memcpy(kv_row(cache, cache->tokens) + WIDTH, value, WIDTH * sizeof(float));
	cache->tokens++;
}

static void kv_free(struct kv_cache *cache)
{
	for (int i = 0; i < cache->page_count; i++)
		give(KV, cache->pages[i], page_floats * sizeof(float));
	if (cache->pages)
		give(KV, cache->pages, (size_t)cache->page_count * sizeof *cache->pages);
}

struct attention {
	const struct kv_cache *cache;
	const float *query;
	float *out;
};

static void attend_head(const struct attention *attention, int head, float *scores)
{
	const struct kv_cache *cache = attention->cache;
	const float *query = attention->query + head * HEAD_WIDTH;
	float *out = attention->out + head * HEAD_WIDTH;

	for (int t = 0; t < cache->tokens; t++) {
		const float *key = kv_row(cache, t) + head * HEAD_WIDTH;

		scores[t] = 0;
		for (int i = 0; i < HEAD_WIDTH; i++)
			scores[t] += query[i] * key[i] * 0.17677669f;
	}
	softmax(scores, cache->tokens);
	memset(out, 0, HEAD_WIDTH * sizeof(float));
	for (int t = 0; t < cache->tokens; t++)
		for (int i = 0; i < HEAD_WIDTH; i++)
			out[i] += scores[t] * kv_row(cache, t)[WIDTH + head * HEAD_WIDTH + i];
}

STEP static void attend_part(void *argument, int part, int parts)
{
	const struct attention *attention = argument;
	size_t bytes = (size_t)attention->cache->tokens * sizeof(float);
	float *scores = get(TEMP, bytes);

	pool_wait_for_all();
	for (int head = HEADS * part / parts; head < HEADS * (part + 1) / parts; head++)
		attend_head(attention, head, scores);
	pool_wait_for_all();
	give(TEMP, scores, bytes);
}

/* ---- the model ---- */

struct layer {
	float *attention_gain, *ffn_gain;
	struct matrix query, key, value, output, gate, up, down;
	struct kv_cache cache;
};
struct model {
	struct matrix embedding, head;
	float *final_gain;
	struct layer *layers;
	int layer_count;
};

static uint64_t seed = 0x9e3779b97f4a7c15u;

static float random_number(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (float)(int32_t)(seed >> 32) * (1.0f / 2147483648.0f);
}

STEP static struct matrix load_matrix(int rows, int columns)
{
	size_t count = (size_t)rows * (size_t)columns;
	struct matrix matrix = {get(WEIGHTS, count * sizeof(float)), rows, columns};
	float scale = 1.7f / sqrtf((float)columns);

	for (size_t i = 0; i < count; i++)
		matrix.at[i] = random_number() * scale;
	return matrix;
}

STEP static float *load_gain(void)
{
	float *gain = get(WEIGHTS, WIDTH * sizeof(float));

	for (int i = 0; i < WIDTH; i++)
		gain[i] = 1.0f + 0.1f * random_number();
	return gain;
}

static void load_layer(struct layer *layer)
{
	layer->attention_gain = load_gain();
	layer->ffn_gain = load_gain();
	layer->query = load_matrix(WIDTH, WIDTH);
	layer->key = load_matrix(WIDTH, WIDTH);
	layer->value = load_matrix(WIDTH, WIDTH);
	layer->output = load_matrix(WIDTH, WIDTH);
	layer->gate = load_matrix(HIDDEN, WIDTH);
	layer->up = load_matrix(HIDDEN, WIDTH);
	layer->down = load_matrix(WIDTH, HIDDEN);
}

STEP static struct model load_model(int layers)
{
	struct model model = {.layer_count = layers};

	model.embedding = load_matrix(VOCABULARY, WIDTH);
	model.head = load_matrix(VOCABULARY, WIDTH);
	model.final_gain = load_gain();
	model.layers = get_zeroed(WEIGHTS, (size_t)layers, sizeof *model.layers);
	for (int i = 0; i < layers; i++)
		load_layer(&model.layers[i]);
	return model;
}

static void free_matrix(struct matrix *matrix)
{
	give(WEIGHTS, matrix->at, (size_t)matrix->rows * (size_t)matrix->columns * sizeof(float));
}

static void free_layer(struct layer *layer)
{
	struct matrix *matrices[] = {&layer->query, &layer->key, &layer->value, &layer->output,
				     &layer->gate,  &layer->up,  &layer->down};

	for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
		free_matrix(matrices[i]);
	give(WEIGHTS, layer->attention_gain, WIDTH * sizeof(float));
	give(WEIGHTS, layer->ffn_gain, WIDTH * sizeof(float));
	kv_free(&layer->cache);
}

static void free_model(struct model *model)
{
	for (int i = 0; i < model->layer_count; i++)
		free_layer(&model->layers[i]);
	give(WEIGHTS, model->layers, (size_t)model->layer_count * sizeof *model->layers);
	give(WEIGHTS, model->final_gain, WIDTH * sizeof(float));
	free_matrix(&model->head);
	free_matrix(&model->embedding);
}

/* ---- one token ---- */

static float *activation(int width)
{
	return get(ACTIVATION, (size_t)width * sizeof(float));
}

static void release(float *block, int width)
{
	give(ACTIVATION, block, (size_t)width * sizeof(float));
}

static void add(float *to, const float *what)
{
	for (int i = 0; i < WIDTH; i++)
		to[i] += what[i];
}

STEP static void attention(struct layer *layer, float *stream)
{
	float *normed = activation(WIDTH), *query = activation(WIDTH), *key = activation(WIDTH);
	float *value = activation(WIDTH), *mixed = activation(WIDTH);

	normalize(stream, layer->attention_gain, normed);
	multiply(&layer->query, normed, query);
	multiply(&layer->key, normed, key);
	multiply(&layer->value, normed, value);
	kv_append(&layer->cache, key, value);
	pool_run(attend_part, &(struct attention){&layer->cache, query, mixed});
	multiply(&layer->output, mixed, normed);
	add(stream, normed);
	release(mixed, WIDTH);
	release(value, WIDTH);
	release(key, WIDTH);
	release(query, WIDTH);
	release(normed, WIDTH);
}

STEP static void feed_forward(struct layer *layer, float *stream)
{
	float *normed = activation(WIDTH), *gate = activation(HIDDEN), *up = activation(HIDDEN);

	normalize(stream, layer->ffn_gain, normed);
	multiply(&layer->gate, normed, gate);
	multiply(&layer->up, normed, up);
	for (int i = 0; i < HIDDEN; i++)
		gate[i] = gate[i] / (1.0f + expf(-gate[i])) * up[i];
	multiply(&layer->down, gate, normed);
	add(stream, normed);
	release(up, HIDDEN);
	release(gate, HIDDEN);
	release(normed, WIDTH);
}

STEP static int decode_token(struct model *model, int token)
{
	float *stream = activation(WIDTH), *logits = activation(VOCABULARY);
	int best = 0;

	memcpy(stream, model->embedding.at + (size_t)token * WIDTH, WIDTH * sizeof(float));
	for (int i = 0; i < model->layer_count; i++) {
		attention(&model->layers[i], stream);
		feed_forward(&model->layers[i], stream);
	}
	normalize(stream, model->final_gain, stream);
	multiply(&model->head, stream, logits);
	for (int i = 1; i < VOCABULARY; i++)
		best = logits[i] > logits[best] ? i : best;
	release(logits, VOCABULARY);
	release(stream, WIDTH);
	return best;
}

/* ---- command ---- */

struct options {
	long tokens, layers, threads, hold_s;
};

static void print_account(int threads)
{
	printf("malloc_calls=%zu\ncalloc_calls=%zu\nrealloc_calls=%zu\nfree_calls=%zu\n",
	       (size_t)malloc_calls, (size_t)calloc_calls, (size_t)realloc_calls, (size_t)free_calls);
	printf("alloc_count=%zu\nfree_count=%zu\nalloc_bytes=%zu\nfree_bytes=%zu\n", (size_t)alloc_count,
	       (size_t)free_count, (size_t)all.requested, (size_t)all.requested - (size_t)all.now);
	printf("peak_live_bytes=%zu\nend_live_bytes=%zu\nthreads_started=%d\n", (size_t)all.peak,
	       (size_t)all.now, threads);
	for (int i = 0; i < PURPOSES; i++)
		printf("%s_peak_bytes=%zu\n%s_alloc_bytes=%zu\n", purpose_name[i], (size_t)by_purpose[i].peak,
		       purpose_name[i], (size_t)by_purpose[i].requested);
}

/* Pauses with everything still alive, for whoever wants to look at a running program or to kill it. */
static void hold(long seconds)
{
	struct timespec left = {.tv_sec = seconds};

	if (seconds <= 0)
		return;
	puts("holding");
	fflush(stdout);
	while (nanosleep(&left, &left))
		;
}

static void generate(const struct options *options)
{
	struct model model = load_model((int)options->layers);
	uint32_t checksum = 2166136261u;
	int *tokens = NULL, token = 1;

	pool_start((int)options->threads);
	for (long i = 0; i < options->tokens; i++) {
		if (i % 64 == 0)
			tokens = grow(ACTIVATION, tokens, (size_t)i * sizeof *tokens,
				      (size_t)(i + 64) * sizeof *tokens);
		tokens[i] = token = decode_token(&model, token);
		checksum = (checksum ^ (uint32_t)token) * 16777619u;
	}
	printf("tokens=%ld\nlast_token=%d\nchecksum=%08x\n", options->tokens, token, (unsigned)checksum);
	hold(options->hold_s);
	pool_stop();
	if (tokens)
		give(ACTIVATION, tokens, (size_t)((options->tokens + 63) / 64 * 64) * sizeof *tokens);
	free_model(&model);
}

static int usage(void)
{
	fputs("usage: decode [--tokens N] [--layers N] [--threads N] [--hold SECONDS]\n", stderr);
	return 2;
}

static int read_number(const char *text, long low, long high, long *to)
{
	char *end;

	*to = text ? strtol(text, &end, 10) : -1;
	return text && *text && !*end && *to >= low && *to <= high;
}

int main(int argc, char **argv)
{
	static char buffer[4096];
	struct options options = {.tokens = 480, .layers = 6};

	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	for (int i = 1; i < argc; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (!(!strcmp(argv[i], "--tokens") && read_number(value, 0, MAX_TOKENS, &options.tokens)) &&
		    !(!strcmp(argv[i], "--layers") && read_number(value, 1, MAX_LAYERS, &options.layers)) &&
		    !(!strcmp(argv[i], "--threads") &&
		      read_number(value, 0, MAX_THREADS, &options.threads)) &&
		    !(!strcmp(argv[i], "--hold") && read_number(value, 0, 86400, &options.hold_s)))
			return usage();
	}
	generate(&options);
	print_account((int)options.threads);
	return fflush(stdout) ? 1 : 0;
}
