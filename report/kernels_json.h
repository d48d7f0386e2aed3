/* SPDX-License-Identifier: MIT */
/* kernels_json.h: the key `kernels` of summary.json. docs/metrics.md says what each figure is. */
#ifndef RVP_REPORT_KERNELS_JSON_H
#define RVP_REPORT_KERNELS_JSON_H

#include "report/json_writer.h"
#include "report/kernels.h"

/* Nothing in a run without a device. */
void rvp_kernels_write_summary(struct rvp_json *json, const struct rvp_run *run, struct rvp_kernels *kernels);

/* "launch", "time", "launch and time" or "none": how work came to its steps. */
const char *rvp_kernels_step_by(const struct rvp_kernels *kernels);

#endif
