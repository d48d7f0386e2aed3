/* SPDX-License-Identifier: MIT */
/* overhead_hand.c: two threads hand blocks over to each other, each giving back the other's, so that an
 * address goes to and fro as fast as it can.
 *
 *     overhead_hand BLOCKS      of each thread
 *
 * The n-th block of thread t has 2,000 + 2 (n mod 4,096) + t bytes and is given back as the n-th of t's: by
 * that overhead_hand_check finds every pair that was matched wrongly.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { ROOM = 256, CYCLE = 4096, LEAST_BYTES = 2000 };

static long blocks;

static struct ring {
	_Atomic unsigned long put __attribute__((aligned(64)));
	_Atomic unsigned long taken __attribute__((aligned(64)));
	void *held[ROOM];
} rings[2];

static void *trade(void *argument)
{
	uintptr_t number = (uintptr_t)argument;
	struct ring *mine = &rings[number], *others = &rings[1 - number];
	unsigned long given = 0, got = 0, count = (unsigned long)blocks;

	while (given < count || got < count) {
		unsigned long before = given + got;

		if (given < count &&
		    given - atomic_load_explicit(&mine->taken, memory_order_acquire) < ROOM) {
			mine->held[given % ROOM] = malloc(LEAST_BYTES + given % CYCLE * 2 + number);
			atomic_store_explicit(&mine->put, ++given, memory_order_release);
		}
		if (got < count && got < atomic_load_explicit(&others->put, memory_order_acquire)) {
			free(others->held[got % ROOM]);
			atomic_store_explicit(&others->taken, ++got, memory_order_release);
		}
		if (given + got == before)
			sched_yield();
	}
	return NULL;
}

int main(int count, char **words)
{
	pthread_t other;

	blocks = count == 2 ? atol(words[1]) : 0;
	if (blocks < 1 || pthread_create(&other, NULL, trade, (void *)1) != 0)
		return 2;
	trade((void *)0);
	pthread_join(other, NULL);
	return 0;
}
