/* SPDX-License-Identifier: MIT */
/* steps_detect.h: steps of a program that names none: the period of its allocations. See steps_detect.c. */
#ifndef RVP_REPORT_STEPS_DETECT_H
#define RVP_REPORT_STEPS_DETECT_H

#include "report/steps.h"
#include "report/steps_events.h"

/* Fills in steps, source, confidence and why_none; not the spans. The census has seen the whole timeline.
 * False only without memory. */
bool rvp_steps_detect(const struct rvp_run *run, const struct rvp_step_census *census,
		      struct rvp_steps *steps);

#endif
