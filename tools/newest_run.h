/* SPDX-License-Identifier: MIT */
/* newest_run.h: which run folder a command means when none is named. */
#ifndef RVP_NEWEST_RUN_H
#define RVP_NEWEST_RUN_H

#include "record/status.h"

#include <limits.h>

/* The run folder in the current folder that began last, into `path`. Fails with a line that says what to do.
 */
struct rvp_status rvp_newest_run(char path[PATH_MAX]);

/* The run folder that the words mean: words[0], or the newest one, which is named on stderr. NULL after a
 * complaint. */
const char *rvp_run_folder_of(const char *command, int word_count, char **words, char path[PATH_MAX]);

#endif
