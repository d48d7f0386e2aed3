/* SPDX-License-Identifier: MIT */
/* procfs.h: what /proc and uname say, read by raw system calls into memory of ours. For the slow path. */
#ifndef RVP_PROCFS_H
#define RVP_PROCFS_H

#include <stddef.h>
#include <stdint.h>

/* Reads at most `bytes` - 1 of a file; terminates; returns the length, 0 when it can't be read. */
size_t rvp_procfs_read(const char *path, char *into, size_t bytes);

/* Of this process: parent, start time (field 22 of stat) and the inode of its PID namespace. */
void rvp_procfs_identity(uint32_t *parent_pid, uint64_t *start_ticks, uint64_t *pidns_inode);

const char *rvp_procfs_host(void);
const char *rvp_procfs_kernel(void);

/* The command line, each word with its NUL; the bytes stay valid. */
size_t rvp_procfs_command(const char **command);

/* Resident and shared bytes of this process, by the kept descriptor; 0: not read. */
int rvp_procfs_statm(uint64_t *resident_bytes, uint64_t *shared_bytes);

/* Resident bytes without a kept descriptor; 0: not read. */
uint64_t rvp_procfs_resident_bytes(void);

/* As rvp_procfs_statm, by a descriptor of its own that is closed again. */
int rvp_procfs_statm_anew(uint64_t *resident_bytes, uint64_t *shared_bytes);

/* Total memory and the processor's name. */
uint64_t rvp_procfs_memory_bytes(void);
size_t rvp_procfs_cpu(char *into, size_t bytes);

#endif
