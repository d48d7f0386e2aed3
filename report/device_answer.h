/* SPDX-License-Identifier: MIT */
/* device_answer.h: all that is said of each device of a run: one pass over each device's memory. */
#ifndef RVP_REPORT_DEVICE_ANSWER_H
#define RVP_REPORT_DEVICE_ANSWER_H

#include "report/attribution.h"
#include "report/device_ledger.h"
#include "report/device_refusals.h"
#include "report/device_rows.h"

struct rvp_device_answer {
	const struct rvp_device *device;
	struct rvp_analysis analysis;
	struct rvp_device_ledger ledger;
	struct rvp_device_refusals refusals;
	struct rvp_device_rows rows; /* where they were asked for */
};

struct rvp_device_answers {
	struct rvp_device_answer *items; /* of devices with records of memory, in the run's order */
	size_t count;
};

/* `only`: the number of one device, 0: all. `moments_ns` as in rvp_question. Whatever `answers` held is
 * overwritten; on failure it is empty. */
struct rvp_status rvp_device_answers_make(struct rvp_device_answers *answers, struct rvp_run *run,
					  struct rvp_attribution *attribution, uint32_t only,
					  const uint64_t *moments_ns, size_t moment_count, bool wants_rows);
void rvp_device_answers_free(struct rvp_device_answers *answers);

/* The number of the device of this name ("cuda:0", or "0"); fails with the names that there are. */
struct rvp_status rvp_device_find(const struct rvp_run *run, const char *name, uint32_t *number);

#endif
