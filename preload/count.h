/* SPDX-License-Identifier: MIT */
/* count.h: adds to the calling thread's exact counters, wherever they are.
 *
 * A thread with a place of its own adds with one plain instruction (a signal handler cannot split it). One without
 * (no slot yet, or none to be had) adds to the process's `spill` with a locked one.
 */
#ifndef RVP_COUNT_H
#define RVP_COUNT_H

#include "preload/process.h"

#define RVP_COUNT(name, value)                                                                               \
	do {                                                                                                 \
		struct rvp_counters *rvp_c_ = rvp_local.counters;                                            \
		if (__builtin_expect(rvp_c_ != 0, 1))                                                        \
			rvp_machine_add(&rvp_c_->name, (uint64_t)(value));                                   \
		else                                                                                         \
			__atomic_fetch_add(&rvp_process.entry->spill.name, (uint64_t)(value),                \
					   __ATOMIC_RELAXED);                                                \
	} while (0)

static inline void rvp_count_alloc(uint64_t bytes, uint64_t usable)
{
	RVP_COUNT(alloc_count, 1);
	RVP_COUNT(alloc_bytes, bytes);
	RVP_COUNT(alloc_usable_bytes, usable);
}

static inline void rvp_count_free(uint64_t usable)
{
	RVP_COUNT(free_count, 1);
	RVP_COUNT(free_usable_bytes, usable);
}

#endif
