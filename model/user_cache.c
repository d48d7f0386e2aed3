/* SPDX-License-Identifier: MIT */
/* user_cache.c: see user_cache.h. */
#include "model/user_cache.h"

#include "record/run_folder.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* An XDG_CACHE_HOME that is not absolute is none. */
static int put_folder(char path[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		return snprintf(path, PATH_MAX, "%s/rvprof", cache);
	if (home && *home == '/')
		return snprintf(path, PATH_MAX, "%s/.cache/rvprof", home);
	return -1;
}

void rvp_user_cache_path(const char *name, const char *key, char path[PATH_MAX])
{
	int length = put_folder(path), begin;

	if (length > 0 && length < PATH_MAX) {
		length += snprintf(path + length, PATH_MAX - (size_t)length, "/%s-", name);
		begin = length;
		if (length < PATH_MAX)
			length += snprintf(path + length, PATH_MAX - (size_t)length, "%s", key);
		for (int i = begin; i < length && i < PATH_MAX; i++)
			if (path[i] && !isalnum((unsigned char)path[i]))
				path[i] = '-';
	}
	/* Room for the name beside it. */
	if (length <= 0 || length >= PATH_MAX - 16)
		path[0] = 0;
}

static bool make_folders(const char *path)
{
	char copy[PATH_MAX];

	strcpy(copy, path);
	errno = rvp_folder_make_parents(copy, 0700);
	return errno == 0;
}

struct rvp_status rvp_user_cache_write(const char *path, void (*write)(FILE *out, const void *what),
				       const void *what)
{
	char beside[PATH_MAX + 16];
	FILE *out;
	bool is_bad;
	int error;

	if (!*path)
		return rvp_fail_with("keep", "what was measured",
				     "neither HOME nor XDG_CACHE_HOME is a path");
	snprintf(beside, sizeof beside, "%s.%d", path, (int)getpid());
	if (!make_folders(path) || !(out = fopen(beside, "we")))
		return rvp_fail("write", path, errno);
	write(out, what);
	is_bad = fflush(out) != 0 || ferror(out);
	is_bad = fclose(out) != 0 || is_bad;
	if (!is_bad && rename(beside, path) == 0)
		return RVP_OK;
	error = errno ? errno : EIO;
	unlink(beside);
	return rvp_fail("write", path, error);
}
