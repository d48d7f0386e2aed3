/* SPDX-License-Identifier: MIT */
/* arena.c: see arena.h. */
#include "report/arena.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 65536 };

struct rvp_arena_piece {
	struct rvp_arena_piece *next;
	_Alignas(16) char bytes[];
};

void *rvp_arena_get(struct rvp_arena *arena, size_t bytes)
{
	bytes = (bytes + 15) & ~(size_t)15;
	if (!arena->pieces || arena->room - arena->used < bytes) {
		size_t room = bytes > PIECE_BYTES ? bytes : PIECE_BYTES;
		struct rvp_arena_piece *piece = calloc(1, sizeof *piece + room);

		if (!piece)
			return NULL;
		piece->next = arena->pieces;
		arena->pieces = piece;
		arena->used = 0;
		arena->room = room;
	}
	arena->used += bytes;
	return arena->pieces->bytes + arena->used - bytes;
}

const char *rvp_arena_text(struct rvp_arena *arena, const char *bytes, size_t length)
{
	char *copy = length ? rvp_arena_get(arena, length + 1) : NULL;

	if (!copy)
		return "";
	memcpy(copy, bytes, length);
	return copy;
}

void rvp_arena_free(struct rvp_arena *arena)
{
	while (arena->pieces) {
		struct rvp_arena_piece *next = arena->pieces->next;

		free(arena->pieces);
		arena->pieces = next;
	}
	arena->used = arena->room = 0;
}
