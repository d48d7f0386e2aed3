/* SPDX-License-Identifier: MIT */
/* overhead_pass.c: a preload that does nothing but stand between the program and its allocator: what any
 * profiler that is preloaded must cost. Each function hands on by one indirect call.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

enum { EARLY_BYTES = 64 * 1024 };

/* The prototypes are libc's. */
void *malloc(size_t bytes);
void free(void *block);
void *calloc(size_t count, size_t each);
void *realloc(void *block, size_t bytes);
void *aligned_alloc(size_t alignment, size_t bytes);
void *memalign(size_t alignment, size_t bytes);
int posix_memalign(void **out, size_t alignment, size_t bytes);

static void *(*real_malloc)(size_t);
static void (*real_free)(void *);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static void *(*real_memalign)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);

/* dlsym itself allocates. */
static char early[EARLY_BYTES] __attribute__((aligned(16)));
static size_t early_used;

static void *early_block(size_t bytes)
{
	void *block = early + early_used;

	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > sizeof early - early_used)
		return NULL;
	early_used += bytes;
	return block;
}

static int is_early(const void *block)
{
	return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static void find(void *to, const char *name)
{
	void *at = dlsym(RTLD_NEXT, name);

	memcpy(to, &at, sizeof at);
}

static __attribute__((constructor)) void start(void)
{
	if (real_malloc)
		return;
	find(&real_free, "free");
	find(&real_calloc, "calloc");
	find(&real_realloc, "realloc");
	find(&real_aligned_alloc, "aligned_alloc");
	find(&real_memalign, "memalign");
	find(&real_posix_memalign, "posix_memalign");
	find(&real_malloc, "malloc");
}

void *malloc(size_t bytes)
{
	if (__builtin_expect(!real_malloc, 0))
		return early_block(bytes);
	return real_malloc(bytes);
}

void free(void *block)
{
	if (__builtin_expect(!real_malloc || is_early(block), 0))
		return;
	real_free(block);
}

void *calloc(size_t count, size_t each)
{
	if (__builtin_expect(!real_malloc, 0))
		return early_block(count * each);
	return real_calloc(count, each);
}

void *realloc(void *block, size_t bytes)
{
	void *moved;

	if (__builtin_expect(real_malloc && !is_early(block), 1))
		return real_realloc(block, bytes);
	moved = malloc(bytes);
	if (moved && block)
		memcpy(moved, block,
		       bytes < (size_t)(early + sizeof early - (char *)block)
			   ? bytes
			   : (size_t)(early + sizeof early - (char *)block));
	return moved;
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	start();
	return real_aligned_alloc(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
	start();
	return real_memalign(alignment, bytes);
}

int posix_memalign(void **out, size_t alignment, size_t bytes)
{
	start();
	return real_posix_memalign(out, alignment, bytes);
}
