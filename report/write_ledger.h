/* SPDX-License-Identifier: MIT */
/* write_ledger.h: the ledger as JSON: host.ledger and host.cgroup of summary.json, and `report --ledger
 * --json`. */
#ifndef RVP_REPORT_WRITE_LEDGER_H
#define RVP_REPORT_WRITE_LEDGER_H

#include "report/analysis.h"
#include "report/json_writer.h"
#include "report/ledger.h"
#include "report/ledger_cgroup.h"

/* "ledger": [..] and, where there is one, "cgroup": {..}, into an open object. `purposes` NULL: without
 * attribution. */
void rvp_ledger_write_keys(struct rvp_json *json, const struct rvp_run *run,
			   const struct rvp_analysis *answer, const struct rvp_ledger *ledger,
			   const struct rvp_purposes *purposes);

#endif
