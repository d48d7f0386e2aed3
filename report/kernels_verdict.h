/* SPDX-License-Identifier: MIT */
/* kernels_verdict.h: what the run's busiest device waited for, in a sentence with its numbers.
 *
 *   device_bound          it was busy BOUND_PERCENT of the time between its first and its last work
 *   communication_bound   it had nothing but communication for COMM_PERCENT of it
 *   host_bound            it stood idle for IDLE_PERCENT of it; the largest reason is named (kernels_idle.h)
 *
 * Nothing is said of less than LEAST_MS or LEAST_PIECES: a start is no steady state. Between the bars nobody
 * is the bound.
 */
#ifndef RVP_REPORT_KERNELS_VERDICT_H
#define RVP_REPORT_KERNELS_VERDICT_H

#include "report/kernels.h"
#include "report/verdicts.h"

/* False: there is nothing to say. */
bool rvp_kernels_sentence(const struct rvp_kernels *kernels, struct rvp_sentence *sentence);

/* The sentence, if any, behind those that are there. */
void rvp_verdicts_add_kernels(struct rvp_verdicts *verdicts, const struct rvp_kernels *kernels);

/* "device", "communication", "host" or "" of one device, by the same bars. */
const char *rvp_kernel_bound(const struct rvp_kernel_device *device);

/* The largest part of the idle time. */
enum rvp_idle rvp_kernel_largest_idle(const struct rvp_kernel_device *device);

/* "launch" as a reason in words: "the host launches kernels slower than the device runs them". */
const char *rvp_idle_text(enum rvp_idle idle);

#endif
