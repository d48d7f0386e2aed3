/* SPDX-License-Identifier: MIT */
/* day.c: a server's day in seconds: from many call paths, blocks large enough to be recorded each, forever.
 * The stream of records is what counts, not the time between them. Usage: day EVENTS. Prints what it did,
 * exactly.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { HELD = 1000, KINDS = 8 };

static void *held[HELD];
static uint64_t allocs, frees, bytes;

static void turn(uint64_t number)
{
	void **place = &held[number * 7919 % HELD];
	size_t size = 16384 + number * 104729 % 50000;

	if (*place) {
		free(*place);
		frees++;
	}
	*place = malloc(size);
	if (!*place)
		abort();
	allocs++;
	bytes += size;
}

#define KIND(n)                                                                    \
	__attribute__((noinline)) static void kind_##n(uint64_t number, int depth) \
	{                                                                          \
		if (depth)                                                         \
			kind_##n(number, depth - 1);                               \
		else                                                               \
			turn(number);                                              \
		__asm__ volatile("" ::: "memory");                                 \
	}
KIND(0)
KIND(1) KIND(2) KIND(3) KIND(4) KIND(5) KIND(6) KIND(7)

    int main(int count, char **words)
{
	static void (*const kinds[KINDS])(uint64_t, int) = {kind_0, kind_1, kind_2, kind_3,
							    kind_4, kind_5, kind_6, kind_7};
	uint64_t events = count == 2 ? strtoull(words[1], NULL, 10) : 0;

	for (uint64_t number = 0; allocs + frees < events; number++)
		kinds[number % KINDS](number, (int)(number / KINDS % 10));
	printf("allocs %llu frees %llu bytes %llu\n", (unsigned long long)allocs, (unsigned long long)frees,
	       (unsigned long long)bytes);
	return 0;
}
