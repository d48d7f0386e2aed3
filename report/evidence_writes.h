/* SPDX-License-Identifier: MIT */
/* evidence_writes.h: how a block is written to, from what a window counted; the rules apart from the survey,
 * so that each threshold can be tested on both sides. */
#ifndef RVP_REPORT_EVIDENCE_WRITES_H
#define RVP_REPORT_EVIDENCE_WRITES_H

#include "record/schema.h"

#include <stdbool.h>

enum rvp_writing {
	RVP_WRITING_TOO_SHORT, /* the window was: nothing is said */
	RVP_WRITING_STATIC,
	RVP_WRITING_EMPTY,        /* static, and most of it never touched at all */
	RVP_WRITING_APPENDED,     /* every unit written once at most, steadily */
	RVP_WRITING_NOW_AND_THEN, /* the same, but not in all of the time: a part of the window, or seldom */
	RVP_WRITING_SELDOM,
	RVP_WRITING_REWRITTEN,
};

/* `by_ticks`: the scans did not follow the program's steps. */
enum rvp_writing rvp_writing_of(const struct rvp_record_WRITTEN *written, bool by_ticks);

/* New units of two bytes in a scan with any write, over the whole block. */
double rvp_writing_growth(const struct rvp_record_WRITTEN *written);

/* Two appended blocks of one size that grow about as fast. */
bool rvp_writing_is_sibling(const struct rvp_record_WRITTEN *one, const struct rvp_record_WRITTEN *other);

/* An appended block that grows at several places at once, by about the same each step. */
bool rvp_writing_is_many_stores(const struct rvp_record_WRITTEN *written);

#endif
