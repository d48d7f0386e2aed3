/* SPDX-License-Identifier: MIT */
/* write_trace.h: trace.json while a pass goes on: Chrome's trace format, as Perfetto and chrome://tracing
 * read it.
 *
 * Counters of live bytes and RSS a process, of live bytes by category and of each device's by category, allocations of 1 MiB and more as
 * instants with their call path, marks, steps and phases, scopes, operators and ranges (trace_slices.h), and
 * names of processes and threads. Times are microseconds since metadata.start_unix_us. Invariant (W1): the
 * file is complete JSON whatever happens; what did not fit under the cap is counted in it.
 */
#ifndef RVP_REPORT_WRITE_TRACE_H
#define RVP_REPORT_WRITE_TRACE_H

#include "report/rows.h"
#include "report/steps.h"

#include <stdio.h>

struct rvp_trace_slices;
struct rvp_kernel_trace;

struct rvp_trace {
	struct rvp_observer observer;
	const struct rvp_run *run;
	FILE *out;
	struct rvp_rows *rows;                 /* by process */
	struct rvp_rows categories;            /* of the tree */
	bool has_category[RVP_CATEGORY_COUNT]; /* once seen, a category stays in the counter */
	struct rvp_trace_slices *slices;
	uint64_t bytes, max_bytes, cut_events, cut_ns, cut_slices;
	const struct rvp_kernel_trace *devices; /* NULL: none; what it could not draw is told at the end */
	bool has_events;
	/* Set them behind open: what begins outside of these moments, or in another process, is left out, and not counted as
	 * cut. to_ns 0: all the time; RVP_NO_PROCESS: all. */
	uint64_t from_ns, to_ns;
	uint32_t only;
};

/* Writes the head (with what Kineto says of devices, where there are any) and all names. False without memory. `max_bytes`: of the whole file. */
bool rvp_trace_open(struct rvp_trace *trace, const struct rvp_run *run, FILE *out, uint64_t max_bytes);

/* Steps and phases, as slices of the threads that began them. Before the pass. */
void rvp_trace_put_steps(struct rvp_trace *trace, const struct rvp_steps *steps);

struct rvp_device_answers;
/* Each device's memory by category, from the rows that were asked for with the answers, which stand at their first one before
 * and after. Before the pass. False: they could not be read. */
bool rvp_trace_put_devices(struct rvp_trace *trace, struct rvp_device_answers *devices);

/* Behind the pass: the end of the file. */
void rvp_trace_close(struct rvp_trace *trace);

#endif
