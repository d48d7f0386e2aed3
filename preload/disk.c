/* SPDX-License-Identifier: MIT */
/* disk.c: see disk.h. */
#include "preload/disk.h"

#include "preload/process.h"
#include "preload/sys.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

size_t rvp_disk_append(char *into, size_t room, size_t length, const char *text)
{
	while (*text && length + 1 < room)
		into[length++] = *text++;
	into[length] = 0;
	return length;
}

size_t rvp_disk_append_number(char *into, size_t room, size_t length, uint64_t number)
{
	char digits[24];
	int at = sizeof digits - 1;

	digits[at] = 0;
	do
		digits[--at] = (char)('0' + number % 10);
	while (number /= 10);
	return rvp_disk_append(into, room, length, digits + at);
}

long rvp_disk_open(const char *name, int flags)
{
	char path[sizeof rvp_process.proc_folder + 32] = "";
	size_t length = rvp_disk_append(path, sizeof path, 0, rvp_process.proc_folder);

	rvp_disk_append(path, sizeof path, length, name);
	return rvp_sys_openat(path, flags | O_CLOEXEC, 0600);
}

long rvp_disk_allocate(int fd, uint64_t at, uint64_t bytes)
{
	static const char zeros[4096];
	uint64_t limit[2] = {UINT64_MAX, 0};
	long error;

	rvp_sys_getrlimit(RLIMIT_FSIZE, limit);
	if (at + bytes > limit[0])
		return -EFBIG;
	error = rvp_sys_fallocate(fd, at, bytes);
	if (error != -EOPNOTSUPP)
		return error;
	/* A file system without fallocate: the zeros are written. */
	for (uint64_t done = 0; done < bytes; done += sizeof zeros) {
		size_t part = bytes - done < sizeof zeros ? bytes - done : sizeof zeros;

		if (rvp_sys_pwrite(fd, zeros, part, at + done) != (long)part)
			return -ENOSPC;
	}
	return 0;
}

void *rvp_disk_map(int fd, uint64_t at, size_t bytes)
{
	long address = rvp_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);

	if (address < 0 && address > -4096)
		return NULL;
	rvp_sys_madvise((void *)address, bytes, MADV_RANDOM);
	return (void *)address;
}

void *rvp_disk_make(const char *name, size_t bytes)
{
	long fd = rvp_disk_open(name, O_RDWR | O_CREAT | O_EXCL);
	void *map = NULL;

	if (fd < 0)
		return NULL;
	if (rvp_disk_allocate((int)fd, 0, bytes) == 0)
		map = rvp_disk_map((int)fd, 0, bytes);
	rvp_sys_close((int)fd);
	return map;
}

struct rvp_file_header rvp_disk_header(const char *magic)
{
	struct rvp_file_header header = {.pid = rvp_process.pid,
					 .start_ticks = rvp_process.start_ticks,
					 .begin_realtime_ns = rvp_process.begin_realtime_ns};

	rvp_file_header_seal(&header, magic);
	return header;
}
