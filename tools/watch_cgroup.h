/* SPDX-License-Identifier: MIT */
/* watch_cgroup.h: the memory figures of a control group, version 2 or 1.
 *
 * The limit is the one with the least room below it, its own or that of a group above, in which others may
 * use memory too. `memory.max` and the like: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst
 * of the kernel.
 */
#ifndef RVP_WATCH_CGROUP_H
#define RVP_WATCH_CGROUP_H

#include "record/log_writer.h"
#include "tools/cgroup_place.h"

#include <stdint.h>

struct rvp_cgroup_memory {
	uint64_t current_bytes, max_bytes; /* max 0: no limit */
	uint64_t anon_bytes, file_bytes, shmem_bytes, kernel_bytes, swap_bytes;
	uint64_t reclaimable_bytes; /* inactive files, and slabs that say so */
	/* Of the group that max_bytes is of: how many levels above, what is used in it, and could be taken
	 * back. */
	uint64_t limit_levels, limit_current_bytes, limit_reclaimable_bytes;
};

/* How much of the limit is in use and not reclaimable, in percent; 0: no limit. */
unsigned rvp_cgroup_pressure(const struct rvp_cgroup_memory *memory);

/* The highest of 90, 95 and 99 that is reached; 0: none. */
unsigned rvp_cgroup_near_percent(unsigned pressure);

bool rvp_cgroup_read(const struct rvp_cgroup *cgroup, struct rvp_cgroup_memory *memory);

/* As a CGROUP record. */
void rvp_cgroup_write(struct rvp_log_writer *writer, const struct rvp_cgroup *cgroup,
		      const struct rvp_cgroup_memory *memory, uint64_t stamp);

#endif
