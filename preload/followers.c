/* SPDX-License-Identifier: MIT */
/* followers.c: see followers.h. */
#include "preload/followers.h"

#include "preload/disk.h"
#include "preload/injection.h"
#include "preload/process.h"
#include "preload/sys.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PRELOAD_BYTES = 8192 };
#define SEPARATORS ": " /* ld.so's, between the words of LD_PRELOAD */

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

static bool names_us(const char *list)
{
	for (; *list; list += *list != 0) {
		size_t word = strcspn(list, SEPARATORS);

		if (word && is_us(list, word))
			return true;
		list += word;
	}
	return false;
}

static size_t append_word(char *into, size_t length, const char *word, size_t word_length)
{
	if (length)
		into[length++] = ':';
	memcpy(into + length, word, word_length);
	return length + word_length;
}

/* LD_PRELOAD with our first word made absolute and none further, or with none at all. So it grows by our path
 * at most. A path with a separator in it cannot be said there: the word stays as it is. */
static void rewrite(const char *list, bool keep, char *into)
{
	const char *library = rvp_process.library;
	bool can_be_said = !library[strcspn(library, SEPARATORS)];
	size_t length = 0;

	while (*list) {
		size_t word = strcspn(list, SEPARATORS);
		bool us = word && is_us(list, word);

		if (us && keep && can_be_said)
			length = append_word(into, length, library, strlen(library));
		else if (word && (!us || keep))
			length = append_word(into, length, list, word);
		keep &= !us;
		list += word;
		list += *list != 0;
	}
	into[length] = 0;
}

void rvp_followers_prepare(void)
{
	const char *list = getenv("LD_PRELOAD");
	static char changed[PRELOAD_BYTES];
	bool follow = rvp_process.options.follow;

	find_library();
	if (list && strlen(list) < PRELOAD_BYTES - sizeof rvp_process.library && names_us(list)) {
		rewrite(list, follow, changed);
		if (changed[0])
			setenv("LD_PRELOAD", changed, 1);
		else
			unsetenv("LD_PRELOAD");
	}
	if (follow)
		setenv("RVPROF_RUN_DIR", rvp_process.folder, 1);
	else
		unsetenv("RVPROF_RUN_DIR");
	rvp_injection_prepare(); /* of use to this process too; in one that is not followed the libraries decline */
}

void rvp_followers_check(char *const *environment)
{
	bool us = false, folder = false;

	if (atomic_load(&rvp_process.state) != RVP_READY)
		return;
	for (; environment && *environment; environment++) {
		if (strncmp(*environment, "LD_PRELOAD=", 11) == 0)
			us |= names_us(*environment + 11);
		folder |= strncmp(*environment, "RVPROF_RUN_DIR=", 15) == 0;
	}
	if (!us || !folder)
		atomic_fetch_add(&rvp_process.tree->unfollowed, 1);
}

const char *rvp_followers_library(void)
{
	return rvp_process.library;
}
