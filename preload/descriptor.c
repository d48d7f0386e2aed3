/* SPDX-License-Identifier: MIT */
/* descriptor.c: see descriptor.h. */
#include "preload/descriptor.h"

#include "preload/process.h"
#include "preload/sys.h"

#include <string.h>
#include <sys/resource.h>

enum { HIGHEST = 4095 /* a higher number makes the kernel's table of each child larger */ };

static struct {
	_Atomic int number; /* -1: none, 0 only before the first use */
	int flags;
	uint64_t device, inode;
	char path[RVP_FOLDER_BYTES + 64];
} kept[RVP_DESCRIPTOR_COUNT] = {{.number = -1}, {.number = -1}, {.number = -1}, {.number = -1}, {.number = -1}};

/* The same file at a number as high as the soft limit allows; `low` itself if there is no better. */
static int move_up(int low)
{
	uint64_t limit[2] = {1024, 1024};

	rvp_sys_getrlimit(RLIMIT_NOFILE, limit);
	for (uint64_t from = limit[0] - 1 < HIGHEST ? limit[0] - 1 : HIGHEST; from > 8; from -= from / 8 + 1) {
		long high = rvp_sys_fcntl(low, F_DUPFD_CLOEXEC, (long)from);

		if (high >= 0) {
			rvp_sys_close(low);
			return (int)high;
		}
	}
	return low;
}

static bool keep(enum rvp_descriptor which, int fd)
{
	struct stat file;

	if (rvp_sys_fstat(fd, &file) != 0) {
		rvp_sys_close(fd);
		return false;
	}
	kept[which].device = file.st_dev;
	kept[which].inode = file.st_ino;
	kept[which].number = move_up(fd);
	return true;
}

bool rvp_descriptor_open(enum rvp_descriptor which, const char *path, int flags, unsigned mode)
{
	long fd = rvp_sys_openat(path, flags | O_CLOEXEC, mode);

	if (fd < 0)
		return false;
	strncpy(kept[which].path, path, sizeof kept[which].path - 1);
	kept[which].flags = flags & ~(O_CREAT | O_EXCL | O_TRUNC);
	return keep(which, (int)fd);
}

bool rvp_descriptor_adopt(enum rvp_descriptor which, int fd)
{
	kept[which].path[0] = 0;
	return keep(which, fd);
}

static bool is_still_ours(enum rvp_descriptor which, int fd)
{
	struct stat file;

	return rvp_sys_fstat(fd, &file) == 0 && file.st_dev == kept[which].device && file.st_ino == kept[which].inode;
}

/* By its path, and only if it is the same file as before (statm has a new inode each time). */
static bool open_again(enum rvp_descriptor which)
{
	long fd = rvp_sys_openat(kept[which].path, kept[which].flags | O_CLOEXEC, 0);

	if (fd < 0)
		return false;
	if (which == RVP_DESCRIPTOR_LOG && !is_still_ours(which, (int)fd)) {
		rvp_sys_close((int)fd);
		return false;
	}
	return keep(which, (int)fd);
}

int rvp_descriptor_use(enum rvp_descriptor which)
{
	int fd = kept[which].number;

	if (fd >= 0 && is_still_ours(which, fd))
		return fd;
	if (!kept[which].path[0])
		return -1;
	kept[which].number = -1;
	return open_again(which) ? kept[which].number : -1;
}

void rvp_descriptor_forget(enum rvp_descriptor which)
{
	kept[which].number = -1;
	kept[which].path[0] = 0;
}

void rvp_descriptor_close(enum rvp_descriptor which)
{
	int fd = kept[which].number;

	if (fd >= 0 && is_still_ours(which, fd))
		rvp_sys_close(fd);
	rvp_descriptor_forget(which);
}

bool rvp_descriptor_is_ours(int fd)
{
	for (int i = 0; i < RVP_DESCRIPTOR_COUNT; i++)
		if (fd >= 0 && fd == kept[i].number && is_still_ours(i, fd))
			return true;
	return false;
}

int rvp_descriptor_numbers(int numbers[RVP_DESCRIPTOR_COUNT])
{
	int count = 0;

	for (int i = 0; i < RVP_DESCRIPTOR_COUNT; i++) {
		int fd = kept[i].number, at = count;

		if (fd < 0 || !is_still_ours(i, fd))
			continue;
		for (; at > 0 && numbers[at - 1] > fd; at--)
			numbers[at] = numbers[at - 1];
		numbers[at] = fd;
		count++;
	}
	return count;
}

void rvp_descriptor_make_way(int fd)
{
	for (int i = 0; i < RVP_DESCRIPTOR_COUNT; i++) {
		if (fd < 0 || fd != kept[i].number || !is_still_ours(i, fd))
			continue;
		long other = rvp_sys_fcntl(fd, F_DUPFD_CLOEXEC, fd > 64 ? fd / 2 : fd + 1);

		kept[i].number = other >= 0 ? (int)other : -1;
	}
}
