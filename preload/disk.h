/* SPDX-License-Identifier: MIT */
/* disk.h: files of the process's folder that are mapped shared: allocated on disk in full before they are. */
#ifndef RVP_DISK_H
#define RVP_DISK_H

#include "record/chunk.h"

/* Appends to a text with NUL in `into`, cut at `room`; the new length. */
size_t rvp_disk_append(char *into, size_t room, size_t length, const char *text);
size_t rvp_disk_append_number(char *into, size_t room, size_t length, uint64_t number);

/* Opens `name` ("/x") in the process's folder; -errno. */
long rvp_disk_open(const char *name, int flags);

/* Allocates [at, at + bytes) of the file for good: 0 or -errno; never goes past RLIMIT_FSIZE (-EFBIG). */
long rvp_disk_allocate(int fd, uint64_t at, uint64_t bytes);

/* Maps [at, at + bytes) shared, a page at a touch: the kernel would else read or clear megabytes ahead. NULL if it
 * can't. */
void *rvp_disk_map(int fd, uint64_t at, size_t bytes);

/* A new file of `bytes` zeros in the process's folder, mapped; NULL if it can't. */
void *rvp_disk_make(const char *name, size_t bytes);

/* A header of this process's. */
struct rvp_file_header rvp_disk_header(const char *magic);

#endif
