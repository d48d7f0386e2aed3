/* SPDX-License-Identifier: MIT */
/* alive.c: see alive.h. A pid alone may have been given again: the start time in /proc/<pid>/stat names a
 * process. */
#include "report/alive.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ssize_t read_small(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	text[length < 0 ? 0 : length] = 0;
	return length;
}

bool rvp_is_this_boot(const char *boot_id)
{
	char text[64];

	if (!boot_id[0])
		return true;
	if (read_small("/proc/sys/kernel/random/boot_id", text, sizeof text) <= 0)
		return true;
	return strncmp(text, boot_id, strcspn(text, "\n")) == 0;
}

/* Field 3 (state), 20 (threads) and 22 (start) of /proc/<pid>/stat; the name before may hold anything. */
static bool runs(uint32_t pid, uint64_t start_ticks)
{
	char path[64], text[1024], state;
	long threads;
	unsigned long long start;

	snprintf(path, sizeof path, "/proc/%u/stat", pid);
	if (read_small(path, text, sizeof text) <= 0 || !strrchr(text, ')'))
		return false;
	if (sscanf(strrchr(text, ')') + 1,
		   " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu", &state,
		   &threads, &start) != 3)
		return false;
	if (start_ticks && start != start_ticks)
		return false;
	return (state != 'Z' && state != 'X') || threads > 1;
}

static uint64_t pidns_of(const char *pid)
{
	char path[300];
	struct stat namespace;

	snprintf(path, sizeof path, "/proc/%s/ns/pid", pid);
	return stat(path, &namespace) == 0 ? namespace.st_ino : 0;
}

/* The last number of the line NSpid of /proc/<pid>/status: the pid in the innermost namespace. */
static uint32_t innermost(const char *pid)
{
	char path[300], text[4096];
	const char *line, *end;

	snprintf(path, sizeof path, "/proc/%s/status", pid);
	if (read_small(path, text, sizeof text) <= 0 || !(line = strstr(text, "\nNSpid:")))
		return 0;
	end = line + 1 + strcspn(line + 1, "\n");
	while (end > line && end[-1] >= '0' && end[-1] <= '9')
		end--;
	return (uint32_t)strtoul(end, NULL, 10);
}

uint32_t rvp_innermost_pid(int pid)
{
	char text[16];

	snprintf(text, sizeof text, "%d", pid);
	return innermost(text);
}

static bool runs_elsewhere(uint32_t pid, uint64_t start_ticks, uint64_t pidns_inode)
{
	DIR *proc = opendir("/proc");
	bool found = false;

	for (struct dirent *entry; proc && !found && (entry = readdir(proc));)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			found = pidns_of(entry->d_name) == pidns_inode &&
				innermost(entry->d_name) == pid &&
				runs((uint32_t)strtoul(entry->d_name, NULL, 10), start_ticks);
	if (proc)
		closedir(proc);
	return found;
}

bool rvp_is_alive(uint32_t pid, uint64_t start_ticks, uint64_t pidns_inode)
{
	if (!pid)
		return false;
	if (!pidns_inode || pidns_of("self") == pidns_inode)
		return runs(pid, start_ticks);
	return runs_elsewhere(pid, start_ticks, pidns_inode);
}
