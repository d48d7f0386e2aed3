/* SPDX-License-Identifier: MIT */
/* own_folder.c: see own_folder.h. */
#include "report/own_folder.h"

#include <string.h>
#include <unistd.h>

bool rvp_own_folder(char folder[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
	char *slash;

	if (length <= 0)
		return false;
	folder[length] = 0;
	slash = strrchr(folder, '/');
	if (!slash)
		return false;
	*slash = 0;
	return true;
}
