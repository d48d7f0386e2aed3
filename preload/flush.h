/* SPDX-License-Identifier: MIT */
/* flush.h: moves a full slot to the log (emit.h calls it), and the signal mask of the slow path. */
#ifndef RVP_FLUSH_H
#define RVP_FLUSH_H

#include "preload/thread.h"

/* Blocks every signal in this thread. An RLIMIT_FSIZE signal that our own write raised is taken back before they are
 * let through again. Nothing happens when `locked`. */
void rvp_block_signals(uint64_t *mask);
void rvp_unblock_signals(uint64_t mask);

/* Seals, writes and restarts the thread's slot; on failure its records are dropped and counted. */
void rvp_flush(struct rvp_thread *thread);

#endif
