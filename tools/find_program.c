/* SPDX-License-Identifier: MIT */
/* find_program.c: see find_program.h. */
#include "tools/find_program.h"

#include "report/own_folder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "librvprof.so"

static int can_be_executed(const char *path)
{
	struct stat file;

	if (stat(path, &file))
		return errno;
	if (S_ISDIR(file.st_mode))
		return EISDIR;
	return access(path, X_OK) ? errno : 0;
}

int rvp_find_program(const char *word, char *path)
{
	const char *folders = getenv("PATH"), *end;
	int worst = ENOENT;

	if (strchr(word, '/')) {
		if (snprintf(path, RVP_PROGRAM_PATH_BYTES, "%s", word) >= RVP_PROGRAM_PATH_BYTES)
			return ENAMETOOLONG;
		return can_be_executed(path);
	}
	if (!*word)
		return ENOENT;
	for (folders = folders ? folders : "/bin:/usr/bin"; folders; folders = *end ? end + 1 : NULL) {
		int failed;

		end = folders + strcspn(folders, ":");
		if (snprintf(path, RVP_PROGRAM_PATH_BYTES, "%.*s%s%s", (int)(end - folders), folders,
			     end > folders ? "/" : "", word) >= RVP_PROGRAM_PATH_BYTES)
			continue;
		failed = can_be_executed(path);
		if (!failed)
			return 0;
		if (failed == EACCES)
			worst = EACCES;
	}
	return worst;
}

/* From the build tree, an unpacked folder, or an installed one. */
int rvp_find_library(char *path)
{
	static const char *const places[] = {"../preload",
					     "../lib/rvprof",
					     "../lib/x86_64-linux-gnu/rvprof",
					     "../lib/x86_64-linux-gnu",
					     "../lib64",
					     "../lib",
					     "."};
	char folder[PATH_MAX], wanted[2 * RVP_PROGRAM_PATH_BYTES], real[PATH_MAX];
	bool is_known = rvp_own_folder(folder);

	for (size_t i = 0; is_known && i < sizeof places / sizeof *places; i++) {
		snprintf(wanted, sizeof wanted, "%s/%s/" LIBRARY, folder, places[i]);
		if (!realpath(wanted, real))
			continue;
		snprintf(path, RVP_PROGRAM_PATH_BYTES, "%s", real);
		return 0;
	}
	return ENOENT;
}
