/* SPDX-License-Identifier: MIT */
/* finalizer.h: has `rvprof finalize` write the outputs when a bare preload's process ends. */
#ifndef RVP_FINALIZER_H
#define RVP_FINALIZER_H

/* At the last hook of a process: if it is the root, or the last one of a tree whose root is gone, starts the tool and
 * waits at most RVPROF_EXIT_WAIT seconds. Nothing under `rvprof run` or with RVPROF_FINALIZE=0. */
void rvp_finalizer_at_end(void);

#endif
