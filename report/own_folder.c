/* SPDX-License-Identifier: MIT */
/* own_folder.c: see own_folder.h. */
#include "report/own_folder.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Without /proc, in a bare chroot or a system that is still starting, as the program was called. */
bool rvp_own_path(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	const char *called = (const char *)getauxval(AT_EXECFN);

	if (length > 0)
		path[length] = 0;
	return length > 0 || (called && realpath(called, path));
}

bool rvp_own_folder(char folder[PATH_MAX])
{
	char path[PATH_MAX];
	char *slash;

	if (!rvp_own_path(path))
		return false;
	slash = strrchr(path, '/');
	if (!slash)
		return false;
	*slash = 0;
	strcpy(folder, path);
	return true;
}
