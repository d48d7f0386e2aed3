/* SPDX-License-Identifier: MIT */
/* generated.h: what generated functions (generate.c) are made of. Each thread, and each coroutine, is a
 * context with its own random numbers and its own places to jump to; a function takes a step, and goes on
 * while there are steps.
 */
#ifndef GENERATED_H
#define GENERATED_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { HELD = 64, JUMPS_MAX = 32 };

typedef void (*generated)(int budget);

struct context {
	uint64_t random;
	long steps;   /* functions that may still be entered */
	int handlers; /* signal handlers on this context's stacks */
	bool is_coroutine, may_use_module;
	jmp_buf *jumps[JUMPS_MAX];
	int jump_count,
	    jump_floor; /* who is at or below the floor may not be jumped to: a handler, another stack */
	void *held[HELD];
};
extern __thread struct context *here;

extern const generated generated_functions[];
extern const int generated_count;

/* Of generated_main.c. */
void take_signal(int budget); /* one of two, handled on this stack or on its own */
void resume_coroutine(int budget);
void yield(void);
void call_module(int budget);
void call_from_qsort(int budget, generated function);
void jump_back(void);

static inline uint64_t draw(void)
{
	here->random ^= here->random << 13;
	here->random ^= here->random >> 7;
	return here->random ^= here->random << 17;
}

static inline bool step(int budget)
{
	return budget > 0 && --here->steps > 0;
}

/* The hooks are called by the generated function itself. */
static inline __attribute__((always_inline)) void event(void)
{
	uint64_t number = draw();
	void **place = &here->held[number % HELD];
	size_t bytes = (number >> 16) % 2000 + 1;

	switch ((number >> 8) % 8) {
	case 0:
	case 1:
		free(*place);
		*place = malloc(bytes);
		break;
	case 2:
	case 3:
		free(*place);
		*place = calloc(bytes, 1);
		break;
	case 4:
	case 5: *place = realloc(*place, bytes); break;
	case 6: {
		void *pages = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (pages != MAP_FAILED)
			munmap(pages, 4096);
		break;
	}
	default: free(*place); *place = NULL;
	}
	__asm__ volatile("" ::: "memory");
}

static inline generated any_function(void)
{
	return generated_functions[draw() % (uint64_t)generated_count];
}

#define TOUCH(room) __asm__ volatile("" : : "r"(room) : "memory")

#endif
