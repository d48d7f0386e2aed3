/* SPDX-License-Identifier: MIT */
/* steps_holes.h: turns of which the log has only the larger blocks. */
#ifndef RVP_REPORT_STEPS_HOLES_H
#define RVP_REPORT_STEPS_HOLES_H

#include "report/steps_loop.h"

/* Parts turns that are several (loop->begins grows). "" if it did so, or there are none to part; else why
 * what is left are no steps, without memory too. */
const char *rvp_step_holes_mend(const struct rvp_step_events *events, struct rvp_step_loop *loop);

#endif
