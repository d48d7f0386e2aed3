/* SPDX-License-Identifier: MIT */
/* windows.c: windows STEPS SOURCE: a block of (100 + i) KiB that is born in step i and given back in step i + 3, and 500
 * small ones a step. SOURCE says who tells of the steps: next (rvprof_step), pair (begin and end, with blocks of 900 KiB
 * in between), threads (two that take turns), fork (a child with as
 * many steps), ranges (NVTX), taken-over (NVTX, and then the program itself). kept: no steps, but STEPS times 50,000
 * small blocks that are never given back, 10 ms apart. It prints nothing. */
#include <rvprof.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIB = 1024, LIFE = 3, SMALL = 500, BETWEEN_KIB = 900, KEPT = 50000, KEPT_BYTES = 24 };

static void *blocks[LIFE];

static void work(int step)
{
	free(blocks[step % LIFE]);
	blocks[step % LIFE] = malloc((size_t)(100 + step) * KIB);
	for (int i = 0; i < SMALL; i++)
		free(malloc((size_t)(16 + i)));
}

static void next_steps(int count)
{
	for (int i = 0; i < count; i++) {
		rvprof_step();
		work(i);
	}
}

static void paired_steps(int count)
{
	for (int i = 0; i < count; i++) {
		rvprof_step_begin("decode", (uint64_t)i);
		work(i);
		rvprof_step_end();
		free(malloc(BETWEEN_KIB * KIB));
	}
}

static void *one_step(void *number)
{
	rvprof_step();
	work((int)(long)number);
	return NULL;
}

static void steps_of_threads(int count)
{
	for (long i = 0; i < count; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, one_step, (void *)i) == 0)
			pthread_join(thread, NULL);
	}
}

static void steps_of_a_child(int count)
{
	pid_t child = fork();

	next_steps(count);
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
}

/* As an NVTX tool tells of it: a range a step, with another one in it whose name would do as well. */
static void range_begins(const char *name)
{
	if (rvprof_found_api)
		rvprof_found_api->scope(RVPROF_SCOPE_BEGIN, RVPROF_SOURCE_NVTX, 0, name, 0);
}

static void range_ends(void)
{
	if (rvprof_found_api)
		rvprof_found_api->scope(RVPROF_SCOPE_END, RVPROF_SOURCE_NVTX, 0, 0, 0);
}

static void ranges(int from, int count)
{
	range_begins("epoch");
	for (int i = from; i < from + count; i++) {
		range_begins("step 7");
		range_begins("decode");
		work(i);
		range_ends();
		range_ends();
		free(malloc(BETWEEN_KIB * KIB));
	}
	range_ends();
}

/* From the first rvprof_step on ranges are no steps: its steps begin with 0. */
static void taken_over(int count)
{
	ranges(0, count);
	for (int i = count; i < 2 * count; i++) {
		rvprof_step();
		ranges(i, 1);
	}
}

static void keep(int count)
{
	static void **last;

	for (int i = 0; i < count; i++) {
		for (int k = 0; k < KEPT; k++) {
			void **block = malloc(KEPT_BYTES);

			if (!block)
				abort();
			*block = last;
			last = block;
		}
		usleep(10000);
	}
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10;
	const char *source = argc > 2 ? argv[2] : "next";

	free(malloc(700 * KIB));
	if (!strcmp(source, "pair"))
		paired_steps(count);
	else if (!strcmp(source, "threads"))
		steps_of_threads(count);
	else if (!strcmp(source, "fork"))
		steps_of_a_child(count);
	else if (!strcmp(source, "ranges"))
		ranges(0, count);
	else if (!strcmp(source, "taken-over"))
		taken_over(count);
	else if (!strcmp(source, "kept"))
		keep(count);
	else
		next_steps(count);
	for (int i = 0; i < LIFE; i++)
		free(blocks[i]);
	return 0;
}
