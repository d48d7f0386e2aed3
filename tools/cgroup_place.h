/* SPDX-License-Identifier: MIT */
/* cgroup_place.h: which folder is the control group of a process, by /proc/PID/cgroup and the table of
 * mounts.
 *
 * A mount shows a part of the hierarchy: its root (a container's own group, a namespace's) is cut off from
 * the process's path. A group outside of what is mounted can't be seen; the mount itself stands for it only
 * if it lists the process. A group without a memory controller (threaded, or not handed down to it) is part
 * of the nearest one above that has it.
 */
#ifndef RVP_CGROUP_PLACE_H
#define RVP_CGROUP_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rvp_cgroup {
	unsigned version;   /* 0: none with a memory controller */
	char path[4096];    /* its folder */
	size_t mount_bytes; /* how much of it is the mount: above are no groups */
};

/* `root` stands before /proc and every mount; "" but in tests. */
void rvp_cgroup_find(struct rvp_cgroup *cgroup, const char *root, pid_t pid);

#endif
