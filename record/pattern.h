/* SPDX-License-Identifier: MIT */
/* pattern.h: shell patterns for program names (`--only`). No libc, no state, no recursion. */
#ifndef RVP_PATTERN_H
#define RVP_PATTERN_H

#include <stdbool.h>

/* Whether one of `patterns` (separated by commas; `*` any letters, `?` one; none at all: yes) is all of
 * `name`. */
bool rvp_pattern_matches(const char *patterns, const char *name);

#endif
