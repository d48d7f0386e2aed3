/* SPDX-License-Identifier: MIT */
/* window_hold.h: between window.c, which holds and lets go, and window_steps.c, which says when by steps. */
#ifndef RVP_WINDOW_HOLD_H
#define RVP_WINDOW_HOLD_H

#include "preload/window.h"

/* Where a window begins or ends. */
struct rvp_window_edge {
	enum rvp_window_cause cause;
	uint64_t step; /* 1 + the step that begins, or that was the last; 0: none */
	bool is_finished;
};

/* False: it was so already. The window itself opens when nobody holds any more. */
bool rvp_window_hold(struct rvp_thread *thread, enum rvp_hold hold, struct rvp_window_edge edge);
bool rvp_window_let_go(struct rvp_thread *thread, enum rvp_hold hold, struct rvp_window_edge edge);

/* A cycle's last step is over and the next cycle's first begins: two windows without a gap. */
void rvp_window_next_cycle(struct rvp_thread *thread, struct rvp_window_edge last, struct rvp_window_edge first);

/* Steps that began so far, as far as they are counted. */
uint64_t rvp_window_steps(void);
void rvp_window_begin_steps(void);

/* This step is the last one of its cycle. */
bool rvp_window_is_last_step(void);

#endif
