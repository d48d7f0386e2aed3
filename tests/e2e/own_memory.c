/* SPDX-License-Identifier: MIT */
/* own_memory.c: a program that holds much, or comes by many call paths, and says what memory it has then.
 *
 * Usage: own_memory THREADS COUNT BYTES PATHS
 *   Each of THREADS threads gets COUNT / THREADS blocks of BYTES and holds them, then PATHS / THREADS blocks
 * that it gives back, each by another call path. When all are there it prints VmRSS in KiB.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_DEPTH = 24, THREADS_MAX = 256 };

static long count, bytes, paths, thread_count;
static pthread_barrier_t all_there, all_done;
static void *volatile kept;

/* Two functions that call each other as the bits of `path` say. */
static void left(uint32_t path, int depth);
static void right(uint32_t path, int depth);

static void descend(uint32_t path, int depth)
{
	if (depth == 0) {
		void *block = malloc(40);

		kept = block;
		free(block);
	} else if (path & 1) {
		left(path >> 1, depth - 1);
	} else {
		right(path >> 1, depth - 1);
	}
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void left(uint32_t path, int depth)
{
	descend(path, depth);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void right(uint32_t path, int depth)
{
	descend(path, depth);
	__asm__ volatile("" ::: "memory");
}

static void *work(void *argument)
{
	uint32_t first = (uint32_t)(uintptr_t)argument;

	for (long i = 0; i < count / thread_count; i++) {
		void *volatile block = malloc((size_t)bytes);

		if (!block)
			abort();
	}
	for (uint32_t i = 0; i < paths / thread_count; i++)
		descend((first + i) * 2654435761u >> (32 - PATH_DEPTH), PATH_DEPTH);
	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&all_done);
	return NULL;
}

static long resident_kib(void)
{
	char line[256];
	long kib = -1;
	FILE *status = fopen("/proc/self/status", "r");

	while (status && fgets(line, sizeof line, status))
		if (strncmp(line, "VmRSS:", 6) == 0)
			kib = atol(line + 6);
	return kib;
}

int main(int words, char **word)
{
	static pthread_t threads[THREADS_MAX];

	if (words != 5 || (thread_count = atol(word[1])) < 1 || thread_count > THREADS_MAX)
		return 2;
	count = atol(word[2]);
	bytes = atol(word[3]);
	paths = atol(word[4]);
	pthread_barrier_init(&all_there, NULL, (unsigned)thread_count + 1);
	pthread_barrier_init(&all_done, NULL, (unsigned)thread_count + 1);
	for (long i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, work,
				   (void *)(uintptr_t)(i * (paths / thread_count))) != 0)
			return 1;
	pthread_barrier_wait(&all_there);
	printf("%ld\n", resident_kib());
	pthread_barrier_wait(&all_done);
	for (long i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
