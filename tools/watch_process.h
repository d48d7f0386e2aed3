/* SPDX-License-Identifier: MIT */
/* watch_process.h: one process's memory in a few numbers, from an open /proc/PID/status.
 *
 * The open file stays bound to the process that it was opened for: a later process with the same pid is never
 * read.
 */
#ifndef RVP_WATCH_PROCESS_H
#define RVP_WATCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rvp_resident {
	uint64_t anon_bytes, file_bytes, shmem_bytes, swap_bytes, peak_bytes;
};

static inline uint64_t rvp_resident_sum(const struct rvp_resident *resident)
{
	return resident->anon_bytes + resident->file_bytes + resident->shmem_bytes;
}

/* A descriptor of /proc/PID/status, or -1. With `start_ticks` not 0 only when the process has them. */
int rvp_resident_open(pid_t pid, uint64_t start_ticks);

/* False when the process is gone, or a zombie without memory. */
bool rvp_resident_read(int fd, struct rvp_resident *resident);

/* Pss of /proc/PID/smaps_rollup; 0: can't be read. It costs a walk over all pages of the process. */
uint64_t rvp_pss_read(pid_t pid);

#endif
