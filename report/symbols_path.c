/* SPDX-License-Identifier: MIT */
/* symbols_path.c: source paths as people write them. Build systems leave "/build/../src/./a.c" in the DWARF.
 *
 * Only the text is looked at: the file is often on another machine. */
#include "report/symbols.h"

#include <string.h>

/* Drops the last part of tidy[0, *length); false where there is none to drop. */
static bool drop_part(const char *tidy, size_t *length, bool is_absolute)
{
	size_t at = *length;

	while (at && tidy[at - 1] != '/')
		at--;
	if (!is_absolute && (!*length || !strcmp(tidy + at, "..")))
		return false;
	*length = at ? at - 1 : 0;
	return true;
}

/* Adds a part with the slash before it. */
static void add_part(char *tidy, size_t *length, const char *part, size_t part_bytes, bool is_absolute)
{
	if (*length || is_absolute)
		tidy[(*length)++] = '/';
	memcpy(tidy + *length, part, part_bytes);
	*length += part_bytes;
	tidy[*length] = 0;
}

char *rvp_path_tidy(const char *path, char *tidy, size_t tidy_bytes)
{
	bool is_absolute = *path == '/';
	size_t length = 0;

	if (strlen(path) >= tidy_bytes || *path == '<') { /* too long, or Python's <string> */
		strncpy(tidy, path, tidy_bytes - 1);
		tidy[tidy_bytes - 1] = 0;
		return tidy;
	}
	*tidy = 0;
	while (*path) {
		size_t part = strcspn(path, "/");
		bool is_up = part == 2 && !memcmp(path, "..", 2);

		if (is_up && drop_part(tidy, &length, is_absolute))
			tidy[length] = 0;
		else if (part && !(part == 1 && *path == '.'))
			add_part(tidy, &length, path, part, is_absolute);
		path += part + (path[part] == '/');
	}
	if (!length && is_absolute)
		strcpy(tidy, "/");
	return tidy;
}
