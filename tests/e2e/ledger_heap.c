/* SPDX-License-Identifier: MIT */
/* ledger_heap.c: fills several arenas with blocks of many sizes, writes all of them, gives three of four back, and
 * says what malloc_info then says: the sum of what its arenas hold free. Two large blocks are hardly touched.
 * ledger_heap trim: and what malloc_trim gives back. ledger_heap [trim] tops: the last quarter is given back whole,
 * and is kept as the top of each arena. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 3, BLOCKS = 16000, RESERVED = 32 << 20, TOUCHED = 2 << 20 };

static pthread_barrier_t filled, said;
static int holes_end = BLOCKS;

static void fill(unsigned seed)
{
	char **blocks = calloc(BLOCKS, sizeof *blocks);

	for (int i = 0; i < BLOCKS; i++) {
		size_t bytes = 100 + rand_r(&seed) % 2900;

		blocks[i] = malloc(bytes);
		memset(blocks[i], 1, bytes);
	}
	for (int i = 0; i < BLOCKS; i++)
		if (i % 4 || i >= holes_end)
			free(blocks[i]);
}

static void *work(void *seed)
{
	fill((unsigned)(size_t)seed);
	pthread_barrier_wait(&filled);
	pthread_barrier_wait(&said);
	return NULL;
}

/* The totals stand behind the last arena: fast, rest. */
static size_t free_bytes(void)
{
	char *text = NULL, *at;
	size_t length = 0, sum = 0;
	FILE *file = open_memstream(&text, &length);

	malloc_info(0, file);
	fclose(file);
	at = strrchr(text, '/') ? text : NULL;
	for (char *last = at; (last = strstr(last, "</heap>")); last++)
		at = last;
	for (const char *type = at; type && (type = strstr(type, "<total type=\"")); type++)
		if (!strncmp(type + 13, "fast", 4) || !strncmp(type + 13, "rest", 4))
			sum += strtoull(strstr(type, "size=\"") + 6, NULL, 10);
	free(text);
	return sum;
}

static long resident_bytes(void)
{
	long all = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2)
		exit(2);
	fclose(file);
	return resident * 4096;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	char *reserved = mmap(NULL, RESERVED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *large = malloc(RESERVED);

	if (argc > 1 && !strcmp(argv[argc - 1], "tops")) {
		holes_end = BLOCKS / 4 * 3;
		mallopt(M_TRIM_THRESHOLD, RESERVED);
	}
	memset(reserved, 1, TOUCHED);
	memset(large, 1, TOUCHED);
	pthread_barrier_init(&filled, NULL, THREADS + 1);
	pthread_barrier_init(&said, NULL, THREADS + 1);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 2));
	fill(1);
	pthread_barrier_wait(&filled);
	printf("free_bytes=%zu\n", free_bytes());
	printf("touched_bytes=%d\nreserved_bytes=%d\n", 2 * TOUCHED, 2 * RESERVED);
	if (argc > 1 && !strcmp(argv[1], "trim")) {
		long before = resident_bytes();

		malloc_trim(0);
		printf("trimmed_bytes=%ld\n", before - resident_bytes());
	}
	fflush(stdout);
	_exit(0);
}
