/* SPDX-License-Identifier: MIT */
/* preload_double.h: what the library's units beside the walk lean on: memory that can run out, losses that
 * are counted here, and a process that is nobody's. */
#ifndef RVP_PRELOAD_DOUBLE_H
#define RVP_PRELOAD_DOUBLE_H

#include "preload/process.h"
#include "record/names.h"

extern _Atomic uint64_t double_lost[RVP_LOSS_COUNT];
extern _Atomic int double_maps_refused; /* not 0: there is no memory */
extern _Atomic int64_t double_mapped_bytes;
extern _Atomic unsigned double_maps; /* given so far */

#endif
