/* SPDX-License-Identifier: MIT */
/* ledger.h: what resident memory consisted of, at the snapshot with the highest RSS and at the last one; and
 * what the categories held when live bytes were highest. */
#ifndef RVP_REPORT_LEDGER_H
#define RVP_REPORT_LEDGER_H

#include "report/observer.h"

struct rvp_ledger_entry {
	bool is_set;
	uint64_t ns;         /* of the RSS sample */
	uint64_t regions_ns; /* of the snapshot of maps; 0: none */
	uint64_t rss_bytes, swap_bytes, live_bytes;
	uint64_t mapped_bytes[RVP_CATEGORY_COUNT], region_bytes[RVP_CATEGORY_COUNT];
};

struct rvp_ledger {
	struct rvp_observer observer;
	struct rvp_ledger_entry peak; /* the highest one with a snapshot of maps, else the highest */
	struct rvp_ledger_entry end;
	struct rvp_ledger_entry at_live_peak;
	uint64_t max_region_bytes[RVP_CATEGORY_COUNT];
	uint64_t regions_ns; /* of the latest snapshot of maps */
	uint64_t live_peak_bytes;
	struct rvp_record_CGROUP cgroup;
	bool has_cgroup;
};

void rvp_ledger_open(struct rvp_ledger *ledger);

/* Whether the parts of an entry were looked at in the same moment as its whole, so that the rest means
 * something. */
bool rvp_ledger_closes(const struct rvp_ledger_entry *entry);

#endif
