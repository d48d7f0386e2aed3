/* SPDX-License-Identifier: MIT */
/* ledger_pss.h: the tree with shared pages counted once. PSS divides a shared page among those who share it,
 * so it can be summed, but only over all processes at one moment: a round of WATCH records of one stamp.
 */
#ifndef RVP_REPORT_LEDGER_PSS_H
#define RVP_REPORT_LEDGER_PSS_H

#include "report/observer.h"

enum { RVP_PSS_LISTED_MAX = 32 };

struct rvp_pss_process {
	uint64_t pid, rss_bytes, pss_bytes;
};

struct rvp_pss_round {
	uint64_t ns; /* 0: none */
	uint64_t rss_bytes, pss_bytes, process_count;
	struct rvp_pss_process processes[RVP_PSS_LISTED_MAX]; /* the first of them */
};

/* Adds one row; `now` is the round that it belongs to, `highest` the one with the highest RSS so far. */
void rvp_pss_take(struct rvp_pss_round *now, struct rvp_pss_round *highest, uint64_t ns,
		  const struct rvp_record_WATCH *row);

#endif
