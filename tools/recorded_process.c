/* SPDX-License-Identifier: MIT */
/* recorded_process.c: see recorded_process.h. The run folder is where the process's map says that its table lies: that
 * holds for a bare preload, for `rvprof run`, and whatever the environment says. */
#include "tools/recorded_process.h"

#include "record/names.h"
#include "report/alive.h"
#include "tools/process_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char step[] = "order";
static const char deleted[] = " (deleted)";

static struct rvp_status fail_of_user(const char *name)
{
	struct stat info;
	char path[64];

	snprintf(path, sizeof path, "/proc/%s", name + strlen("process "));
	if (stat(path, &info) != 0)
		return rvp_fail_with(step, name, "there is no such process");
	if (info.st_uid == geteuid())
		return rvp_fail_with(step, name, "this machine does not let us look at it (is it in another container?)");
	return rvp_fail_with(step, name, "it belongs to another user (uid %u): ask as that user", (unsigned)info.st_uid);
}

/* The path of the table in the process's map; empty: there is none. */
static struct rvp_status find_table(pid_t pid, const char *name, char path[PATH_MAX])
{
	char maps[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(maps, sizeof maps, "/proc/%d/maps", (int)pid);
	file = fopen(maps, "re");
	*path = 0;
	if (!file)
		return errno == ENOENT ? rvp_fail_with(step, name, "there is no such process") : fail_of_user(name);
	while (getline(&line, &room, file) > 0) {
		char *at = strchr(line, '/'), *end = strstr(line, "/" RVP_TREE_FILE);

		if (!at || !end || strlen(at) >= PATH_MAX)
			continue;
		at[strcspn(at, "\n")] = 0;
		strcpy(path, at);
		break;
	}
	if (ferror(file) && !*path) {
		fclose(file);
		free(line);
		return fail_of_user(name);
	}
	fclose(file);
	free(line);
	return RVP_OK;
}

/* Also where the process sees another root than we do. */
static int open_table(pid_t pid, const char *path)
{
	char through[PATH_MAX + 64];
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	snprintf(through, sizeof through, "/proc/%d/root%s", (int)pid, path);
	return open(through, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
}

static struct rvp_status map_table(struct rvp_recorded_process *process, const char *name, const char *path)
{
	int fd = open_table(process->pid, path);
	struct stat info;
	void *map;

	if (fd < 0)
		return rvp_fail_with(step, name, "cannot open %.150s: %s", path, strerror(errno));
	map = fstat(fd, &info) == 0 && (size_t)info.st_size >= sizeof(struct rvp_tree)
		  ? mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
		  : MAP_FAILED;
	close(fd);
	if (map == MAP_FAILED)
		return rvp_fail_with(step, name, "cannot read %.150s", path);
	process->tree = map;
	if (memcmp(process->tree->file.magic, RVP_TREE_MAGIC, sizeof process->tree->file.magic) != 0 ||
	    process->tree->file.version != RVP_FORMAT_VERSION ||
	    (size_t)info.st_size < rvp_tree_bytes(process->tree->entry_count))
		return rvp_fail_with(step, name, "it is recorded by another version of rvprof");
	return RVP_OK;
}

/* Its last entry: an exec gives the same pid a new one. */
static struct rvp_tree_entry *entry_of(const struct rvp_recorded_process *process)
{
	uint32_t count = atomic_load(&process->tree->next_entry), pid = rvp_innermost_pid(process->pid);

	if (count > process->tree->entry_count)
		count = process->tree->entry_count;
	while (count-- > 0) {
		struct rvp_tree_entry *entry = rvp_tree_entry_at(process->tree, count);

		if (atomic_load(&entry->state) >= RVP_ENTRY_RUNNING && entry->pid == pid &&
		    entry->start_ticks == process->start_ticks)
			return entry;
	}
	return NULL;
}

static struct rvp_status fail_without_entry(const struct rvp_recorded_process *process, const char *name)
{
	uint32_t root = atomic_load(&process->tree->root_pid);

	if (process->tree->maker == RVP_MADE_BY_RUN && root && (pid_t)root != process->pid)
		return rvp_fail_with(step, name, "it is `rvprof run` or a process that is not recorded: the program's pid is %u",
				     root);
	return rvp_fail_with(step, name, "it is not recorded");
}

static struct rvp_status open_by(struct rvp_recorded_process *process, const char *name)
{
	char path[PATH_MAX];
	struct rvp_status status;

	process->start_ticks = rvp_start_ticks(process->pid);
	if (!process->start_ticks)
		return rvp_fail_with(step, name, "there is no such process");
	status = find_table(process->pid, name, path);
	if (rvp_failed(status))
		return status;
	if (!*path)
		return rvp_fail_with(step, name, "it is not recorded by rvprof; `rvprof run` starts a program that is");
	if (strlen(path) > strlen(deleted) && !strcmp(path + strlen(path) - strlen(deleted), deleted))
		return rvp_fail_with(step, name, "its run folder was removed");
	status = map_table(process, name, path);
	if (rvp_failed(status))
		return status;
	process->entry = entry_of(process);
	if (!process->entry)
		return fail_without_entry(process, name);
	snprintf(process->folder, sizeof process->folder, "%.*s", (int)(strlen(path) - strlen("/" RVP_TREE_FILE)), path);
	return RVP_OK;
}

struct rvp_status rvp_recorded_process_open(struct rvp_recorded_process *process, pid_t pid)
{
	struct rvp_status status;
	char name[32];

	*process = (struct rvp_recorded_process){.pid = pid};
	snprintf(name, sizeof name, "process %d", (int)pid);
	status = open_by(process, name);
	if (rvp_failed(status))
		rvp_recorded_process_close(process);
	return status;
}

void rvp_recorded_process_close(struct rvp_recorded_process *process)
{
	if (process->tree)
		munmap(process->tree, rvp_tree_bytes(process->tree->entry_count));
	process->tree = NULL;
	process->entry = NULL;
}

bool rvp_recorded_process_runs(const struct rvp_recorded_process *process)
{
	return atomic_load(&process->entry->state) == RVP_ENTRY_RUNNING &&
	       rvp_start_ticks(process->pid) == process->start_ticks;
}
