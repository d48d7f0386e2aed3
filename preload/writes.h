/* SPDX-License-Identifier: MIT */
/* writes.h: `--writes window`: for a while, which pages of large blocks are written to, and whether the same
 * place is written twice. What follows from that the reader says (report/evidence_writes.c).
 *
 * A window is 16 steps, where somebody marks steps, else 64 ticks of a clock that is looked at on hooked
 * calls: no thread, no signal, no timer of ours. A program that marks no step and calls nothing hooked in its
 * loop has no window. Between windows nothing is protected and nothing is read.
 *
 * Rules
 *   - Scans are made by whichever thread of the program comes by; a second one that comes meanwhile goes on.
 *   - The program's memory is read by process_vm_readv alone: what is unmapped meanwhile is an error, no
 * fault.
 *   - It is off by itself where it can't be used, and the reason is recorded.
 */
#ifndef RVP_WRITES_H
#define RVP_WRITES_H

#include "preload/thread.h"

/* Blocks of at least so many bytes are told below; UINT64_MAX: none, it is off or done. */
extern uint64_t rvp_writes_floor __attribute__((visibility("hidden")));

/* By the constructor, when the option is set. */
void rvp_writes_start(void);

/* A mark of a step: enum rvp_source, enum rvp_step_kind. */
void rvp_writes_mark(struct rvp_thread *thread, uint64_t source, uint64_t kind);

/* At a hooked call now and then. True: it wants to be asked again after RVP_WRITES_LOOK_EVENTS calls. */
enum { RVP_WRITES_LOOK_EVENTS = 16 };
bool rvp_writes_look(struct rvp_thread *thread);

/* Ends a window that is open; nothing is protected afterwards. For the end of the process, an exec, seccomp.
 */
void rvp_writes_end(struct rvp_thread *thread, const char *why);

void rvp_writes_after_fork(void);

#endif
