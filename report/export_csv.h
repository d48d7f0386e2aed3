/* SPDX-License-Identifier: MIT */
/* export_csv.h: kernels.csv without its bound (write_kernels.h): every kernel of a run. The other tables of a run are whole
 * as they stand beside it. */
#ifndef RVP_REPORT_EXPORT_CSV_H
#define RVP_REPORT_EXPORT_CSV_H

#include "record/status.h"

#include <stdio.h>

struct rvp_run;

struct rvp_status rvp_export_csv(const struct rvp_run *run, FILE *out);

#endif
