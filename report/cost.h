/* SPDX-License-Identifier: MIT */
/* cost.h: what recording took of the program's processor time, from the events that were timed (EVENT_COST).
 */
#ifndef RVP_REPORT_COST_H
#define RVP_REPORT_COST_H

#include "report/run.h"

/* Processor time that the library's part of all allocs and frees took, in percent of the rest. False: nothing
 * was timed. Only processes of which some event was timed are in it. */
bool rvp_cost_percent(const struct rvp_run *run, double *percent);

#endif
