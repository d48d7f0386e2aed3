/* SPDX-License-Identifier: MIT */
/* kernels_join.h: who launched what: work on the device and the call on the host that it came from, by
 * correlation.
 *
 * Rules
 *   - A correlation is a process's. The call is a LAUNCH, else the outermost (first) DEVICE_CALL of that
 * correlation; the path, the thread and the weight are the LAUNCH's. So runtime and driver calls of one
 * correlation are one launch.
 *   - All kernels of a graph have the correlation of the graph's launch. Their path is that of the capture
 * (rvp_graph_node_path) where it is known.
 *   - What is remembered: the last RVP_LAUNCHES_MAX launches of a process. Work whose launch was pushed out
 * has none.
 *   - The step of work is that in which its launch lies, whichever thread made it; without a launch the one
 * in which it starts. A step holds from its begin up to its end; between steps there is none.
 *   - The range of work is that in which its launch was made (kernels_ranges.h); without a launch it is not known.
 */
#ifndef RVP_REPORT_KERNELS_JOIN_H
#define RVP_REPORT_KERNELS_JOIN_H

#include "report/kernels_ranges.h"
#include "report/kernels_stream.h"
#include "report/steps.h"

enum { RVP_LAUNCHES_MAX = 1 << 18 };

struct rvp_launch {
	uint64_t correlation;
	uint64_t ns, duration_ns;
	uint64_t stands_for;
	uint64_t since_ns; /* since the process's launch before; RVP_NEVER: it is the first */
	uint32_t tid, stack, python;
	uint32_t function; /* DEVICE_NAME */
	uint32_t range;    /* kernels_ranges.h */
	bool is_told;      /* there was a LAUNCH, not a call alone */
	bool has_call;     /* its DEVICE_CALL was seen */
	bool is_used;      /* some work has found it */
};

/* Work and what is known of where it came from. */
struct rvp_work {
	const struct rvp_activity *activity;
	const struct rvp_launch *launch; /* NULL: not known */
	int64_t step;                    /* -1: none */
	bool step_by_time;               /* by its start alone */
	bool is_in_other_step;           /* it would be in a step that another process is in: it is in none */
	bool has_latency,
	    is_conflict; /* conflict: it started before it was launched, so the clocks disagree */
	bool is_first;   /* of the work of its launch */
	bool is_inner;   /* of a call: a call of that correlation was seen before */
	uint64_t latency_ns;
	uint32_t stack, python; /* 0: not known */
	uint32_t range;         /* RVP_RANGE_UNKNOWN without a launch */
	uint32_t site;          /* of a kernel: 1 + its number in kernels.sites; 0: none */
	uint32_t name;          /* of a kernel: rvp_kernel_name_at */
	uint8_t class;          /* enum rvp_kernel_class, of what runs on a device */
	uint64_t number;        /* of kernels, copies, memsets and graphs: each from 0 */
};

struct rvp_kernel_join;

/* NULL without memory. `steps` may be NULL. `ranges` must outlive it. */
struct rvp_kernel_join *rvp_kernel_join_open(const struct rvp_run *run, const struct rvp_steps *steps,
					     struct rvp_kernel_ranges *ranges);

/* In the order of the stream. Fills in all but name, class, site and number. False without memory. */
bool rvp_kernel_join(struct rvp_kernel_join *join, const struct rvp_activity *activity,
		     struct rvp_work *work);
void rvp_kernel_join_close(struct rvp_kernel_join *join);

#endif
