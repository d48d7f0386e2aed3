/* SPDX-License-Identifier: MIT */
/* told_files.h: the path of a file goes into the log once, at its first record (a mapping, a read). */
#ifndef RVP_TOLD_FILES_H
#define RVP_TOLD_FILES_H

#include "preload/thread.h"

#include <sys/stat.h>

/* A FILE record, if this file had none yet; between rvp_enter and rvp_leave, not when locked. Files beyond
 * the table's room may be told again. */
void rvp_tell_file(struct rvp_thread *thread, int fd, const struct stat *file);

/* In a child by fork: files are to be named again. */
void rvp_told_files_after_fork(void);

#endif
