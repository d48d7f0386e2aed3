/* SPDX-License-Identifier: MIT */
/* pattern.c: see pattern.h. The usual two-pointer walk: on a mismatch, the last star takes one letter more.
 */
#include "record/pattern.h"

#include <stddef.h>

static bool one_matches(const char *pattern, const char *end, const char *name)
{
	const char *star = NULL, *retry = NULL;

	while (*name) {
		if (pattern < end && *pattern == '*') {
			star = ++pattern;
			retry = name;
		} else if (pattern < end && (*pattern == '?' || *pattern == *name)) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++retry;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

bool rvp_pattern_matches(const char *patterns, const char *name)
{
	if (!*patterns)
		return true;
	for (;;) {
		const char *end = patterns;

		while (*end && *end != ',')
			end++;
		if (end > patterns && one_matches(patterns, end, name))
			return true;
		if (!*end)
			return false;
		patterns = end + 1;
	}
}
