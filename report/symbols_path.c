/* SPDX-License-Identifier: MIT */
/* symbols_path.c: source paths as people write them. Build systems leave "/build/../src/./a.c" in the DWARF.
 *
 * Only the text is looked at: the file is often on another machine. */
#include "report/symbols.h"

#include <string.h>

/* Drops the last part of tidy[0, length), which begins with '/' and ends without one; the new length. */
static size_t drop_part(const char *tidy, size_t length)
{
	while (length && tidy[length - 1] != '/')
		length--;
	return length ? length - 1 : 0;
}

char *rvp_path_tidy(const char *path, char *tidy, size_t tidy_bytes)
{
	size_t length = 0;

	if (*path != '/' || strlen(path) >= tidy_bytes) {
		strncpy(tidy, path, tidy_bytes - 1);
		tidy[tidy_bytes - 1] = 0;
		return tidy;
	}
	while (*path) {
		size_t part = strcspn(++path, "/");

		if (part == 2 && !memcmp(path, "..", 2)) {
			length = drop_part(tidy, length);
		} else if (part && !(part == 1 && *path == '.')) {
			tidy[length++] = '/';
			memcpy(tidy + length, path, part);
			length += part;
		}
		path += part;
	}
	if (!length)
		tidy[length++] = '/';
	tidy[length] = 0;
	return tidy;
}
