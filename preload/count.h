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

#endif
