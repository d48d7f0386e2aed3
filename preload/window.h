/* SPDX-License-Identifier: MIT */
/* window.h: when blocks are recorded: by steps (--schedule, --steps), by time (--delay, --duration), by the program
 * (rvprof_start, rvprof_stop, cudaProfilerStart and -Stop with --capture=cuda), and by orders from outside (`rvprof ctl`).
 * pause.h is how a block is passed over; this is who says when.
 *
 * Steps are counted as they are marked: those of the most explicit speaker that was heard (the program, then NVTX, then
 * known functions). When a more explicit one is heard for the first time, its first step is step 0, as it will be in
 * latency.csv. Before the first step, and for a process without any, a schedule records nothing.
 *
 * Orders and times are looked at where hooks look at the clock anyway (snapshot.c), and at each step mark: a hook whose
 * window is closed takes the short way of quick.h, which is the way of most hooks, and knows nothing of windows.
 *
 * Invariants
 *   (X1) The process is `windowed` from its start or never. If it is, the table of blocks.h holds the recorded blocks in
 *        both modes, so the end of a block is recorded exactly when its birth was.
 *   (X2) Blocks are recorded while `held` is 0. Who makes it 0 writes WINDOW (is_open 1) before blocks are recorded; who
 *        makes it something else stops the recording first, then writes WINDOW (is_open 0).
 *   (X3) A child by fork counts its own steps from 0; a program's stop is inherited.
 */
#ifndef RVP_WINDOW_H
#define RVP_WINDOW_H

#include "preload/process.h"
#include "record/windows.h"

/* By the constructor, before recording begins; and in a child by fork, with its new entry. */
void rvp_window_start(void);
void rvp_window_after_fork(uint32_t parents_held);

/* A step's mark: `kind` is enum rvp_step_kind. `function_rank`, of a known function: that of
 * record/functions.def. before: ahead of the mark's own record; after: behind it. */
void rvp_window_before_mark(struct rvp_thread *thread, enum rvp_source source, unsigned function_rank,
			    enum rvp_step_kind kind);
void rvp_window_after_mark(struct rvp_thread *thread, enum rvp_source source, unsigned function_rank,
			   enum rvp_step_kind kind, const struct rvp_text *name);

/* The same of an NVTX range that may be a step; kind: enum rvp_scope_kind. */
void rvp_window_before_range(struct rvp_thread *thread, enum rvp_scope_kind kind, const char *name);
void rvp_window_after_range(struct rvp_thread *thread, enum rvp_scope_kind kind);

/* Now and then, between rvp_enter and rvp_leave: times that have come, orders from outside. */
void rvp_window_look(struct rvp_thread *thread);

/* True: it was not so already. Between rvp_enter and rvp_leave. */
bool rvp_window_program(struct rvp_thread *thread, int level, enum rvp_window_cause cause);

/* What is to be done outside of the recorder since a window opened or closed: whoever follows the device is told. At
 * the program's next mark, in phase OUTSIDE. */
extern _Atomic uint32_t rvp_window_due __attribute__((visibility("hidden")));
void rvp_window_do_due(void);
static inline void rvp_window_outside(void)
{
	if (__builtin_expect(atomic_load_explicit(&rvp_window_due, memory_order_relaxed) != 0, 0))
		rvp_window_do_due();
}

/* "clear 1", "clear 2", ...: a snapshot and its label. */
void rvp_window_clear(struct rvp_thread *thread);

/* cudaProfilerStart, cudaProfilerStop, by any thread. */
void rvp_window_cuda(bool is_start);

/* The process is about to end. */
void rvp_window_end(struct rvp_thread *thread);

/* What *rvp_alive is now, in a process that is at home. */
uint64_t rvp_window_alive(void);

#endif
