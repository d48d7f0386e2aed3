/* SPDX-License-Identifier: MIT */
/* whole_file.h: a file that is there whole or as it was: written beside, as PATH.new, and renamed.
 *
 * Invariants
 *   (W1) What is no plain file (a device, a pipe, a folder) is refused before anything is made: a rename would
 *        take its place.
 *   (W2) A link stays: its target is what is replaced.
 *   (W3) Where writing fails nothing is left beside. */
#ifndef RVP_REPORT_WHOLE_FILE_H
#define RVP_REPORT_WHOLE_FILE_H

#include "record/status.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct rvp_whole_file {
	FILE *file;
	char path[PATH_MAX], new_path[PATH_MAX + 8];
};

/* There is something of that name, and it is no plain file. */
bool rvp_is_no_plain_file(const char *path);

struct rvp_status rvp_whole_file_open(struct rvp_whole_file *whole, const char *path);
/* `status` is that of the writing; what failed first is given back. */
struct rvp_status rvp_whole_file_close(struct rvp_whole_file *whole, struct rvp_status status);

#endif
