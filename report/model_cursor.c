/* SPDX-License-Identifier: MIT */
/* model_cursor.c: see model_cursor.h. */
#include "report/model_cursor.h"

#include <string.h>
#include <unistd.h>

static void start(struct rvp_cursor *cursor, uint64_t size)
{
	cursor->size = size;
	cursor->at = cursor->window_at = 0;
	cursor->window_bytes = 0;
	cursor->failed = false;
}

void rvp_cursor_over_file(struct rvp_cursor *cursor, int fd, uint64_t size)
{
	cursor->fd = fd;
	cursor->memory = NULL;
	start(cursor, size);
}

void rvp_cursor_over_memory(struct rvp_cursor *cursor, const void *bytes, uint64_t size)
{
	cursor->fd = -1;
	cursor->memory = bytes;
	start(cursor, size);
}

/* How many bytes at `at` lie in the window, which is moved there if need be; 0: none to be had. */
static size_t in_window(struct rvp_cursor *cursor)
{
	uint64_t left = cursor->size - cursor->at;
	ssize_t got;

	if (cursor->at >= cursor->window_at && cursor->at - cursor->window_at < cursor->window_bytes)
		return cursor->window_bytes - (size_t)(cursor->at - cursor->window_at);
	if (left > sizeof cursor->window)
		left = sizeof cursor->window;
	if (cursor->memory) {
		memcpy(cursor->window, cursor->memory + cursor->at, (size_t)left);
		got = (ssize_t)left;
	} else {
		got = pread(cursor->fd, cursor->window, (size_t)left, (off_t)cursor->at);
	}
	cursor->window_at = cursor->at;
	cursor->window_bytes = got > 0 ? (size_t)got : 0;
	return cursor->window_bytes;
}

bool rvp_cursor_get(struct rvp_cursor *cursor, void *to, size_t bytes)
{
	unsigned char *out = to;

	if (bytes > rvp_cursor_left(cursor)) {
		cursor->failed = true;
		memset(to, 0, bytes);
		return false;
	}
	while (bytes) {
		size_t part = in_window(cursor);

		if (part == 0) {
			cursor->failed = true;
			memset(out, 0, bytes);
			return false;
		}
		if (part > bytes)
			part = bytes;
		memcpy(out, cursor->window + (cursor->at - cursor->window_at), part);
		out += part;
		cursor->at += part;
		bytes -= part;
	}
	return true;
}

bool rvp_cursor_skip(struct rvp_cursor *cursor, uint64_t bytes)
{
	if (bytes > rvp_cursor_left(cursor)) {
		cursor->failed = true;
		return false;
	}
	cursor->at += bytes;
	return true;
}

uint32_t rvp_cursor_u32(struct rvp_cursor *cursor)
{
	unsigned char b[4];

	rvp_cursor_get(cursor, b, sizeof b);
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

uint64_t rvp_cursor_u64(struct rvp_cursor *cursor)
{
	uint64_t low = rvp_cursor_u32(cursor);

	return low | (uint64_t)rvp_cursor_u32(cursor) << 32;
}

int rvp_cursor_peek(struct rvp_cursor *cursor)
{
	if (rvp_cursor_left(cursor) == 0 || in_window(cursor) == 0)
		return -1;
	return cursor->window[cursor->at - cursor->window_at];
}

int rvp_cursor_byte(struct rvp_cursor *cursor)
{
	int byte = rvp_cursor_peek(cursor);

	if (byte >= 0)
		cursor->at++;
	return byte;
}
