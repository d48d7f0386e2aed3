/* SPDX-License-Identifier: MIT */
/* trace_rows.h: words of the rows of trace.json that are the program's own calls: what is called, with what.
 *
 *   Python function   cat python_function, name `file(line): function`, as PyTorch's profiler writes it; the
 * file from behind site-packages, dist-packages or lib/pythonN.N operator of PyTorch  cat cpu_op, args "Input
 * Dims", "Input type" where they were asked for BLAS              cat cpu_op, name of the function, args m,
 * n, k, type, flops
 */
#ifndef RVP_REPORT_TRACE_ROWS_H
#define RVP_REPORT_TRACE_ROWS_H

#include "report/run.h"

struct rvp_trace;

enum { RVP_ROW_NAME_BYTES = 512 };

/* Into `name`, which it returns. */
const char *rvp_trace_python_name(const struct rvp_process *process, uint32_t code,
				  char name[RVP_ROW_NAME_BYTES]);

/* Puts `"Input Dims":..,"Input type":..` of an operator's args; false: they are not of that form, and nothing
 * is put. */
bool rvp_trace_put_shapes(struct rvp_trace *trace, struct rvp_text args);

/* What so many ticks of the process's stamps are; 0: the clock's pace is a guess. */
uint64_t rvp_trace_ticks_ns(const struct rvp_run *run, uint32_t process, uint64_t ticks);

/* Puts the args of a BLAS call with their braces. */
void rvp_trace_put_blas(struct rvp_trace *trace, const struct rvp_record_BLAS_CALL *call);

#endif
