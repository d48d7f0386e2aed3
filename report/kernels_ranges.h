/* SPDX-License-Identifier: MIT */
/* kernels_ranges.h: in which scopes and NVTX ranges of the host a launch was made: those that nest and were open on its
 * thread then (scope_stacks.h). Each nest that was met has a number; its parent is the nest around it.
 *
 * The records of the host are read a second time, beside the work, up to the launch that is asked for: so launches are
 * asked for in order of time. What is held is what is open, and the nests.
 *
 * Rules
 *   - Launches of threads that have no scope, and all launches of a run without any, are RVP_RANGE_NONE.
 *   - A launch that lies before one that was asked for has no answer any more: RVP_RANGE_UNKNOWN. That is where the device's
 * clock is not tied.
 *   - At most RVP_RANGES_MAX nests; a deeper or later one counts as the nest around it. Deeper than RVP_RANGE_DEPTH_MAX none is
 * looked at.
 *   - Ranges that a program begins and ends by a number, on any thread, do not nest and are not in here.
 */
#ifndef RVP_REPORT_KERNELS_RANGES_H
#define RVP_REPORT_KERNELS_RANGES_H

#include "report/run.h"

#include <stddef.h>

enum { RVP_RANGE_NONE, RVP_RANGE_UNKNOWN, RVP_RANGE_FIRST, RVP_RANGES_MAX = 1 << 16, RVP_RANGE_DEPTH_MAX = 32 };

struct rvp_kernel_ranges;

/* NULL without memory. Where nobody asks (`is_wanted` false) nothing is read, and all launches are RVP_RANGE_UNKNOWN. */
struct rvp_kernel_ranges *rvp_kernel_ranges_open(const struct rvp_run *run, bool is_wanted);
void rvp_kernel_ranges_close(struct rvp_kernel_ranges *ranges);

/* The innermost that is open on the thread at that time. RVP_RANGE_UNKNOWN without memory, too. */
uint32_t rvp_kernel_range_at(struct rvp_kernel_ranges *ranges, uint32_t process, uint32_t tid, uint64_t ns);

/* One more than the largest number. */
size_t rvp_kernel_range_count(const struct rvp_kernel_ranges *ranges);
/* RVP_RANGE_NONE: it is in no other. */
uint32_t rvp_kernel_range_parent(const struct rvp_kernel_ranges *ranges, uint32_t number);
/* "step > attention"; the outer part gives way where it is long. Returns `text`, "" of RVP_RANGE_NONE and _UNKNOWN. */
const char *rvp_kernel_range_text(const struct rvp_kernel_ranges *ranges, uint32_t number, char *text, size_t text_bytes);

/* How many nests were counted as the one around them. */
uint64_t rvp_kernel_ranges_cut(const struct rvp_kernel_ranges *ranges);

#endif
