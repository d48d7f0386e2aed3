/* SPDX-License-Identifier: MIT */
/* map_lines.c: see map_lines.h. No libc but memmove, memchr and memcpy: it runs inside of hooks. */
#include "preload/map_lines.h"

#include "preload/sys.h"

#include <errno.h>
#include <string.h>

static bool refill(struct rvp_map_lines *lines)
{
	long got;

	memmove(lines->text, lines->text + lines->used_bytes, lines->have_bytes - lines->used_bytes);
	lines->have_bytes -= lines->used_bytes;
	lines->used_bytes = 0;
	do
		got = rvp_syscall6(SYS_pread64, lines->fd, (long)(lines->text + lines->have_bytes),
				   (long)(lines->room_bytes - lines->have_bytes), (long)lines->at, 0, 0);
	while (got == -EINTR);
	if (got <= 0) {
		lines->is_over = true;
		return false;
	}
	lines->have_bytes += (size_t)got;
	lines->at += (uint64_t)got;
	return true;
}

/* The next line without its end; NULL: there is no whole one left. */
static const char *whole_line(struct rvp_map_lines *lines, const char **end)
{
	const char *from, *newline;

	do {
		from = lines->text + lines->used_bytes;
		newline = memchr(from, '\n', lines->have_bytes - lines->used_bytes);
		if (newline) {
			lines->used_bytes = (size_t)(newline + 1 - lines->text);
			*end = newline;
			return from;
		}
	} while (!lines->is_over && refill(lines));
	return NULL;
}

static uint64_t number(const char **at, const char *end, unsigned base)
{
	uint64_t value = 0;

	for (; *at < end; (*at)++) {
		unsigned digit = **at >= 'a' ? (unsigned)(**at - 'a') + 10 : (unsigned)(**at - '0');

		if (digit >= base)
			break;
		value = value * base + digit;
	}
	return value;
}

static void skip(const char **at, const char *end, bool blank)
{
	while (*at < end && (**at == ' ') == blank)
		(*at)++;
}

/* 7f..-7f.. r-xp 00000000 08:01 123   /lib/x.so */
bool rvp_map_lines_next(struct rvp_map_lines *lines, struct rvp_map_line *line)
{
	const char *end, *at = whole_line(lines, &end);
	size_t length;

	if (!at)
		return false;
	line->start = number(&at, end, 16);
	at++;
	line->end = number(&at, end, 16);
	skip(&at, end, true);
	if (end - at < 4 || line->end <= line->start)
		return false;
	line->is_executable = at[2] == 'x';
	line->is_shared = at[3] == 's';
	for (int field = 0; field < 3; field++) { /* rights, offset, device */
		skip(&at, end, false);
		skip(&at, end, true);
	}
	line->inode = number(&at, end, 10);
	skip(&at, end, true);
	length = (size_t)(end - at) < RVP_MAP_NAME_BYTES - 1 ? (size_t)(end - at) : RVP_MAP_NAME_BYTES - 1;
	memcpy(line->name, at, length);
	line->name[length] = 0;
	return true;
}
