/* SPDX-License-Identifier: MIT */
/* report_roofline.h: `rvprof report --roofline`. */
#ifndef RVP_TOOLS_REPORT_ROOFLINE_H
#define RVP_TOOLS_REPORT_ROOFLINE_H

#include "report/text_report.h"

/* Answers to the view's out. Fails where nothing was recorded that could be placed. */
struct rvp_status rvp_report_roofline(struct rvp_run *run, const struct rvp_view *view, bool json);

#endif
