/* SPDX-License-Identifier: MIT */
/* watch_cgroup.c: see watch_cgroup.h. */
#include "tools/watch_cgroup.h"

#include <fcntl.h>
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

	return read_text(folder, name, text) ? strtoull(text, NULL, 10) : 0;
}

/* A line "name 123" of memory.stat. */
static bool find_stat(const char *text, const char *name, uint64_t *value)
{
	size_t length = strlen(name);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, length) != 0 || at[length] != ' ')
			continue;
		*value = strtoull(at + length, NULL, 10);
		return true;
	}
	return false;
}

static uint64_t stat_of(const char *text, const char *name)
{
	uint64_t value = 0;

	find_stat(text, name, &value);
	return value;
}

/* Linux before 5.18 has no sum. What sockets hold is counted in memory.current and in no other line. */
static uint64_t kernel_of(const char *stat)
{
	static const char *const parts[] = {"kernel_stack", "pagetables", "percpu", "vmalloc", "slab"};
	uint64_t bytes = 0;

	if (!find_stat(stat, "kernel", &bytes))
		for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
			bytes += stat_of(stat, parts[i]);
	return bytes + stat_of(stat, "sock");
}

static uint64_t reclaimable_of(const char *stat, unsigned version)
{
	return version == 2 ? stat_of(stat, "inactive_file") + stat_of(stat, "slab_reclaimable")
			    : stat_of(stat, "total_inactive_file");
}

static void read_v2(const char *folder, const char *stat, struct rvp_cgroup_memory *memory)
{
	memory->current_bytes = number_in(folder, "memory.current");
	memory->anon_bytes = stat_of(stat, "anon");
	memory->file_bytes = stat_of(stat, "file");
	memory->shmem_bytes = stat_of(stat, "shmem");
	memory->kernel_bytes = kernel_of(stat);
	memory->swap_bytes = number_in(folder, "memory.swap.current");
}

static void read_v1(const char *folder, const char *stat, struct rvp_cgroup_memory *memory)
{
	memory->current_bytes = number_in(folder, "memory.usage_in_bytes");
	memory->anon_bytes = stat_of(stat, "total_rss");
	memory->file_bytes = stat_of(stat, "total_cache");
	memory->shmem_bytes = stat_of(stat, "total_shmem");
	memory->kernel_bytes = number_in(folder, "memory.kmem.usage_in_bytes");
	memory->swap_bytes = stat_of(stat, "total_swap");
}

/* ---- limits ---- */

static uint64_t own_limit(const char *folder, unsigned version)
{
	uint64_t bytes =
	    number_in(folder, version == 2 ? "memory.max" : "memory.limit_in_bytes"); /* "max": 0 */

	return bytes >= NO_LIMIT ? 0 : bytes;
}

static uint64_t room_below(uint64_t max, uint64_t current, uint64_t reclaimable)
{
	uint64_t used = current - (reclaimable < current ? reclaimable : current);

	return used < max ? max - used : 0;
}

/* The limit of the group at `folder`, if it leaves less room than the one that is known. */
static void take_limit(const char *folder, unsigned version, uint64_t levels,
		       struct rvp_cgroup_memory *memory)
{
	uint64_t max = own_limit(folder, version), current, reclaimable;
	char stat[TEXT_BYTES];

	if (!max || !read_text(folder, "memory.stat", stat))
		return;
	current = number_in(folder, version == 2 ? "memory.current" : "memory.usage_in_bytes");
	reclaimable = reclaimable_of(stat, version);
	if (memory->max_bytes &&
	    room_below(max, current, reclaimable) >=
		room_below(memory->max_bytes, memory->limit_current_bytes, memory->limit_reclaimable_bytes))
		return;
	memory->max_bytes = max;
	memory->limit_levels = levels;
	memory->limit_current_bytes = current;
	memory->limit_reclaimable_bytes = reclaimable;
}

/* Of groups above what is mounted version 1 tells the lowest limit, not what is used there. */
static void take_hidden_limit(const char *stat, uint64_t lowest, uint64_t levels,
			      struct rvp_cgroup_memory *memory)
{
	uint64_t max = stat_of(stat, "hierarchical_memory_limit");

	if (!max || max >= NO_LIMIT || (lowest && lowest <= max))
		return;
	memory->max_bytes = max;
	memory->limit_levels = levels;
	memory->limit_current_bytes = memory->current_bytes;
	memory->limit_reclaimable_bytes = memory->reclaimable_bytes;
}

static void take_limits(const struct rvp_cgroup *cgroup, const char *stat, struct rvp_cgroup_memory *memory)
{
	uint64_t levels = 0, lowest = 0, max;
	char folder[PATH_BYTES], *last;

	snprintf(folder, sizeof folder, "%s", cgroup->path);
	for (;; levels++) {
		max = own_limit(folder, cgroup->version);
		if (max && (!lowest || max < lowest))
			lowest = max;
		take_limit(folder, cgroup->version, levels, memory);
		last = strrchr(folder, '/');
		if (!last || (size_t)(last - folder) < cgroup->mount_bytes)
			break;
		*last = 0;
	}
	if (cgroup->version == 1)
		take_hidden_limit(stat, lowest, levels + 1, memory);
}

unsigned rvp_cgroup_pressure(const struct rvp_cgroup_memory *memory)
{
	uint64_t room =
	    room_below(memory->max_bytes, memory->limit_current_bytes, memory->limit_reclaimable_bytes);

	return memory->max_bytes
		   ? (unsigned)((double)(memory->max_bytes - room) * 100 / (double)memory->max_bytes)
		   : 0;
}

unsigned rvp_cgroup_near_percent(unsigned pressure)
{
	return pressure >= 99 ? 99 : pressure >= 95 ? 95 : pressure >= 90 ? 90 : 0;
}

bool rvp_cgroup_read(const struct rvp_cgroup *cgroup, struct rvp_cgroup_memory *memory)
{
	char stat[TEXT_BYTES];

	if (!cgroup->version || !read_text(cgroup->path, "memory.stat", stat))
		return false;
	*memory = (struct rvp_cgroup_memory){0};
	(cgroup->version == 2 ? read_v2 : read_v1)(cgroup->path, stat, memory);
	memory->reclaimable_bytes = reclaimable_of(stat, cgroup->version);
	take_limits(cgroup, stat, memory);
	return true;
}

void rvp_cgroup_write(struct rvp_log_writer *writer, const struct rvp_cgroup *cgroup,
		      const struct rvp_cgroup_memory *memory, uint64_t stamp)
{
	RVP_WRITE(writer, CGROUP, 0, .stamp = stamp, .version = cgroup->version,
		  .current_bytes = memory->current_bytes, .max_bytes = memory->max_bytes,
		  .anon_bytes = memory->anon_bytes, .file_bytes = memory->file_bytes,
		  .shmem_bytes = memory->shmem_bytes, .kernel_bytes = memory->kernel_bytes,
		  .swap_bytes = memory->swap_bytes, .reclaimable_bytes = memory->reclaimable_bytes,
		  .limit_levels = memory->limit_levels, .limit_current_bytes = memory->limit_current_bytes);
}
