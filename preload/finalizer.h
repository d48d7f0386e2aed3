/* SPDX-License-Identifier: MIT */
/* finalizer.h: has `rvprof finalize` write the outputs when a bare preload's process ends. */
#ifndef RVP_FINALIZER_H
#define RVP_FINALIZER_H

#include <stdbool.h>

/* Has the outputs of the run so far written into the folder `path` (NULL: the run folder), and waits for it. False when they
 * are not there: no tool, no time, no such folder, another thread at it. Not in phase OURS. */
bool rvp_finalizer_now(const char *path);

/* At the last hook of a process: if it is the root, or the last one of a tree whose root is gone, starts the tool and
 * waits at most RVPROF_EXIT_WAIT seconds. Nothing under `rvprof run` or with RVPROF_FINALIZE=0. */
void rvp_finalizer_at_end(void);

#endif
