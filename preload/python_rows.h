/* SPDX-License-Identifier: MIT */
/* python_rows.h: Python functions as they are entered and left, a PYTHON_CALL record each, while a window is
 * open.
 *
 * From 3.12 on by sys.monitoring, with a tool number that no known tool takes (4, else 3); before by the
 * profile function of each thread, set from C so that no Python runs for an event. The rest is
 * python/rvprof_rows.py, whose text the library holds as it holds the adapter's.
 *
 *   - With the interpreter's lock throughout; events come with it.
 *   - A function that was entered before the thread's first event in the window is told then, outermost first
 * (OPEN).
 *   - A thread whose profile function is somebody else's keeps it, and has no rows.
 *   - No object of the program's is kept: a code object is known by its words (python_code.h).
 */
#ifndef RVP_PYTHON_ROWS_H
#define RVP_PYTHON_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Takes RVP_ROWS_PYTHON out of *kinds where it can't be, and says why in *why. In phase OUTSIDE. */
void rvp_python_rows_open(uint32_t *kinds, const char **why);
void rvp_python_rows_close(void);

/* The interpreter's lock is with this thread, with another, or there is no interpreter that rows could be had
 * of. */
enum rvp_python_where { RVP_PYTHON_HERE, RVP_PYTHON_ELSEWHERE, RVP_PYTHON_NOWHERE };
enum rvp_python_where rvp_python_rows_where(void);

/* Its main thread calls this between two instructions. False: it can't be asked now. In any phase. */
bool rvp_python_rows_call_soon(int (*call)(void *));

/* HERE: false: the interpreter is starting, and it can't be yet. */
bool rvp_python_rows_is_ready(void);

/* HERE: PyTorch is asked to show its tensors (torch_rows.h). */
bool rvp_python_rows_learn_torch(void);

#endif
