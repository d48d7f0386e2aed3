/* SPDX-License-Identifier: MIT */
/* stamp.h: clocks of the recorder (rvp_stamp and rvp_realtime_ns are in process.h). */
#ifndef RVP_STAMP_H
#define RVP_STAMP_H

#include "record/schema.h"

/* Which clock is fit to stamp records on this machine; opens a file in /sys. */
enum rvp_clock rvp_clock_choose(void);

/* The same, cheaper, and not in order with loads and stores around it: for what no other thread's record is compared
 * with. */
uint64_t rvp_stamp_unordered(void);

uint64_t rvp_monotonic_ns(void);

/* No clock is read any more: see stamp.c. */
void rvp_stamp_freeze(void);

/* The same moment on all clocks. */
struct rvp_record_ANCHOR rvp_anchor(void);

#endif
