/* SPDX-License-Identifier: MIT */
/* kernels_idle.h: why a device stood idle between two pieces of work. docs/metrics.md has the words for users.
 *
 * A gap lies between the end of all work so far and the start of the next piece, whose launch is known or not.
 *
 *   Launched before the gap:
 *     - communication: the piece before or behind is communication
 *     - queue: else; the work was there and waited (another stream, an event, the device's own time between two kernels)
 *   Launched within it; up to the launch:
 *     - input: the next piece is a copy from the host
 *     - sync: to 100 us behind the end of a wait of the host for the device that was on when it ran dry
 *     - launch: the launch before was less than RVP_BUSY_LAUNCHER_NS ago: the host launches as fast as it can
 *     - nothing_asked: else
 *   and from the launch on:
 *     - latency
 *   Launch not known:
 *     - unknown
 */
#ifndef RVP_REPORT_KERNELS_IDLE_H
#define RVP_REPORT_KERNELS_IDLE_H

#include "report/kernels_join.h"

#define RVP_BUSY_LAUNCHER_NS 100000u

enum rvp_idle {
	RVP_IDLE_INPUT,
	RVP_IDLE_LAUNCH,
	RVP_IDLE_SYNC,
	RVP_IDLE_COMMUNICATION,
	RVP_IDLE_QUEUE,
	RVP_IDLE_LATENCY,
	RVP_IDLE_NOTHING_ASKED,
	RVP_IDLE_UNKNOWN,
	RVP_IDLE_COUNT
};
extern const char *const rvp_idle_names[RVP_IDLE_COUNT];

struct rvp_host_wait {             /* the last wait of the host for the device */
	uint64_t begin_ns, end_ns; /* end 0: none */
};

/* A wait of the host: event, stream, context. Not: a stream that waits for an event. */
void rvp_host_wait_see(struct rvp_host_wait *wait, const struct rvp_activity *activity);

/* Adds the parts of the gap before `work`. `is_behind_comm`: so was what ended at its begin. */
void rvp_idle_add(uint64_t parts_ns[RVP_IDLE_COUNT], uint64_t begin_ns, const struct rvp_work *work,
		  const struct rvp_host_wait *wait, bool is_behind_comm);

#endif
