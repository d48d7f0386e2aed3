/* SPDX-License-Identifier: MIT */
/* folds.h: beyond --max-log: allocs are summed by call path in place of being recorded. */
#ifndef RVP_FOLDS_H
#define RVP_FOLDS_H

#include "preload/walk.h"

/* Adds an alloc of `bytes` to its path's sum, in shared memory (record/fold.h): itself when it was to be recorded
 * anyway, what it stands for when it is a sample. */
void rvp_fold(struct rvp_path path, uint64_t bytes, bool is_sample);

/* In a child by fork. */
void rvp_folds_leave_parent(void);

#endif
