/* SPDX-License-Identifier: MIT */
/* retained.c: see retained.h. A place is a retained reference; they are few and short-lived. One that finds no place is
 * forgotten: the memory then seems to be given back one release early. */
#include "cupti/retained.h"

#include <stdatomic.h>

enum { PLACES = 4096, PROBES = 64 };

static _Atomic uint64_t places[PLACES]; /* handles; 0: free */
static _Atomic uint64_t count;

static uint64_t place_of(uint64_t handle)
{
	return handle * 0x9e3779b97f4a7c15u >> 52;
}

void rvp_retained_add(uint64_t handle)
{
	uint64_t at = place_of(handle);

	for (int i = 0; handle && i < PROBES; i++) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(&places[(at + (uint64_t)i) % PLACES], &none, handle)) {
			atomic_fetch_add(&count, 1);
			return;
		}
	}
}

bool rvp_retained_release(uint64_t handle)
{
	uint64_t at = place_of(handle);

	for (int i = 0; atomic_load_explicit(&count, memory_order_relaxed) && i < PROBES; i++) {
		uint64_t there = handle;

		if (atomic_compare_exchange_strong(&places[(at + (uint64_t)i) % PLACES], &there, 0)) {
			atomic_fetch_sub(&count, 1);
			return true;
		}
	}
	return false;
}
