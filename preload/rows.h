/* SPDX-License-Identifier: MIT */
/* rows.h: the program's own calls, one record each, for the rows of a trace: Python functions and framework operators
 * while a window for them is open (rvprof.profile, rvprof_start(2)), products of matrices (blas.h) unless recording is
 * paused.
 *
 *   - Outside a window nothing of ours is called: no profile function, no callback is installed.
 *   - Somebody else's profile function, monitoring tool or callback stays where it is; what can't be recorded for that
 *     is said in the ROWS record that opens the window.
 *   - All these records of a process together have a share of the log (RVP_ROWS_LOG_SHARE); what is beyond it is not
 *     written, and counted (rows_bound), so that calls never push memory out of the log.
 *   - A child by fork has no window: it opens its own.
 */
#ifndef RVP_ROWS_H
#define RVP_ROWS_H

#include "preload/thread.h"

/* Of --max-log, one part in so many. */
enum { RVP_ROWS_LOG_SHARE = 4 };

/* enum rvp_row_bit: opens a window for these, or changes the one that is open; 0 closes it. What is on then. Where Python is
 * concerned and the caller has not the interpreter's lock, its main thread does it a moment later. In phase OUTSIDE. */
uint32_t rvp_rows_open(uint32_t kinds);

/* What is recorded at present; the window's number, from 1, in this process. */
uint32_t rvp_rows_kinds(void);
uint32_t rvp_rows_window(void);

/* Whether one more such record may be written; if not, it is counted. In phase OURS. */
bool rvp_rows_has_room(struct rvp_thread *thread);

#endif
