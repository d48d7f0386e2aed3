/* SPDX-License-Identifier: MIT */
/* driver_fronts.h: the fronts of the CUDA driver's functions (driver.h, driver.def). */
#ifndef RVP_PRELOAD_DRIVER_FRONTS_H
#define RVP_PRELOAD_DRIVER_FRONTS_H

#include <stdint.h>

enum rvp_driver_call {
#define RVP_DRIVER(name, base, since, per_thread) RVP_DRIVER_##name,
#include "preload/driver.def"
	RVP_DRIVER_COUNT
};

/* The front of a function whose real one this is. The first real one of each is kept; NULL where another
 * comes later: two drivers in one process are not told apart. */
void *rvp_driver_front_of(enum rvp_driver_call call, void *real);

/* driver.c: what cuGetProcAddress shall answer, which found `real`. */
void *rvp_driver_front_for(const char *base, int version, uint64_t flags, void *real);

#endif
