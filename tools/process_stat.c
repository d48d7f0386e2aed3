/* SPDX-License-Identifier: MIT */
/* process_stat.c: see process_stat.h. The name (field 2) may hold spaces and parentheses: fields count from
 * the last one. */
#include "tools/process_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAT_BYTES = 1024, FIELDS_TO_START_TICKS = 19 };

/* Field 3 and on, or NULL. */
static char *read_fields(pid_t pid, char *text)
{
	char path[64], *name_end;
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	got = read(fd, text, STAT_BYTES - 1);
	close(fd);
	if (got <= 0)
		return NULL;
	text[got] = 0;
	name_end = strrchr(text, ')');
	return name_end && name_end[1] == ' ' ? name_end + 2 : NULL;
}

char rvp_process_state(pid_t pid)
{
	char text[STAT_BYTES], *field = read_fields(pid, text);

	return field ? *field : 0;
}

uint64_t rvp_start_ticks(pid_t pid)
{
	char text[STAT_BYTES], *field = read_fields(pid, text);

	if (!field || *field == 'Z' || *field == 'X')
		return 0;
	for (int i = 0; i < FIELDS_TO_START_TICKS && field; i++) {
		field = strchr(field, ' ');
		field += field != NULL;
	}
	return field ? strtoull(field, NULL, 10) : 0;
}
