/* SPDX-License-Identifier: MIT */
/* user_cache.h: the user's folder for what can be made again: ${XDG_CACHE_HOME:-~/.cache}/rvprof. */
#ifndef RVP_MODEL_USER_CACHE_H
#define RVP_MODEL_USER_CACHE_H

#include "record/status.h"

#include <limits.h>
#include <stdio.h>

/* "<folder>/<name>-<key>", where what in the key is no letter or digit is '-'. "" where no folder is to be
 * had. */
void rvp_user_cache_path(const char *name, const char *key, char path[PATH_MAX]);

/* Writes beside and renames: `write` gets the open file. Makes the folders. */
struct rvp_status rvp_user_cache_write(const char *path, void (*write)(FILE *out, const void *what),
				       const void *what);

#endif
