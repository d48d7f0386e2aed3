/* SPDX-License-Identifier: MIT */
/* grow.c: see grow.h. */
#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

bool rvp_grow(void **items, size_t *room, size_t need, size_t item_bytes)
{
	size_t more = *room ? *room : 16;
	char *bigger;

	if (need <= *room)
		return true;
	while (more < need)
		more *= 2;
	bigger = realloc(*items, more * item_bytes);
	if (!bigger)
		return false;
	memset(bigger + *room * item_bytes, 0, (more - *room) * item_bytes);
	*items = bigger;
	*room = more;
	return true;
}
