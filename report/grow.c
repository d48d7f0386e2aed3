/* SPDX-License-Identifier: MIT */
/* grow.c: see grow.h. */
#include "report/grow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const size_t huge_bytes = 2u << 20;

void *rvp_line_room(size_t bytes)
{
	size_t align = bytes < huge_bytes ? RVP_LINE_BYTES : huge_bytes;
	size_t whole = (bytes + align - 1) & ~(align - 1);
	void *room = aligned_alloc(align, whole);

	if (room && align == huge_bytes)
		madvise(room, whole, MADV_HUGEPAGE);
	return room;
}

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
