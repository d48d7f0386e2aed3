/* SPDX-License-Identifier: MIT */
/* trace_events.h: how one event is put into trace.json; for write_trace.c, trace_slices.c and kernels_trace*.c alone.
 *
 *     if (!rvp_trace_begin_event(trace, ns)) return;      counted, the cap is met
 *     rvp_trace_put(trace, "{...");                       at most 8 texts an event
 */
#ifndef RVP_REPORT_TRACE_EVENTS_H
#define RVP_REPORT_TRACE_EVENTS_H

#include "report/write_trace.h"

double rvp_trace_us(const struct rvp_trace *trace, uint64_t ns);
void rvp_trace_put(struct rvp_trace *trace, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A text of at most 512 bytes, so that an event is bounded. */
void rvp_trace_put_text(struct rvp_trace *trace, const char *text);

/* Whether it is asked for; names, which have the run's begin as their time, always are. */
bool rvp_trace_is_asked(const struct rvp_trace *trace, uint64_t ns);

/* Whether one more event is asked for and fits; what does not fit is counted. */
bool rvp_trace_begin_event(struct rvp_trace *trace, uint64_t ns);

/* ,"stack":[..],"python":[..] of a call path; the latter where there is one. */
void rvp_trace_put_paths(struct rvp_trace *trace, const struct rvp_process *process, uint32_t stack, uint32_t python,
			 uint64_t ns);

/* The same of a call that asked a device for something: without its way through CUDA's libraries and ours. */
void rvp_trace_put_device_paths(struct rvp_trace *trace, const struct rvp_process *process, uint32_t stack,
				uint32_t python, uint64_t ns);

/* The innermost Python frame as Kineto names one: "model.py(42): forward", with the line that was at work. Returns `text`;
 * NULL: there is none. */
const char *rvp_trace_python_function(const struct rvp_process *process, uint32_t python, char *text, size_t text_bytes);

/* A slice up to its "dur", without the closing brace. */
void rvp_trace_put_slice(struct rvp_trace *trace, uint32_t process, uint32_t tid, uint64_t begin_ns,
			 uint64_t ns, const char *category, const char *name);

#endif
