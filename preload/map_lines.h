/* SPDX-License-Identifier: MIT */
/* map_lines.h: the lines of /proc/self/maps one after the other, read piece by piece into memory of the
 * caller. */
#ifndef RVP_MAP_LINES_H
#define RVP_MAP_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RVP_MAP_NAME_BYTES = 256 };

struct rvp_map_line {
	uint64_t start, end, inode;
	bool is_executable, is_shared;
	char name[RVP_MAP_NAME_BYTES]; /* cut when longer; "" where there is none */
};

struct rvp_map_lines {
	int fd;
	uint64_t at; /* in the file */
	char *text;  /* room_bytes of the caller's */
	size_t room_bytes, have_bytes, used_bytes;
	bool is_over;
};

/* False behind the last line, and at one that is none. */
bool rvp_map_lines_next(struct rvp_map_lines *lines, struct rvp_map_line *line);

#endif
