/* SPDX-License-Identifier: MIT */
/* write_summary.h: summary.json, from the answers of one pass. A key that was not measured is absent. */
#ifndef RVP_REPORT_WRITE_SUMMARY_H
#define RVP_REPORT_WRITE_SUMMARY_H

#include "report/analysis.h"
#include "report/ledger.h"

struct rvp_attribution;

#include <stdio.h>

/* `attribution` NULL: everything is unknown. */
void rvp_summary_write(FILE *out, const struct rvp_run *run, const struct rvp_analysis *answer,
		       const struct rvp_ledger *ledger, struct rvp_attribution *attribution);

#endif
