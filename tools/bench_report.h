/* SPDX-License-Identifier: MIT */
/* bench_report.h: `rvprof bench --report`: a sweep's answer for people, as Markdown, a page of HTML or CSV.
 */
#ifndef RVP_BENCH_REPORT_H
#define RVP_BENCH_REPORT_H

#include "record/status.h"

/* Of the sweep whose results lie in `folder`, on standard output. `format`: "md", "html", "csv". */
struct rvp_status rvp_bench_report(const char *folder, const char *format);

#endif
