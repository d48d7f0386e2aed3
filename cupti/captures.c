/* SPDX-License-Identifier: MIT */
/* captures.c: see captures.h. A place is taken by its state, so that a stream of the number 0 (a thread's own) is one too. */
#include "cupti/captures.h"

#include <stdatomic.h>
#include <stdint.h>

enum { CAPTURES_MAX = 64 };
enum { FREE, FILLING, TAKEN };

static struct {
	_Atomic uint32_t state;
	void *context, *stream;
} places[CAPTURES_MAX];
static _Atomic int count, beyond; /* beyond: of `count`, those without a place */

void rvp_capture_begins(void *context, void *stream)
{
	atomic_fetch_add(&count, 1);
	for (int i = 0; i < CAPTURES_MAX; i++) {
		uint32_t state = FREE;

		if (!atomic_compare_exchange_strong(&places[i].state, &state, FILLING))
			continue;
		places[i].context = context;
		places[i].stream = stream;
		atomic_store(&places[i].state, TAKEN);
		return;
	}
	atomic_fetch_add(&beyond, 1);
}

/* False: somebody else has just given it back. */
static bool give_back(int number)
{
	uint32_t state = TAKEN;

	if (!atomic_compare_exchange_strong(&places[number].state, &state, FREE))
		return false;
	atomic_fetch_sub(&count, 1);
	return true;
}

void rvp_capture_ends(void *stream)
{
	int there;

	for (int i = 0; i < CAPTURES_MAX; i++)
		if (atomic_load(&places[i].state) == TAKEN && places[i].stream == stream && give_back(i))
			return;
	/* Else it has no place, or began before us. */
	there = atomic_load(&beyond);
	while (there > 0 && !atomic_compare_exchange_weak(&beyond, &there, there - 1))
		;
	if (there > 0)
		atomic_fetch_sub(&count, 1);
}

void rvp_capture_stream_ends(void *stream)
{
	for (int i = 0; i < CAPTURES_MAX && rvp_is_capturing(); i++)
		if (stream && atomic_load(&places[i].state) == TAKEN && places[i].stream == stream)
			give_back(i);
}

void rvp_capture_context_ends(void *context)
{
	for (int i = 0; i < CAPTURES_MAX && rvp_is_capturing(); i++)
		if (atomic_load(&places[i].state) == TAKEN && places[i].context == context)
			give_back(i);
}

bool rvp_is_capturing(void)
{
	return atomic_load_explicit(&count, memory_order_relaxed) > 0;
}
