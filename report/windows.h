/* SPDX-License-Identifier: MIT */
/* windows.h: when a run recorded blocks (docs/schedule.md): windows by steps, by time, by the program and by orders from
 * outside. A finished cycle of a schedule is one window.
 *
 * Nothing is told of a run that recorded all the time.
 */
#ifndef RVP_REPORT_WINDOWS_H
#define RVP_REPORT_WINDOWS_H

#include "report/json_writer.h"
#include "report/run.h"
#include "report/write_trace.h"

/* Blocks were not recorded at some time, of some process, or would not have been. */
bool rvp_windows_matter(const struct rvp_run *run);

/* One sentence: what was recorded, or why nothing was. */
enum { RVP_WINDOWS_TEXT_BYTES = 512 };
void rvp_windows_text(const struct rvp_run *run, char text[RVP_WINDOWS_TEXT_BYTES]);

/* Key "windows" of summary.json. */
void rvp_windows_write_json(struct rvp_json *json, const struct rvp_run *run);

/* A span each in the trace, in their process. */
void rvp_windows_trace(struct rvp_trace *trace);

/* Of a record; false without memory. Spans have stamps for times until they are settled. */
bool rvp_windows_take(struct rvp_process *process, const struct rvp_record_RECORD_WINDOW *record);
void rvp_windows_settle(const struct rvp_run *run, struct rvp_process *process);

#endif
