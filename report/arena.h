/* SPDX-License-Identifier: MIT */
/* arena.h: memory that is given back all at once: texts and small tables of an opened run. */
#ifndef RVP_REPORT_ARENA_H
#define RVP_REPORT_ARENA_H

#include "record/schema.h"

#include <stddef.h>

struct rvp_arena {
	struct rvp_arena_piece *pieces;
	size_t used, room; /* of the first piece */
};

/* Zeroed, aligned to 16 bytes; NULL without memory. */
void *rvp_arena_get(struct rvp_arena *arena, size_t bytes);

/* A terminated copy; "" without memory. A NUL inside ends it. */
const char *rvp_arena_text(struct rvp_arena *arena, const char *bytes, size_t length);

static inline const char *rvp_arena_copy(struct rvp_arena *arena, struct rvp_text text)
{
	return rvp_arena_text(arena, text.bytes, text.length);
}

void rvp_arena_free(struct rvp_arena *arena);

#endif
