/* SPDX-License-Identifier: MIT */
/* places.h: texts with {NAME} in them. */
#ifndef RVP_SWEEP_PLACES_H
#define RVP_SWEEP_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/* What stands for a name; NULL: nothing does. */
typedef const char *rvp_place_fn(void *context, const char *name, size_t length);

/* malloc'ed. NULL: without memory, or *wrong is where a place has no end or nothing fills it. */
char *rvp_places_fill(const char *text, rvp_place_fn *find, void *context, const char **wrong);

/* Whether {name} is in it. */
bool rvp_places_has(const char *text, const char *name);

#endif
