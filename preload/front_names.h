/* SPDX-License-Identifier: MIT */
/* front_names.h: which of a table's names a symbol has. */
#ifndef RVP_FRONT_NAMES_H
#define RVP_FRONT_NAMES_H

#include <stddef.h>
#include <string.h>

/* `count` where it is none of them. */
static inline size_t rvp_front_number(const char *name, const char *const *names, size_t count)
{
	size_t number = 0;

	while (number < count && strcmp(names[number], name) != 0)
		number++;
	return number;
}

#endif
