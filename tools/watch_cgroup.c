/* SPDX-License-Identifier: MIT */
/* watch_cgroup.c: see watch_cgroup.h. In a container the path in /proc/PID/cgroup may not exist below the
 * mount; then the mount itself is the group. */
#include "tools/watch_cgroup.h"

#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT_BYTES = 16384, PATH_BYTES = 4096 };
#define NO_LIMIT (1ull << 62) /* version 1 writes a huge number */

static bool read_text(const char *folder, const char *name, char *text)
{
	char path[PATH_BYTES + 64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, TEXT_BYTES - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	return got > 0;
}

static uint64_t number_in(const char *folder, const char *name)
{
	char text[TEXT_BYTES];

	return read_text(folder, name, text) ? strtoull(text, NULL, 10) : 0; /* "max" is 0 */
}

/* A line "name 123" of memory.stat. */
static uint64_t stat_of(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, name, length) && at[length] == ' ')
			return strtoull(at + length, NULL, 10);
	}
	return 0;
}

static bool is_v1_memory(const struct mntent *mount)
{
	return !strcmp(mount->mnt_type, "cgroup") && hasmntopt(mount, "memory");
}

/* Where the file system of that version is mounted. */
static bool find_mount(unsigned version, char *into)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *mount;
	bool found = false;

	while (mounts && !found && (mount = getmntent(mounts))) {
		found = version == 2 ? !strcmp(mount->mnt_type, "cgroup2") : is_v1_memory(mount);
		if (found)
			snprintf(into, PATH_BYTES, "%s", mount->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}

/* Whether the controller list of a line of /proc/PID/cgroup is what `version` is found by: "" or
 * "..,memory,..". */
static bool is_the_line(const char *controllers, unsigned version)
{
	char copy[256], *rest = NULL;

	if (version == 2)
		return !*controllers;
	snprintf(copy, sizeof copy, "%s", controllers);
	for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
		if (!strcmp(name, "memory"))
			return true;
	return false;
}

/* The group's path in that hierarchy: lines are number:controllers:path. */
static bool find_path(pid_t pid, unsigned version, char *into)
{
	char folder[64], text[TEXT_BYTES], *rest = NULL;

	snprintf(folder, sizeof folder, "/proc/%d", (int)pid);
	if (!read_text(folder, "cgroup", text))
		return false;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *controllers = strchr(line, ':'),
		     *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!path)
			continue;
		*path++ = 0;
		if (!is_the_line(controllers + 1, version))
			continue;
		snprintf(into, PATH_BYTES, "%s", path);
		return true;
	}
	return false;
}

static bool has_figures(const char *folder, unsigned version)
{
	char text[TEXT_BYTES];

	return read_text(folder, version == 2 ? "memory.current" : "memory.usage_in_bytes", text);
}

void rvp_cgroup_find(struct rvp_cgroup *cgroup, pid_t pid)
{
	char mount[PATH_BYTES], path[PATH_BYTES];

	for (unsigned version = 2; version; version--) {
		cgroup->version = version;
		if (!find_mount(version, mount) || !find_path(pid, version, path))
			continue;
		if (snprintf(cgroup->path, sizeof cgroup->path, "%s%s", mount, path) < PATH_BYTES &&
		    has_figures(cgroup->path, version))
			return;
		snprintf(cgroup->path, sizeof cgroup->path, "%s", mount);
		if (has_figures(cgroup->path, version))
			return;
	}
	cgroup->version = 0;
}

static void read_v2(const char *folder, const char *stat, struct rvp_cgroup_memory *memory)
{
	memory->current_bytes = number_in(folder, "memory.current");
	memory->max_bytes = number_in(folder, "memory.max");
	memory->anon_bytes = stat_of(stat, "anon");
	memory->file_bytes = stat_of(stat, "file");
	memory->shmem_bytes = stat_of(stat, "shmem");
	memory->kernel_bytes = stat_of(stat, "kernel");
	memory->swap_bytes = number_in(folder, "memory.swap.current");
	memory->reclaimable_bytes = stat_of(stat, "inactive_file") + stat_of(stat, "slab_reclaimable");
}

static void read_v1(const char *folder, const char *stat, struct rvp_cgroup_memory *memory)
{
	memory->current_bytes = number_in(folder, "memory.usage_in_bytes");
	memory->max_bytes = number_in(folder, "memory.limit_in_bytes");
	if (memory->max_bytes >= NO_LIMIT)
		memory->max_bytes = 0;
	memory->anon_bytes = stat_of(stat, "total_rss");
	memory->file_bytes = stat_of(stat, "total_cache");
	memory->shmem_bytes = stat_of(stat, "total_shmem");
	memory->kernel_bytes = number_in(folder, "memory.kmem.usage_in_bytes");
	memory->swap_bytes = stat_of(stat, "total_swap");
	memory->reclaimable_bytes = stat_of(stat, "total_inactive_file");
}

unsigned rvp_cgroup_pressure(const struct rvp_cgroup_memory *memory)
{
	uint64_t reclaimable = memory->reclaimable_bytes, current = memory->current_bytes;

	if (!memory->max_bytes)
		return 0;
	current -= reclaimable < current ? reclaimable : current;
	return current >= memory->max_bytes ? 100
					    : (unsigned)((double)current * 100 / (double)memory->max_bytes);
}

bool rvp_cgroup_read(const struct rvp_cgroup *cgroup, struct rvp_cgroup_memory *memory)
{
	char stat[TEXT_BYTES];

	if (!cgroup->version || !read_text(cgroup->path, "memory.stat", stat))
		return false;
	(cgroup->version == 2 ? read_v2 : read_v1)(cgroup->path, stat, memory);
	return true;
}
