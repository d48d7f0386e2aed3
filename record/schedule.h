/* SPDX-License-Identifier: MIT */
/* schedule.h: which steps are of interest, by torch.profiler's rule: the same code for `rvprof schedule`, for
 * `rvprof run --schedule` and inside the program.
 *
 *     step < skip_first: NONE. Else n = step - skip_first (+ wait, with skip_first_wait) counts in cycles of
 *     wait + warmup + active steps: `wait` of them NONE, `warmup` WARMUP, `active` RECORD, the last one of these
 *     RECORD_AND_SAVE. Behind `repeat` cycles (0: no end) NONE.
 *
 * Pure: string functions alone, nothing allocated.
 *
 * Invariants
 *   (S1) active >= 1, and each number is at most RVP_SCHEDULE_MOST, so no sum below overflows for a step of at most
 *        UINT64_MAX / 2.
 */
#ifndef RVP_SCHEDULE_H
#define RVP_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static const uint64_t RVP_SCHEDULE_MOST = 1000000000000000u;

/* As torch.profiler numbers its ProfilerAction. */
enum rvp_action { RVP_ACTION_NONE = 0, RVP_ACTION_WARMUP = 1, RVP_ACTION_RECORD = 2, RVP_ACTION_RECORD_AND_SAVE = 3 };

struct rvp_schedule {
	uint64_t wait, warmup, active, repeat, skip_first, skip_first_wait;
};

/* "wait=80,warmup=3,active=1,repeat=1": active must be there, the others are 0 where they are not. False: `complaint`
 * holds one line that begins with "schedule". */
bool rvp_schedule_read(struct rvp_schedule *schedule, const char *text, size_t length, char *complaint,
		       size_t complaint_bytes);

enum rvp_action rvp_schedule_action(const struct rvp_schedule *schedule, uint64_t step);

/* "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE". */
const char *rvp_action_name(enum rvp_action action);

static inline bool rvp_action_records(enum rvp_action action)
{
	return action >= RVP_ACTION_RECORD;
}

#endif
