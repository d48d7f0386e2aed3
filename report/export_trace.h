/* SPDX-License-Identifier: MIT */
/* export_trace.h: traces of a run beyond trace.json: all of it, without a cap; and one for HolisticTraceAnalysis. */
#ifndef RVP_REPORT_EXPORT_TRACE_H
#define RVP_REPORT_EXPORT_TRACE_H

#include "record/status.h"

#include <stdint.h>
#include <stdio.h>

struct rvp_run;

/* What of a run is wanted: a process (pid; 0: all), and what begins between two moments (text_times.h; NULL: the run's begin,
 * its end). "peak" is none of them here. */
struct rvp_trace_part {
	uint32_t pid;
	const char *from, *to;
};

/* What trace.json has, and all that did not fit. */
struct rvp_status rvp_export_chrome(struct rvp_run *run, const struct rvp_trace_part *part, FILE *out);

/* The device's work of one process, its launches and steps, as HTA's parser wants them (kernels_trace.h). `pid` 0: the
 * only process that used a device; where there are several the failure names them. */
struct rvp_status rvp_export_hta(struct rvp_run *run, uint32_t pid, FILE *out);

#endif
