/* SPDX-License-Identifier: MIT */
/* own_malloc.c: a program with its own allocator linked in, as rustc has jemalloc. Its malloc holds a plain
 * lock while it calls mmap, and a library's constructor calls it before ours has run: whoever calls malloc
 * from within the mmap hook stops here for ever. With -DCONSTRUCTOR it is that library. */
#ifdef CONSTRUCTOR
#include <stdlib.h>

void *volatile first_block;

__attribute__((constructor)) static void first(void)
{
	first_block = malloc(7);
}
#else
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define REGION_BYTES (64ul << 20)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *at, *end;

void *malloc(size_t bytes)
{
	char *block;

	pthread_mutex_lock(&lock);
	if (!at || at + bytes + 32 > end) {
		at = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		end = at + REGION_BYTES;
	}
	block = (char *)(((size_t)at + 31) & ~(size_t)15);
	*(size_t *)(block - 8) = bytes;
	at = block + bytes;
	pthread_mutex_unlock(&lock);
	return block;
}

void free(void *block)
{
	(void)block;
}

void *calloc(size_t count, size_t each)
{
	return malloc(count * each);
}

void *realloc(void *block, size_t bytes)
{
	char *moved = malloc(bytes);
	size_t old_bytes = block ? *(size_t *)((char *)block - 8) : 0;

	if (block)
		memcpy(moved, block, old_bytes < bytes ? old_bytes : bytes);
	return moved;
}

int main(void)
{
	char *block;

	/* The constructor's call had the first region mapped before ours ran; this has another. */
	block = malloc(REGION_BYTES - 4096);
	snprintf(block, 1000, "region_bytes=%lu", REGION_BYTES);
	puts(block);
	return 0;
}
#endif
