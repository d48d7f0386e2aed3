/* SPDX-License-Identifier: MIT */
/* own_folder.h: where the running program lies, for what comes with it and is found beside it. */
#ifndef RVP_OWN_FOLDER_H
#define RVP_OWN_FOLDER_H

#include <limits.h>
#include <stdbool.h>

/* The program's own file; false where nothing says it. */
bool rvp_own_path(char path[PATH_MAX]);

/* Without a slash at its end; false where nothing says it. */
bool rvp_own_folder(char folder[PATH_MAX]);

#endif
