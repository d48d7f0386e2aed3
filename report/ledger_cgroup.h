/* SPDX-License-Identifier: MIT */
/* ledger_cgroup.h: what a control group's memory consists of, by its own names.
 *
 * Version 2: memory.current = anon + file (shmem is part of it there) + kernel + what per-processor counters
 * have not told yet. Version 1: usage_in_bytes = rss + cache (shmem likewise) + kernel. Rows do not overlap:
 * file is without shmem.
 */
#ifndef RVP_REPORT_LEDGER_CGROUP_H
#define RVP_REPORT_LEDGER_CGROUP_H

#include "record/schema.h"

enum { RVP_CGROUP_ROWS = 4 };
struct rvp_cgroup_rows {
	const char *names[RVP_CGROUP_ROWS];
	uint64_t bytes[RVP_CGROUP_ROWS];
	int64_t unexplained_bytes; /* current_bytes less all rows */
};

void rvp_cgroup_rows(const struct rvp_record_CGROUP *cgroup, struct rvp_cgroup_rows *rows);

#endif
