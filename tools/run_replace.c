/* SPDX-License-Identifier: MIT */
/* run_replace.c: the removal of an old run folder (rule in run_place.h): first everything is looked at, then
 * all of it goes. No link is followed. */
#include "tools/run_place.h"

#include "record/log_reader.h"
#include "record/names.h"
#include "tools/process_stat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What rvprof writes, also where it was killed meanwhile: in a run folder, and in its proc.* folders. */
static const char *const run_names[] = {RVP_TREE_FILE, RVP_LOCK_FILE, RVP_WATCH_FILE, "proc.*.*", "*.json",
					"*.csv",       "report.html", ".*.tmp",       "*.tmp",    ".*.new", NULL};
static const char *const process_names[] = {RVP_LOG_FILE, RVP_PACKED_FILE, RVP_PACKED_FILE ".tmp", RVP_BUFFER_FILE,
					    RVP_FOLD_FILE, NULL};

static bool is_one_of(const char *name, const char *const *patterns)
{
	for (; *patterns; patterns++)
		if (!fnmatch(*patterns, name, FNM_PERIOD))
			return true;
	return false;
}

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static bool is_folder(int folder, const char *name)
{
	struct stat file;

	return fstatat(folder, name, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(file.st_mode);
}

typedef struct rvp_status visit(int folder, const char *name, const char *path);

/* `each` for every name in the folder; a subfolder's content first. */
static struct rvp_status for_each(int parent, const char *name, const char *path, const char *const *names,
				  visit *each)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct rvp_status status = RVP_OK;
	struct dirent *entry;

	if (!folder)
		return rvp_fail("open", path, errno);
	while (!rvp_failed(status) && (entry = readdir(folder))) {
		if (is_dot(entry->d_name))
			continue;
		if (!is_one_of(entry->d_name, names))
			status = rvp_fail_with(
			    "replace", path, "'%s' in it is not rvprof's; remove it yourself", entry->d_name);
		else if (names == run_names && is_folder(fd, entry->d_name))
			status = for_each(fd, entry->d_name, path, process_names, each);
		if (!rvp_failed(status))
			status = each(fd, entry->d_name, path);
	}
	closedir(folder);
	return status;
}

static struct rvp_status look(int folder, const char *name, const char *path)
{
	(void)folder, (void)name, (void)path;
	return RVP_OK;
}

static struct rvp_status take_away(int folder, const char *name, const char *path)
{
	if (unlinkat(folder, name, is_folder(folder, name) ? AT_REMOVEDIR : 0))
		return rvp_fail("remove", path, errno);
	return RVP_OK;
}

/* A process of the run that lives, or 0. */
static uint32_t living_process(int fd, const struct rvp_tree *tree)
{
	struct rvp_tree_entry entry;

	if (tree->file.start_ticks && rvp_start_ticks((pid_t)tree->file.pid) == tree->file.start_ticks)
		return (uint32_t)tree->file.pid;
	for (uint32_t i = 0; i < tree->next_entry && i < tree->entry_count; i++) {
		off_t at = RVP_TREE_HEADER_BYTES + (off_t)i * RVP_TREE_ENTRY_BYTES;

		if (pread(fd, &entry, sizeof entry, at) != sizeof entry)
			return 0;
		if (entry.state == RVP_ENTRY_RUNNING && entry.start_ticks &&
		    rvp_start_ticks((pid_t)entry.pid) == entry.start_ticks)
			return entry.pid;
	}
	return 0;
}

static struct rvp_status check_tree(int fd, const char *path)
{
	struct rvp_tree tree;
	uint32_t pid;

	if (read(fd, &tree, sizeof tree) != sizeof tree ||
	    rvp_failed(rvp_file_header_check(&tree.file, RVP_TREE_MAGIC, path)))
		return rvp_fail_with("replace", path,
				     "it is no run folder of this version of rvprof; -o names another");
	pid = living_process(fd, &tree);
	if (pid)
		return rvp_fail_with("replace", path, "process %u is still being recorded in it", pid);
	return RVP_OK;
}

static struct rvp_status check_is_a_run(const char *path)
{
	char name[RVP_FOLDER_BYTES + 16];
	struct rvp_status status;
	int fd;

	snprintf(name, sizeof name, "%s/" RVP_TREE_FILE, path);
	fd = open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return rvp_fail_with("replace", path, "it is no run folder of rvprof; -o names another");
	status = check_tree(fd, path);
	close(fd);
	return status;
}

struct rvp_status rvp_old_run_remove(const char *path)
{
	struct rvp_status status;

	path = rvp_path_from_here(path);
	if (rmdir(path) == 0) /* it was empty */
		return RVP_OK;
	if (!is_folder(AT_FDCWD, path))
		return rvp_fail_with("replace", path, "it is no folder; -o names another");
	status = check_is_a_run(path);
	if (!rvp_failed(status))
		status = for_each(AT_FDCWD, path, path, run_names, look);
	if (!rvp_failed(status))
		status = for_each(AT_FDCWD, path, path, run_names, take_away);
	if (!rvp_failed(status) && rmdir(path))
		status = rvp_fail("remove", path, errno);
	return status;
}
