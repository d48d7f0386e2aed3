/* SPDX-License-Identifier: MIT */
/* marks_cost.c: ns a call of rvprof.h takes: marks_cost CALL [COUNT]; "empty" is the loop itself. The median
 * of blocks of a thousand calls, so that what other programs take of the machine does not count. */
#include <rvprof.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 1000, BLOCKS_MAX = 100000 };

static void empty(void)
{
	__asm__ volatile("" ::: "memory");
}
static void scope(void) /* two calls */
{
	rvprof_scope_begin("kv_cache", "model.layers.0.attention");
	rvprof_scope_end();
}
static void tag(void)
{
	static char at[16];

	rvprof_tag(at, sizeof at, "weights", "model.layers.0.attention.weight");
}
static void op(void) /* two calls */
{
	rvprof_op_begin("matmul", "temp", "T<1024x1024xf16>");
	rvprof_op_end();
}
static void step(void)
{
	rvprof_step();
}
static void step_pair(void) /* two calls */
{
	rvprof_step_begin("decode", 1000);
	rvprof_step_end();
}
static void metric(void)
{
	rvprof_metric("loss", 0.5);
}

static const struct {
	const char *name;
	void (*run)(void);
	int calls;
} kinds[] = {
    {"empty", empty, 1}, {"scope", scope, 2},         {"tag", tag, 1},       {"op", op, 2},
    {"step", step, 1},   {"step_pair", step_pair, 2}, {"metric", metric, 1},
};

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

int main(int count, char **words)
{
	static double blocks[BLOCKS_MAX];
	int number = count > 2 ? atoi(words[2]) / BLOCK : 300;

	number = number < 1 ? 1 : number > BLOCKS_MAX ? BLOCKS_MAX : number;
	for (size_t kind = 0; count > 1 && kind < sizeof kinds / sizeof kinds[0]; kind++) {
		if (strcmp(words[1], kinds[kind].name) != 0)
			continue;
		for (int block = 0; block < number; block++) {
			double begin = now_ns();

			for (int i = 0; i < BLOCK; i++)
				kinds[kind].run();
			blocks[block] = (now_ns() - begin) / BLOCK / kinds[kind].calls;
		}
		qsort(blocks, (size_t)number, sizeof *blocks, by_value);
		printf("%.2f\n", blocks[number / 2]);
		return 0;
	}
	fputs("usage: marks_cost empty|scope|tag|op|step|step_pair|metric [COUNT]\n", stderr);
	return 2;
}
