/* SPDX-License-Identifier: MIT */
/* overhead_pairs.c: ns a malloc/free pair, for overhead.sh.
 *
 * Usage: overhead_pairs THREADS DEPTH PATHS PAIRS
 *   PATHS 1: always the same call path; 16: one of 16 at random for each pair.
 * Prints one number: wall ns a pair and thread, after a warm-up of a tenth of the pairs. Sizes are 16 to
 * 1,039 bytes; 64 blocks are held, so that frees are not all of the last block.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { HELD = 64, LEAVES = 16 };

static int depth, paths;
static long pairs;

struct worker {
	uint64_t random;
	void *held[HELD];
	double ns;
};

static uint64_t draw(struct worker *worker)
{
	worker->random ^= worker->random << 13;
	worker->random ^= worker->random >> 7;
	return worker->random ^= worker->random << 17;
}

static void pair(struct worker *worker)
{
	uint64_t number = draw(worker);
	void **place = &worker->held[number % HELD];

	free(*place);
	*place = malloc(16 + (number >> 32) % 1024);
}

/* Sixteen leaves with return addresses of their own. */
#define LEAF(n)                                                          \
	__attribute__((noinline)) static void leaf_##n(struct worker *w) \
	{                                                                \
		pair(w);                                                 \
		__asm__ volatile("" ::: "memory");                       \
	}
LEAF(0)
LEAF(1) LEAF(2) LEAF(3) LEAF(4) LEAF(5) LEAF(6) LEAF(7) LEAF(8) LEAF(9) LEAF(10) LEAF(11) LEAF(12) LEAF(13)
    LEAF(14) LEAF(15)

	static void (*const leaves[LEAVES])(struct worker *) = {
	    leaf_0, leaf_1, leaf_2,  leaf_3,  leaf_4,  leaf_5,  leaf_6,  leaf_7,
	    leaf_8, leaf_9, leaf_10, leaf_11, leaf_12, leaf_13, leaf_14, leaf_15};

__attribute__((noinline)) static void descend(struct worker *worker, int left, long count)
{
	if (left > 0) {
		descend(worker, left - 1, count);
		__asm__ volatile("" ::: "memory");
		return;
	}
	while (count--)
		leaves[paths == 1 ? 0 : draw(worker) % LEAVES](worker);
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	double begin;

	descend(worker, depth, pairs / 10);
	begin = now_ns();
	descend(worker, depth, pairs);
	worker->ns = (now_ns() - begin) / (double)pairs;
	return NULL;
}

int main(int count, char **words)
{
	struct worker workers[64] = {{0}};
	pthread_t threads[64];
	int thread_count = count == 5 ? atoi(words[1]) : 0;
	double sum = 0;

	if (thread_count < 1 || thread_count > 64)
		return 2;
	depth = atoi(words[2]);
	paths = atoi(words[3]);
	pairs = atol(words[4]);
	for (int i = 0; i < thread_count; i++) {
		workers[i].random = 88172645463325252u + (uint64_t)i;
		if (thread_count == 1)
			work(&workers[i]);
		else if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
			return 1;
	}
	for (int i = 0; i < thread_count; i++) {
		if (thread_count > 1)
			pthread_join(threads[i], NULL);
		sum += workers[i].ns;
	}
	printf("%.1f\n", sum / thread_count);
	return 0;
}
