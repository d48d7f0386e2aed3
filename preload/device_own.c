/* SPDX-License-Identifier: MIT */
/* device_own.c: see device_own.h. The tracer's living blocks are in a table of open addressing: an address, 0 (free, and
 * nothing behind it) or GONE. One that finds no place is forgotten: its end counts as the program's. */
#include "preload/device_own.h"

#include "preload/enter.h"
#include "preload/recorder.h"

#include <errno.h>

enum { PLACE_BITS = 14, PLACES = 1 << PLACE_BITS, PROBES = 32, GONE = 1 };

static _Atomic uint64_t places[PLACES];

static uint64_t place_of(uint64_t address)
{
	return (address >> 4) * 0x9e3779b97f4a7c15u >> (64 - PLACE_BITS);
}

void rvp_own_alloc(const void *block)
{
	uint64_t address = (uint64_t)block, at = place_of(address);

	for (int i = 0; block && i < PROBES; i++, at = (at + 1) % PLACES) {
		uint64_t there = atomic_load_explicit(&places[at], memory_order_relaxed);

		if (there <= GONE && atomic_compare_exchange_strong(&places[at], &there, address))
			return;
	}
}

static bool take(uint64_t address)
{
	uint64_t at = place_of(address);

	for (int i = 0; i < PROBES; i++, at = (at + 1) % PLACES) {
		uint64_t there = atomic_load_explicit(&places[at], memory_order_relaxed);

		if (!there)
			return false;
		if (there == address)
			return atomic_compare_exchange_strong(&places[at], &there, GONE);
	}
	return false;
}

void rvp_own_free(void *block, uint64_t usable, enum rvp_family family)
{
	struct rvp_thread *thread;

	if (take((uint64_t)block))
		return;
	rvp_local.phase = RVP_OUTSIDE;
	thread = rvp_enter();
	if (thread) {
		rvp_on_free(thread, block, usable, family);
		rvp_leave(thread);
	}
	rvp_local.frees_left = 0; /* the look may have opened the short way again */
	rvp_local.phase = RVP_OWN;
}

/* The thread is known before its stay: from inside it can't be met. */
static bool is_known(void)
{
	struct rvp_thread *thread = rvp_enter();

	if (thread)
		rvp_leave(thread);
	return thread != NULL;
}

void rvp_own_begin(void)
{
	int error = errno;

	if (rvp_local.own_depth++ || rvp_local.phase != RVP_OUTSIDE)
		return;
	if (is_known()) {
		rvp_local.own_sample_left = rvp_local.sample_left;
		rvp_local.own_frees_left = rvp_local.frees_left;
		rvp_local.sample_left = 0;
		rvp_local.frees_left = 0;
		rvp_local.phase = RVP_OWN;
	}
	errno = error;
}

void rvp_own_end(void)
{
	if (!rvp_local.own_depth || --rvp_local.own_depth || rvp_local.phase != RVP_OWN)
		return;
	rvp_local.phase = RVP_OUTSIDE;
	rvp_local.sample_left = rvp_local.own_sample_left;
	rvp_local.frees_left = rvp_local.own_frees_left;
}
