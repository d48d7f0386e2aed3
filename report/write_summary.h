/* SPDX-License-Identifier: MIT */
/* write_summary.h: summary.json, from the answers of one pass. A key that was not measured is absent. */
#ifndef RVP_REPORT_WRITE_SUMMARY_H
#define RVP_REPORT_WRITE_SUMMARY_H

#include "report/device_answer.h"
#include "report/verdicts.h"

#include <stdio.h>

struct rvp_kernels;
struct rvp_blas_work;
struct rvp_outputs;
struct rvp_power_answer;

/* `attribution` NULL: everything is unknown. `verdicts`, `devices`, `kernels`, `work`, `power` and `outputs` may be NULL. */
void rvp_summary_write(FILE *out, const struct rvp_run *run, const struct rvp_analysis *answer,
		       const struct rvp_ledger *ledger, struct rvp_attribution *attribution,
		       const struct rvp_verdicts *verdicts, const struct rvp_device_answers *devices,
		       struct rvp_kernels *kernels, const struct rvp_blas_work *work,
		       const struct rvp_power_answer *power, const struct rvp_outputs *outputs);

#endif
