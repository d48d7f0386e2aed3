/* SPDX-License-Identifier: MIT */
/* other_thread.c: a step a turn by one thread, and a block a turn by another one, at places that it used before. */
#include <rvprof.h>

#include <pthread.h>
#include <stdlib.h>

enum { STEPS = 100, BLOCK_BYTES = 777 };

static pthread_barrier_t turn;
static void *kept[STEPS];

static void *work(void *nothing)
{
	for (int i = 0; i < STEPS; i++)
		kept[i] = malloc(BLOCK_BYTES);
	for (int i = 0; i < STEPS; i++)
		free(kept[i]);
	for (int i = 0; i < STEPS; i++) {
		pthread_barrier_wait(&turn);
		kept[i] = malloc(BLOCK_BYTES);
		pthread_barrier_wait(&turn);
	}
	return nothing;
}

int main(void)
{
	pthread_t worker;

	pthread_barrier_init(&turn, NULL, 2);
	if (pthread_create(&worker, NULL, work, NULL) != 0)
		return 1;
	for (int i = 0; i < STEPS; i++) {
		rvprof_step_begin("decode", (uint64_t)i + 1);
		pthread_barrier_wait(&turn);
		pthread_barrier_wait(&turn);
		rvprof_step_end();
	}
	pthread_join(worker, NULL);
	return 0;
}
