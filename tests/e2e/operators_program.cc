// SPDX-License-Identifier: MIT
// operators_program.cc ROUNDS: each round takes the same blocks by malloc's family and by every kind of operator new,
// and gives all but one back. Says what a round is, and whether the blocks are those of operators_library.cc.
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <new>

static unsigned long allocs, frees, alloc_bytes;
static void *volatile escaped;

static void *took(void *block, unsigned long bytes)
{
	escaped = block;
	allocs++;
	alloc_bytes += bytes;
	return block;
}

static void gives()
{
	frees++;
}

static void by_malloc()
{
	void *first = took(malloc(1001), 1001), *second = took(calloc(7, 11), 77);

	gives();
	first = took(realloc(first, 5003), 5003);
	gives(), free(first);
	gives(), free(second);
	gives(), free(took(aligned_alloc(64, 640), 640));
}

static void by_operators()
{
	std::align_val_t alignment{128};

	gives(), operator delete(took(operator new(33), 33));
	gives(), operator delete[](took(operator new[](35), 35));
	gives(), operator delete(took(operator new(37), 37), size_t(37));
	gives(), operator delete[](took(operator new[](39), 39), size_t(39));
	gives(), operator delete(took(operator new(41, std::nothrow), 41));
	gives(), operator delete[](took(operator new[](43, std::nothrow), 43));
	gives(), operator delete(took(operator new(256, alignment), 256), alignment);
	gives(), operator delete[](took(operator new[](384, alignment), 384), alignment);
	gives(), operator delete(took(operator new(512, alignment), 512), size_t(512), alignment);
}

int main(int, char **arguments)
{
	int rounds = atoi(arguments[1]);
	int (*has)(void *) = reinterpret_cast<int (*)(void *)>(dlsym(RTLD_DEFAULT, "own_has"));

	for (int i = 0; i < rounds; i++) {
		by_malloc();
		by_operators();
		took(::operator new(20000), 20000); /* kept */
	}
	printf("alloc_count=%lu free_count=%lu alloc_bytes=%lu own=%d\n", allocs, frees, alloc_bytes,
	       has ? has(escaped) : -1);
}
