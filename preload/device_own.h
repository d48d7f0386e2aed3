/* SPDX-License-Identifier: MIT */
/* device_own.h: a thread's stay in CUPTI or the driver on the profiler's behalf (record/device.h, begin_own).
 *
 * What it allocates meanwhile is not the program's: neither counted nor recorded, and so is its end, in such a stay. A
 * block of the program's that is given back meanwhile is recorded as ever. One of the tracer's that is given back
 * elsewhere (by a thread of CUPTI's) counts as a free of a block that nobody gave out: a few a process.
 */
#ifndef RVP_DEVICE_OWN_H
#define RVP_DEVICE_OWN_H

#include "preload/thread.h"
#include "record/names.h"

/* They nest. Out of a signal handler inside a hook of ours they do nothing. */
void rvp_own_begin(void);
void rvp_own_end(void);

/* In phase OWN: a block was given out; one is about to be given back. */
void rvp_own_alloc(const void *block);
void rvp_own_free(void *block, uint64_t usable, enum rvp_family family);

#endif
