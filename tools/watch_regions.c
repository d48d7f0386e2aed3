/* SPDX-License-Identifier: MIT */
/* watch_regions.c: see watch_regions.h. A table of names by hash, filled line by line; bounded: when it is
 * full, the rest is summed under "[others]", so that the sums stay right. */
#include "tools/watch_regions.h"

#include "record/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 4096, TABLE_SIZE = 8192, NAME_BYTES = 256, KIB = 1024 };

#define OTHERS    "[others]"
#define ANONYMOUS "[anon]"

struct region {
	char *name;
	bool is_code;
	uint64_t start, mapped_bytes, rss_bytes, pss_bytes, swap_bytes;
};

struct regions {
	struct region rows[NAMES_MAX];
	uint32_t count;
	uint32_t table[TABLE_SIZE]; /* row + 1; 0: free */
};

static uint32_t hash(const char *name)
{
	uint32_t value = 2166136261u;

	for (; *name; name++)
		value = (value ^ (unsigned char)*name) * 16777619u;
	return value % TABLE_SIZE;
}

/* The row of `name`; NULL when there is no memory for one more. */
static struct region *row_of(struct regions *regions, const char *name)
{
	uint32_t at;

	for (at = hash(name); regions->table[at]; at = (at + 1) % TABLE_SIZE)
		if (!strcmp(regions->rows[regions->table[at] - 1].name, name))
			return &regions->rows[regions->table[at] - 1];
	if (regions->count == NAMES_MAX - 1 && strcmp(name, OTHERS))
		return row_of(regions, OTHERS);
	regions->rows[regions->count].name = strdup(name);
	if (!regions->rows[regions->count].name)
		return NULL;
	regions->table[at] = ++regions->count;
	return &regions->rows[regions->count - 1];
}

/* The first line of a region: 7f..-7f.. r-xp 00000000 08:01 123   /lib/x.so */
static bool read_head(struct regions *regions, const char *line, struct region **region)
{
	unsigned long start, end;
	char rights[8], name[NAME_BYTES] = "";

	if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255[^\n]", &start, &end, rights, name) < 3)
		return false;
	*region = row_of(regions, *name ? name : ANONYMOUS);
	if (!*region)
		return true;
	if (!(*region)->mapped_bytes)
		(*region)->start = start;
	(*region)->mapped_bytes += end - start;
	(*region)->is_code |= rights[2] == 'x';
	return true;
}

static void add_field(const char *line, const char *name, uint64_t *bytes)
{
	size_t length = strlen(name);

	if (!strncmp(line, name, length))
		*bytes += strtoull(line + length, NULL, 10) * KIB;
}

static void read_line(struct regions *regions, const char *line, struct region **region)
{
	bool is_field = line[0] >= 'A' && line[0] <= 'Z'; /* addresses have small letters */

	if (!is_field) {
		read_head(regions, line, region);
		return;
	}
	if (!*region)
		return;
	add_field(line, "Rss:", &(*region)->rss_bytes);
	add_field(line, "Pss:", &(*region)->pss_bytes);
	add_field(line, "Swap:", &(*region)->swap_bytes);
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static enum rvp_category category_of(const struct region *region)
{
	const char *name = region->name;

	if (begins(name, "[stack"))
		return RVP_CATEGORY_STACK;
	if (begins(name, "[vdso]") || begins(name, "[vsyscall]") || begins(name, "[vvar"))
		return RVP_CATEGORY_CODE;
	if (name[0] != '/' || begins(name, "/memfd:") || begins(name, "/dev/shm/") || begins(name, "/SYSV") ||
	    begins(name, "/dev/zero"))
		return RVP_CATEGORY_UNKNOWN;
	return region->is_code ? RVP_CATEGORY_CODE : RVP_CATEGORY_FILE;
}

static void write_rows(struct rvp_log_writer *writer, const struct regions *regions, pid_t pid,
		       uint64_t stamp)
{
	for (uint32_t i = 0; i < regions->count; i++) {
		const struct region *row = &regions->rows[i];
		struct rvp_text name = {row->name, strlen(row->name)};

		if (row->rss_bytes || row->swap_bytes)
			RVP_WRITE(writer, REGION, name.length, .stamp = stamp, .pid = (uint64_t)pid,
				  .category = category_of(row), .start = row->start,
				  .mapped_bytes = row->mapped_bytes, .rss_bytes = row->rss_bytes,
				  .pss_bytes = row->pss_bytes, .swap_bytes = row->swap_bytes, .name = name);
	}
}

static bool read_all(struct regions *regions, const char *path)
{
	FILE *file = fopen(path, "re");
	struct region *region = NULL;
	size_t room = 0;
	char *line = NULL;

	if (!file)
		return false;
	while (getline(&line, &room, file) > 0)
		read_line(regions, line, &region);
	free(line);
	fclose(file);
	return regions->count > 0;
}

bool rvp_regions_write(struct rvp_log_writer *writer, pid_t pid, const char *path, uint64_t stamp)
{
	struct regions *regions = calloc(1, sizeof *regions);
	char own_path[64];
	bool good;

	if (!regions)
		return false;
	snprintf(own_path, sizeof own_path, "/proc/%d/smaps", (int)pid);
	good = read_all(regions, path ? path : own_path);
	if (good)
		write_rows(writer, regions, pid, stamp);
	for (uint32_t i = 0; i < regions->count; i++)
		free(regions->rows[i].name);
	free(regions);
	return good;
}
