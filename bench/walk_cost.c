/* SPDX-License-Identifier: MIT */
/* walk_cost.c: ns a walk, by itself: the call path of a recorded event, without the event.
 *
 * Usage: walk_cost [ROUNDS]
 * Each row descends DEPTH frames, whose innermost LEVELS pick one of two call sites at random, and walks.
 * What the same descent takes without the walk is taken off. A figure is the least of ROUNDS short rounds:
 * what a busy machine does in between is not in it.
 */
#include "preload/walk.h"
#include "tests/unit/recorder_double.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WALKS_A_ROUND = 500 };

static struct rvp_thread *thread;
static uint32_t (*volatile innermost)(void);
static uint32_t sum;

__attribute__((noinline)) static uint32_t walk_here(void)
{
	return rvp_walk(thread, RVP_CALLER()).stack;
}

__attribute__((noinline)) static uint32_t nothing_here(void)
{
	return 1;
}

__attribute__((noinline)) static void descend(int left, int levels, uint32_t bits)
{
	if (!left)
		sum += innermost();
	else if (left <= levels && bits >> left & 1)
		descend(left - 1, levels, bits);
	else {
		descend(left - 1, levels, bits);
		__asm__ volatile("nop"); /* so that the two calls are two */
	}
	__asm__ volatile("" ::: "memory");
}

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* The least ns a descent takes. */
static double least(int depth, int levels, int rounds, uint32_t (*what)(void))
{
	uint64_t random = 88172645463325252u;
	double best = 1e18;

	innermost = what;
	for (int round = 0; round < rounds; round++) {
		double begin = now_ns(), took;

		for (int i = 0; i < WALKS_A_ROUND; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			descend(depth, levels, (uint32_t)(random >> 20));
		}
		took = (now_ns() - begin) / WALKS_A_ROUND;
		best = took < best ? took : best;
	}
	return best;
}

int main(int count, char **words)
{
	static const int rows[][2] = {{10, 0}, {10, 4}, {10, 8}, {30, 0}, {30, 4}, {30, 8}, {80, 0}, {80, 4}};
	int rounds = count > 1 ? atoi(words[1]) : 1000;

	rvp_walk_start(false);
	thread = double_thread();
	printf("depth  paths  ns a walk\n");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		int depth = rows[i][0], levels = rows[i][1];
		double with = least(depth, levels, rounds, walk_here),
		       without = least(depth, levels, rounds, nothing_here);

		printf("%5d  %5d  %9.1f\n", depth, 1 << levels, with - without);
	}
	return sum == 0;
}
