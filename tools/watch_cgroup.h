/* SPDX-License-Identifier: MIT */
/* watch_cgroup.h: the memory figures of the control group that a process is in, version 2 or 1. */
#ifndef RVP_WATCH_CGROUP_H
#define RVP_WATCH_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rvp_cgroup {
	unsigned version; /* 0: none with a memory controller */
	char path[4096];  /* its folder */
};

struct rvp_cgroup_memory {
	uint64_t current_bytes, max_bytes; /* max 0: no limit */
	uint64_t anon_bytes, file_bytes, shmem_bytes, kernel_bytes, swap_bytes;
	uint64_t reclaimable_bytes; /* inactive files, and slabs that say so */
};

/* Finds it by /proc/PID/cgroup and where the file systems are mounted. */
void rvp_cgroup_find(struct rvp_cgroup *cgroup, pid_t pid);

/* How much of the limit is in use and not reclaimable, in percent; 0: no limit. */
unsigned rvp_cgroup_pressure(const struct rvp_cgroup_memory *memory);

bool rvp_cgroup_read(const struct rvp_cgroup *cgroup, struct rvp_cgroup_memory *memory);

#endif
