/* SPDX-License-Identifier: MIT */
/* followers.c: see followers.h. */
#include "preload/followers.h"

#include "preload/disk.h"
#include "preload/process.h"
#include "preload/sys.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PRELOAD_BYTES = 8192 };

/* The part of a path that follows its last slash. */
static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void find_library(void)
{
	Dl_info info;
	char *path = rvp_process.library;
	size_t length = 0;

	if (!dladdr((void *)(uintptr_t)rvp_followers_prepare, &info) || !info.dli_fname)
		return;
	if (info.dli_fname[0] != '/' && getcwd(path, sizeof rvp_process.library - 256)) {
		length = strlen(path);
		path[length++] = '/';
	}
	rvp_disk_append(path, sizeof rvp_process.library, length, info.dli_fname);
}

static bool is_us(const char *word, size_t length)
{
	const char *name = base(rvp_process.library);
	size_t name_length = strlen(name);

	return length >= name_length && memcmp(word + length - name_length, name, name_length) == 0 &&
	       (length == name_length || word[length - name_length - 1] == '/');
}

/* LD_PRELOAD with our word made absolute, or left out. False: it does not name us. */
static bool rewrite(const char *list, bool keep, char *into)
{
	size_t length = 0;
	bool found = false;

	while (*list) {
		size_t word = strcspn(list, ": ");
		bool us = word && is_us(list, word);

		found |= us;
		if (word && (!us || keep)) {
			if (length)
				into[length++] = ':';
			if (us)
				length = rvp_disk_append(into, PRELOAD_BYTES, length, rvp_process.library);
			else if (length + word + 2 < PRELOAD_BYTES) {
				memcpy(into + length, list, word);
				length += word;
			}
		}
		list += word;
		list += *list != 0;
	}
	into[length] = 0;
	return found;
}

void rvp_followers_prepare(void)
{
	const char *list = getenv("LD_PRELOAD");
	static char changed[PRELOAD_BYTES];
	bool follow = rvp_process.options.follow;

	find_library();
	if (list && strlen(list) < PRELOAD_BYTES - sizeof rvp_process.library && rewrite(list, follow, changed) &&
	    strcmp(list, changed) != 0) {
		if (changed[0])
			setenv("LD_PRELOAD", changed, 1);
		else
			unsetenv("LD_PRELOAD");
	}
	if (follow)
		setenv("RVPROF_RUN_DIR", rvp_process.folder, 1);
	else
		unsetenv("RVPROF_RUN_DIR");
}

void rvp_followers_check(char *const *environment)
{
	bool us = false, folder = false;

	if (atomic_load(&rvp_process.state) != RVP_READY)
		return;
	for (; environment && *environment; environment++) {
		if (strncmp(*environment, "LD_PRELOAD=", 11) == 0)
			us |= strstr(*environment + 11, base(rvp_process.library)) != NULL;
		folder |= strncmp(*environment, "RVPROF_RUN_DIR=", 15) == 0;
	}
	if (!us || !folder)
		atomic_fetch_add(&rvp_process.tree->unfollowed, 1);
}

const char *rvp_followers_library(void)
{
	return rvp_process.library;
}
