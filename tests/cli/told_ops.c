/* SPDX-License-Identifier: MIT */
/* told_ops.c: operators of known sizes, for `rvprof op`: nested, on two threads, one that nobody ends. Its status is 3. */
#include <rvprof.h>

#include <pthread.h>
#include <stdlib.h>

enum { TURNS = 3 };

static void turn(void **kept)
{
	void *first, *second;

	rvprof_op_begin("matmul", "temp", "T<2x3xf32>;\"quoted\"");
	first = malloc(100000);
	second = malloc(50000);
	free(first);
	free(*kept); /* older than the operator: makes no room in its workspace */
	*kept = malloc(20000);
	rvprof_op_begin("inner", NULL, NULL);
	free(malloc(70000));
	rvprof_op_end();
	free(second);
	rvprof_op_end();
}

static void *in_thread(void *unused)
{
	rvprof_op_begin("other thread", NULL, NULL);
	unused = malloc(1000);
	rvprof_op_end();
	return unused;
}

int main(void)
{
	void *kept = malloc(20000), *leak, *from_thread;
	pthread_t thread;

	for (int i = 0; i < TURNS; i++)
		turn(&kept);
	rvprof_scope_begin("weights", "load");
	rvprof_op_begin("leak", NULL, NULL);
	leak = malloc(1 << 20);
	rvprof_op_end();
	rvprof_scope_end();
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, &from_thread);
	rvprof_op_begin("open", NULL, NULL);
	free(from_thread);
	free(leak);
	free(kept);
	return 3;
}
