/* SPDX-License-Identifier: MIT */
/* trace_slices.h: scopes, operators, ranges and the program's own calls (trace_rows.h) of trace.json, put into it when
 * they end.
 *
 *   - A scope or operator is a slice ("X") of its thread. Where it would cross another slice of that thread
 * (scopes of two speakers, a step, a phase) it is a pair of asynchronous events ("b", "e") in its process:
 * readers take only slices that nest.
 *   - A range may end on another thread and overlap others: always such a pair.
 *   - What nobody ended has "open": true and lasts to the end of its thread's or process's records.
 *   - They get half of the file at most, so that a program that marks each operator leaves room for the
 * counters; what does not fit is counted there.
 *
 * Invariant (V1): the slices of a thread nest, with a nanosecond between any two ends, so that they do so too
 * when their times are added up as doubles. So a slice is shorter by three nanoseconds (a phase by two) and
 * one for each outside of it.
 */
#ifndef RVP_REPORT_TRACE_SLICES_H
#define RVP_REPORT_TRACE_SLICES_H

#include "report/match.h"
#include "report/steps.h"

struct rvp_trace;
struct rvp_trace_slices;

/* NULL without memory. */
struct rvp_trace_slices *rvp_trace_slices_open(struct rvp_trace *trace);

/* A step, or a phase, stands as a slice of that thread; in order of time, those of a kind do not overlap. */
enum rvp_trace_fence { RVP_TRACE_STEP, RVP_TRACE_PHASE, RVP_TRACE_FENCES };
void rvp_trace_slices_beside(struct rvp_trace_slices *slices, enum rvp_trace_fence kind, uint32_t process,
			     uint32_t tid, uint64_t begin_ns, uint64_t end_ns);

void rvp_trace_slices_see(struct rvp_trace_slices *slices, const struct rvp_event *event);

/* Behind the last event: what is open ends with the run. Then how many did not fit. */
uint64_t rvp_trace_slices_finish(struct rvp_trace_slices *slices);

void rvp_trace_slices_close(struct rvp_trace_slices *slices);

#endif
