/* SPDX-License-Identifier: MIT */
/* procfs.c: see procfs.h. */
#include "preload/procfs.h"

#include "preload/descriptor.h"
#include "preload/sys.h"

#include <string.h>
#include <sys/utsname.h>

enum { PAGE_BYTES = 4096 };

size_t rvp_procfs_read(const char *path, char *into, size_t bytes)
{
	long fd = rvp_sys_openat(path, O_RDONLY | O_CLOEXEC, 0), got = 0;
	size_t length = 0;

	into[0] = 0;
	if (fd < 0)
		return 0;
	while (length < bytes - 1 && (got = rvp_sys_read((int)fd, into + length, bytes - 1 - length)) > 0)
		length += (size_t)got;
	rvp_sys_close((int)fd);
	into[length] = 0;
	return length;
}

static uint64_t number_at(const char *text)
{
	uint64_t value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (uint64_t)(*text++ - '0');
	return value;
}

/* The number in field `wanted` (from 1) of a stat line; the name in field 2 may hold anything. */
static uint64_t stat_field(const char *line, int wanted)
{
	const char *at = strrchr(line, ')');
	int field = 2;

	while (at && field < wanted) {
		at = strchr(at + 1, ' ');
		field++;
	}
	return at ? number_at(at + 1) : 0;
}

void rvp_procfs_identity(uint32_t *parent_pid, uint64_t *start_ticks, uint64_t *pidns_inode)
{
	char text[512];
	long length;

	rvp_procfs_read("/proc/self/stat", text, sizeof text);
	*parent_pid = (uint32_t)stat_field(text, 4);
	*start_ticks = stat_field(text, 22);
	length = rvp_sys_readlink("/proc/self/ns/pid", text, sizeof text - 1);
	*pidns_inode = 0;
	if (length > 5) { /* pid:[4026531836] */
		text[length] = 0;
		*pidns_inode = number_at(text + 5);
	}
}

static struct utsname names;

const char *rvp_procfs_host(void)
{
	if (!names.nodename[0])
		rvp_syscall6(SYS_uname, (long)&names, 0, 0, 0, 0, 0);
	return names.nodename;
}

const char *rvp_procfs_kernel(void)
{
	rvp_procfs_host();
	return names.release;
}

size_t rvp_procfs_command(const char **command)
{
	static char text[8192 + 1024];

	*command = text;
	return rvp_procfs_read("/proc/self/cmdline", text, sizeof text);
}

static int parse_statm(const char *text, uint64_t *resident_bytes, uint64_t *shared_bytes)
{
	const char *at = strchr(text, ' ');

	if (!at)
		return 0;
	*resident_bytes = number_at(at + 1) * PAGE_BYTES;
	at = strchr(at + 1, ' ');
	*shared_bytes = at ? number_at(at + 1) * PAGE_BYTES : 0;
	return 1;
}

int rvp_procfs_statm(uint64_t *resident_bytes, uint64_t *shared_bytes)
{
	int fd = rvp_descriptor_use(RVP_DESCRIPTOR_STATM);
	char text[128];
	long length;

	if (fd < 0)
		return 0;
	length = rvp_syscall6(SYS_pread64, fd, (long)text, sizeof text - 1, 0, 0, 0);
	if (length <= 0)
		return 0;
	text[length] = 0;
	return parse_statm(text, resident_bytes, shared_bytes);
}

int rvp_procfs_statm_anew(uint64_t *resident_bytes, uint64_t *shared_bytes)
{
	char text[128];

	rvp_procfs_read("/proc/self/statm", text, sizeof text);
	return parse_statm(text, resident_bytes, shared_bytes);
}

uint64_t rvp_procfs_resident_bytes(void)
{
	uint64_t resident = 0, shared;

	rvp_procfs_statm_anew(&resident, &shared);
	return resident;
}

uint64_t rvp_procfs_memory_bytes(void)
{
	char text[256];
	const char *at;

	rvp_procfs_read("/proc/meminfo", text, sizeof text);
	at = strstr(text, "MemTotal:");
	if (!at)
		return 0;
	at += 9;
	while (*at == ' ')
		at++;
	return number_at(at) * 1024;
}

size_t rvp_procfs_cpu(char *into, size_t bytes)
{
	char text[2048];
	const char *at, *end;
	size_t length;

	into[0] = 0;
	rvp_procfs_read("/proc/cpuinfo", text, sizeof text);
	at = strstr(text, "model name\t: ");
	end = at ? strchr(at, '\n') : NULL;
	if (!end)
		return 0;
	at += strlen("model name\t: ");
	length = (size_t)(end - at) < bytes - 1 ? (size_t)(end - at) : bytes - 1;
	memcpy(into, at, length);
	into[length] = 0;
	return length;
}
