/* SPDX-License-Identifier: MIT */
/* folder_arguments.h: the words of a command that takes `[--json] [DIR]` and nothing else. */
#ifndef RVP_FOLDER_ARGUMENTS_H
#define RVP_FOLDER_ARGUMENTS_H

#include <stdbool.h>

struct rvp_folder_arguments {
	const char *folder; /* DIR, or the newest run folder here (named on stderr) */
	bool is_json;
};

/* False: the command is over with *status (help was printed, or a complaint). `path` (PATH_MAX) holds the
 * folder. */
bool rvp_folder_arguments_read(int argc, char **argv, const char *help, char *path,
			       struct rvp_folder_arguments *arguments, int *status);

#endif
