/* SPDX-License-Identifier: MIT */
/* process_stat.h: fields of /proc/PID/stat. */
#ifndef RVP_PROCESS_STAT_H
#define RVP_PROCESS_STAT_H

#include <stdint.h>
#include <sys/types.h>

/* State letter (field 3), 0 when there is no such process. */
char rvp_process_state(pid_t pid);

/* Field 22: with pid and boot it names a process; 0 when there is none or it is a zombie. */
uint64_t rvp_start_ticks(pid_t pid);

#endif
