/* SPDX-License-Identifier: MIT */
/* write_device.h: what summary.json's "device" has of each device beside its categories, and the same for
 * `report --ledger --json`. */
#ifndef RVP_REPORT_WRITE_DEVICE_H
#define RVP_REPORT_WRITE_DEVICE_H

#include "report/device_answer.h"
#include "report/json_writer.h"

/* Into an open object: name, model, and figures of the whole. */
void rvp_device_write_head(struct rvp_json *json, const struct rvp_device_answer *item);
/* "ledger", and "refused" where anything was. `purposes` NULL: without attribution. */
void rvp_device_write_ledger(struct rvp_json *json, const struct rvp_run *run,
			     const struct rvp_device_answer *item, const struct rvp_purposes *purposes);
void rvp_device_write_refusals(struct rvp_json *json, const struct rvp_device_answer *item,
			       const struct rvp_purposes *purposes);

/* `report --ledger --json`: the host's (`ledger` NULL: without) and the devices'. */
struct rvp_ledger;
void rvp_ledgers_write_json(FILE *out, const struct rvp_run *run, const struct rvp_ledger *ledger,
			    const struct rvp_analysis *answer, const struct rvp_device_answers *devices,
			    const struct rvp_purposes *purposes);

#endif
