/* SPDX-License-Identifier: MIT */
/* hand_over.c: threads in a ring hand blocks on: each makes blocks for the next one, which gives them back in
 * the order in which they were made. In between each makes blocks of its own, so that most events go the way
 * without a stamp.
 *
 *     hand_over THREADS BLOCKS      of each thread; 2 to 4 threads
 *
 * A block that is handed on has HAND_OVER_LEAST + 16 (n mod HAND_OVER_CYCLE) + 2 t bytes, where it is the
 * n-th of thread t; one of a thread's own has less. hand_over_check.c knows blocks by that.
 */
#include "tests/life/hand_over.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { ROOM = 64, OWN = 16, OWN_EVERY = 4 };

static unsigned long threads, blocks;

static struct ring { /* from one thread to the next */
	_Atomic unsigned long put __attribute__((aligned(64)));
	_Atomic unsigned long taken __attribute__((aligned(64)));
	void *held[ROOM];
} rings[HAND_OVER_THREADS];

static int put(struct ring *ring, unsigned long number, unsigned long thread)
{
	if (number - atomic_load_explicit(&ring->taken, memory_order_acquire) >= ROOM)
		return 0;
	ring->held[number % ROOM] = malloc(HAND_OVER_LEAST + number % HAND_OVER_CYCLE * 16 + 2 * thread);
	atomic_store_explicit(&ring->put, number + 1, memory_order_release);
	return 1;
}

static int take(struct ring *ring, unsigned long number)
{
	if (number >= atomic_load_explicit(&ring->put, memory_order_acquire))
		return 0;
	free(ring->held[number % ROOM]);
	atomic_store_explicit(&ring->taken, number + 1, memory_order_release);
	return 1;
}

static void keep_own(void **own, unsigned long number)
{
	void **place = &own[number / OWN_EVERY % OWN];

	free(*place);
	*place = malloc(24 + number % 100);
}

static void *trade(void *argument)
{
	unsigned long thread = (unsigned long)argument, given = 0, got = 0;
	struct ring *to = &rings[thread], *from = &rings[(thread + threads - 1) % threads];
	void *own[OWN] = {0};

	while (given < blocks || got < blocks) {
		int moved = 0;

		if (given < blocks && put(to, given, thread)) {
			if (++given % OWN_EVERY == 0)
				keep_own(own, given);
			moved = 1;
		}
		if (got < blocks && take(from, got))
			moved = 1, got++;
		if (!moved)
			sched_yield();
	}
	for (int i = 0; i < OWN; i++)
		free(own[i]);
	return NULL;
}

int main(int count, char **words)
{
	pthread_t others[HAND_OVER_THREADS];

	threads = count == 3 ? strtoul(words[1], NULL, 10) : 0;
	blocks = count == 3 ? strtoul(words[2], NULL, 10) : 0;
	if (threads < 2 || threads > HAND_OVER_THREADS || !blocks)
		return 2;
	for (unsigned long i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, trade, (void *)i) != 0)
			return 1;
	trade((void *)0);
	for (unsigned long i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	return 0;
}
