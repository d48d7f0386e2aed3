/* SPDX-License-Identifier: MIT */
/* rows.h: the program's own calls, one record each, for the rows of a trace: Python functions and framework
 * operators while a window for them is open (rvprof.profile, rvprof_start(2), --rows), products of matrices
 * (blas.h) unless recording is paused.
 *
 *   - Outside a window nothing of ours is called: no profile function, no callback is installed.
 *   - Somebody else's profile function, monitoring tool or callback stays where it is; what can't be recorded
 * for that is said in the ROWS record that opens the window.
 *   - All these records of a process together have a share of the log (RVP_ROWS_LOG_SHARE); what is beyond it
 * is not written, and counted (rows_bound), so that calls never push memory out of the log.
 *   - A child by fork has no window: it opens its own.
 */
#ifndef RVP_ROWS_H
#define RVP_ROWS_H

#include "preload/thread.h"

#include <stdatomic.h>

/* Of --max-log, one part in so many. */
enum { RVP_ROWS_LOG_SHARE = 4 };

enum { RVP_ROWS_ALL = RVP_ROWS_OPERATORS | RVP_ROWS_PYTHON | RVP_ROWS_SHAPES };

/* enum rvp_row_bit: opens a window for these, or changes the one that is open; 0 closes it, but for
 * what --rows wants. What is on then. In phase
 * OUTSIDE, and not out of a signal handler. Where the caller has not the lock of the interpreter that there
 * is, it is asked for (below), and what is wanted is told. */
uint32_t rvp_rows_open(uint32_t kinds);

/* The same from anywhere: done by the interpreter's main thread between two of its instructions, as soon as
 * it can; in a process without one at the program's next mark (rvp_rows_at_mark). */
void rvp_rows_ask(uint32_t kinds);

/* In a child by fork, with a share of its own. is_open: blocks are recorded in it. */
void rvp_rows_after_fork(bool is_open);

/* Now and then: what was asked for and could not be passed on. In any phase. */
void rvp_rows_look(void);

extern _Atomic uint32_t rvp_rows_asked __attribute__((visibility("hidden"))); /* 1 + the kinds; 0: nothing */
void rvp_rows_at_mark_slow(void);
static inline void rvp_rows_at_mark(void)
{
	if (__builtin_expect(atomic_load_explicit(&rvp_rows_asked, memory_order_relaxed) != 0, 0))
		rvp_rows_at_mark_slow();
}

/* Of rvprof_start's levels. */
static inline uint32_t rvp_rows_of_level(int level)
{
	return level > 1 ? RVP_ROWS_ALL : 0;
}

/* What is recorded at present; the window's number, from 1, in this process. */
uint32_t rvp_rows_kinds(void);
uint32_t rvp_rows_window(void);

/* False: a callback that a child by fork has of its parent. */
bool rvp_rows_is_ours(void);

/* Whether one more such record may be written; if not, it is counted. In phase OURS. */
bool rvp_rows_has_room(struct rvp_thread *thread);

#endif
