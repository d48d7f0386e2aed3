/* SPDX-License-Identifier: MIT */
/* grow.c: see grow.h. */
#include "report/grow.h"

#include <stdint.h>
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

static size_t whole_pages(size_t bytes)
{
	return (bytes + huge_bytes - 1) & ~(huge_bytes - 1);
}

/* Addresses for so many bytes that begin with a huge page; pages that move to such a place stay huge. */
static char *reserve(size_t bytes)
{
	char *place = mmap(NULL, bytes + huge_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before = place == MAP_FAILED ? 0 : -(uintptr_t)place & (huge_bytes - 1);

	if (place == MAP_FAILED)
		return NULL;
	if (before)
		munmap(place, before);
	munmap(place + before + bytes, huge_bytes - before);
	return place + before;
}

/* `old`: of old_bytes, mapped here before; NULL: none. */
static void *map_more(void *old, size_t old_bytes, size_t bytes)
{
	char *place = reserve(bytes), *map;

	if (!place)
		return NULL;
	map = old ? mremap(old, old_bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place)
		  : mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (map == MAP_FAILED) {
		munmap(place, bytes);
		return NULL;
	}
	madvise(map, bytes, MADV_HUGEPAGE);
	return map;
}

bool rvp_line_grow(void **items, size_t *room, size_t need, size_t item_bytes)
{
	size_t more = *room ? *room : 64, old_bytes = *room * item_bytes, bytes;
	bool is_mapped = old_bytes >= huge_bytes;
	void *bigger;

	if (need <= *room)
		return true;
	while (more < need)
		more *= 2;
	bytes = more * item_bytes;
	bigger = bytes < huge_bytes ? rvp_line_room(bytes)
				    : map_more(is_mapped ? *items : NULL, whole_pages(old_bytes), whole_pages(bytes));
	if (!bigger)
		return false;
	if (*items && !is_mapped) {
		memcpy(bigger, *items, old_bytes);
		free(*items);
	}
	*items = bigger;
	*room = more;
	return true;
}

void rvp_line_free(void *items, size_t room, size_t item_bytes)
{
	if (items && room * item_bytes >= huge_bytes)
		munmap(items, whole_pages(room * item_bytes));
	else
		free(items);
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
