/* SPDX-License-Identifier: MIT */
/* watch_regions.h: what a process's resident memory is made of: /proc/PID/smaps summed by name, as REGION
 * records.
 *
 * Category of a name: code for files that have an executable mapping (all their mappings) and the kernel's
 * own code; file for other files; stack for [stack]; unknown for the rest (heap, anonymous, shared memory).
 */
#ifndef RVP_WATCH_REGIONS_H
#define RVP_WATCH_REGIONS_H

#include "record/log_writer.h"

#include <stdbool.h>
#include <sys/types.h>

/* Reads /proc/PID/smaps (or `path`, for tests) and writes one REGION a name at `stamp`. False: nothing to
 * read. */
bool rvp_regions_write(struct rvp_log_writer *writer, pid_t pid, const char *path, uint64_t stamp);

#endif
