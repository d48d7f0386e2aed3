/* SPDX-License-Identifier: MIT */
/* model_cursor.h: reads a file's header from the front, a window at a time: whatever the header claims, no
 * more than the window is held, and nothing behind the file's end is read. Numbers are little-endian.
 *
 * Invariant (C1): after a read that failed, every later one fails.
 */
#ifndef RVP_REPORT_MODEL_CURSOR_H
#define RVP_REPORT_MODEL_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RVP_CURSOR_WINDOW_BYTES = 65536 };

struct rvp_cursor {
	int fd;                      /* of a file, or */
	const unsigned char *memory; /* its bytes; NULL: the descriptor counts */
	uint64_t size, at;
	uint64_t window_at;
	size_t window_bytes;
	bool failed;
	unsigned char window[RVP_CURSOR_WINDOW_BYTES];
};

void rvp_cursor_over_file(struct rvp_cursor *cursor, int fd, uint64_t size);
void rvp_cursor_over_memory(struct rvp_cursor *cursor, const void *bytes, uint64_t size);

/* `to` is zeroed where they fail. */
bool rvp_cursor_get(struct rvp_cursor *cursor, void *to, size_t bytes);
bool rvp_cursor_skip(struct rvp_cursor *cursor, uint64_t bytes);
uint32_t rvp_cursor_u32(struct rvp_cursor *cursor);
uint64_t rvp_cursor_u64(struct rvp_cursor *cursor);

/* The next byte, or -1 at the end; it stays next with `peek`. */
int rvp_cursor_peek(struct rvp_cursor *cursor);
int rvp_cursor_byte(struct rvp_cursor *cursor);

static inline uint64_t rvp_cursor_left(const struct rvp_cursor *cursor)
{
	return cursor->failed ? 0 : cursor->size - cursor->at;
}

#endif
