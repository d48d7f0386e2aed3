/* SPDX-License-Identifier: MIT */
/* kill_loop.c: allocates and frees without pause until it is killed, and counts behind each call what it did,
 * in a mapped file that outlives it. Usage: kill_loop FILE THREADS. 0 threads: the main thread does it
 * itself.
 *
 * It allocates nothing else: no stdio, and what pthread_create allocates is the main thread's.
 */
#include "tests/life/kill_loop.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HELD = 64 };

static struct kill_loop_file *counts;

static void count_alloc(struct kill_loop_count *count, size_t bytes)
{
	atomic_fetch_add_explicit(&count->alloc_bytes, bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(&count->allocs, 1, memory_order_relaxed);
}

static void count_free(struct kill_loop_count *count)
{
	atomic_fetch_add_explicit(&count->frees, 1, memory_order_relaxed);
}

/* One move on one of the blocks that are held: by turns malloc, calloc, realloc, free. */
static void move(struct kill_loop_count *count, void **block, uint64_t number)
{
	size_t bytes = 16 + number * 7919 % 5000;

	if (!*block) {
		*block = number % 3 ? malloc(bytes) : calloc(1, bytes);
		count_alloc(count, bytes);
	} else if (number % 5 == 0) {
		*block = realloc(*block, bytes);
		count_free(count);
		count_alloc(count, bytes);
	} else {
		free(*block);
		count_free(count);
		*block = NULL;
	}
}

__attribute__((noreturn)) static void *work(void *argument)
{
	struct kill_loop_count *count = argument;
	void *blocks[HELD] = {0};

	atomic_store(&count->tid, (uint32_t)gettid());
	for (uint64_t number = 1;; number++)
		move(count, &blocks[number * 31 % HELD], number);
}

int main(int argument_count, char **words)
{
	int fd = argument_count == 3 ? open(words[1], O_RDWR | O_CLOEXEC) : -1;
	int threads = fd >= 0 ? atoi(words[2]) : 0;

	if (fd < 0)
		return 2;
	counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED || threads > KILL_LOOP_THREADS)
		return 2;
	for (int i = 0; i < threads; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, &counts->threads[i]) != 0)
			return 2;
	}
	if (!threads)
		work(&counts->threads[0]);
	for (;;)
		pause();
}
