/* SPDX-License-Identifier: MIT */
/* find_program.c: see find_program.h. */
#include "tools/find_program.h"

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

/* The folder that this very program lies in: 0 or an errno. */
static int find_own_folder(char path[static RVP_PROGRAM_PATH_BYTES])
{
	ssize_t length = readlink("/proc/self/exe", path, RVP_PROGRAM_PATH_BYTES - 1);

	if (length <= 0)
		return errno;
	path[length] = 0;
	*strrchr(path, '/') = 0;
	return 0;
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
	char folder[RVP_PROGRAM_PATH_BYTES], wanted[2 * RVP_PROGRAM_PATH_BYTES], real[PATH_MAX];
	int failed = find_own_folder(folder);

	for (size_t i = 0; !failed && i < sizeof places / sizeof *places; i++) {
		snprintf(wanted, sizeof wanted, "%s/%s/" LIBRARY, folder, places[i]);
		if (!realpath(wanted, real))
			continue;
		snprintf(path, RVP_PROGRAM_PATH_BYTES, "%s", real);
		return 0;
	}
	return failed ? failed : ENOENT;
}
