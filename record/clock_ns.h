/* SPDX-License-Identifier: MIT */
/* clock_ns.h: a clock of the system as one number. */
#ifndef RVP_CLOCK_NS_H
#define RVP_CLOCK_NS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t rvp_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
