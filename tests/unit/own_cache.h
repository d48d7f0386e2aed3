/* SPDX-License-Identifier: MIT */
/* own_cache.h: a user's cache for each test of its own: a checked fixture. */
#ifndef RVP_OWN_CACHE_H
#define RVP_OWN_CACHE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/rvprof-cache.XXXXXX";

static inline void set_folder(void)
{
	strcpy(folder + sizeof folder - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
}

static inline void remove_folder(void)
{
	char line[128];

	snprintf(line, sizeof line, "rm -rf '%s'", folder);
	ck_assert_int_eq(system(line), 0);
}

#endif
