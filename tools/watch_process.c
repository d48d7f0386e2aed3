/* SPDX-License-Identifier: MIT */
/* watch_process.c: see watch_process.h. */
#include "tools/watch_process.h"

#include "tools/process_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_BYTES = 8192, KIB = 1024 };

int rvp_resident_open(pid_t pid, uint64_t start_ticks)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || !start_ticks || rvp_start_ticks(pid) == start_ticks)
		return fd;
	close(fd);
	return -1;
}

/* The number behind "\nName:", in KiB there, as bytes. */
static bool field(const char *text, const char *name, uint64_t *bytes)
{
	const char *at = strstr(text, name);

	*bytes = at ? strtoull(at + strlen(name), NULL, 10) * KIB : 0;
	return at != NULL;
}

bool rvp_resident_read(int fd, struct rvp_resident *resident)
{
	char text[STATUS_BYTES];
	ssize_t got = pread(fd, text, sizeof text - 1, 0);

	if (got <= 0)
		return false;
	text[got] = 0;
	field(text, "\nVmHWM:", &resident->peak_bytes);
	field(text, "\nRssFile:", &resident->file_bytes);
	field(text, "\nRssShmem:", &resident->shmem_bytes);
	field(text, "\nVmSwap:", &resident->swap_bytes);
	return field(text, "\nRssAnon:", &resident->anon_bytes);
}

uint64_t rvp_pss_read(pid_t pid)
{
	char path[64], text[STATUS_BYTES];
	uint64_t bytes = 0;
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, text, sizeof text - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	field(text, "\nPss:", &bytes);
	return bytes;
}
