/* SPDX-License-Identifier: MIT */
/* alive.h: whether a recorded process still runs on this machine. */
#ifndef RVP_REPORT_ALIVE_H
#define RVP_REPORT_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* True when boot_id ("" matches any) is this boot's. */
bool rvp_is_this_boot(const char *boot_id);

/* `pid` as in the PID namespace `pidns_inode` (0: ours). A zombie whose threads are all gone does not run. */
/* The pid in the innermost namespace of the process that we see as `pid`; 0: not to be had. */
uint32_t rvp_innermost_pid(int pid);

bool rvp_is_alive(uint32_t pid, uint64_t start_ticks, uint64_t pidns_inode);

#endif
