/* SPDX-License-Identifier: MIT */
/* activity.h: a record of CUPTI's becomes a record of the log. */
#ifndef RVP_CUPTI_ACTIVITY_H
#define RVP_CUPTI_ACTIVITY_H

#include "record/schema.h"

#include <stdbool.h>

enum { RVP_ACTIVITY_BATCH = 32 };

/* Records on their way into the log; of one thread, on its stack. */
struct rvp_activity_batch {
	bool is_last; /* the end: a record without an end had not ended */
	uint32_t count, flaws, all;
	uint64_t now_ns; /* the clock's last answer */
	struct rvp_record records[RVP_ACTIVITY_BATCH];
};

/* `record` is any that cuptiActivityGetNextRecord gave. */
void rvp_activity_take(struct rvp_activity_batch *batch, const void *record);
void rvp_activity_flush(struct rvp_activity_batch *batch);

/* Records with times so far, and how many of them had none that can be used. */
void rvp_activity_flaws(uint64_t *all, uint64_t *flawed);

#endif
