/* SPDX-License-Identifier: MIT */
/* told_files.c: see told_files.h. */
#include "preload/told_files.h"

#include "preload/emit.h"
#include "preload/sys.h"

#include <stdatomic.h>
#include <string.h>

enum { FILES_KNOWN = 256 };

/* (device, inode) pairs whose path was told; a full table tells again. */
static _Atomic uint64_t told[FILES_KNOWN];

static bool is_told(uint64_t device, uint64_t inode)
{
	uint64_t name = (device * 0x9e3779b97f4a7c15u ^ inode) | 1;
	_Atomic uint64_t *cell = &told[name * 0xd6e8feb86659fd93u >> 56];

	if (atomic_load(cell) == name)
		return true;
	atomic_store(cell, name);
	return false;
}

static void write_link(char *link, int fd)
{
	char digits[12];
	int at = sizeof digits - 1;

	digits[at] = 0;
	for (unsigned number = (unsigned)fd;; number /= 10) {
		digits[--at] = (char)('0' + number % 10);
		if (number < 10)
			break;
	}
	strcpy(link, "/proc/self/fd/");
	strcat(link, digits + at);
}

void rvp_tell_file(struct rvp_thread *thread, int fd, const struct stat *file)
{
	char link[40], path[1024];
	long length;

	if (is_told(file->st_dev, file->st_ino))
		return;
	write_link(link, fd);
	length = rvp_sys_readlink(link, path, sizeof path);
	if (length > 0)
		RVP_EMIT(thread, FILE, (uint64_t)length, .device = file->st_dev, .inode = file->st_ino,
			 .bytes = (uint64_t)file->st_size,
			 .path = {.bytes = path, .length = (uint64_t)length});
}

void rvp_told_files_after_fork(void)
{
	for (int i = 0; i < FILES_KNOWN; i++)
		atomic_store(&told[i], 0);
}
