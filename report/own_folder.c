/* SPDX-License-Identifier: MIT */
/* own_folder.c: see own_folder.h. */
#include "report/own_folder.h"

#include <string.h>
#include <unistd.h>

bool rvp_own_folder(char folder[PATH_MAX])
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
	char *slash;

	if (length <= 0)
		return false;
	path[length] = 0;
	slash = strrchr(path, '/');
	if (!slash)
		return false;
	*slash = 0;
	strcpy(folder, path);
	return true;
}
