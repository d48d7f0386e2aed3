/* SPDX-License-Identifier: MIT */
/* counters.h: struct rvp_counters, made from counters.def. */
#ifndef RVP_COUNTERS_H
#define RVP_COUNTERS_H

#include <stdint.h>

struct rvp_counters {
#define RVP_COUNTER(name, what) uint64_t name;
#include "record/counters.def"
};

static inline void rvp_counters_sum(struct rvp_counters *sum, const struct rvp_counters *more)
{
#define RVP_COUNTER(name, what) sum->name += more->name;
#include "record/counters.def"
}

#endif
