/* SPDX-License-Identifier: MIT */
/* compress.c: see compress.h. */
#include "report/compress.h"

#include "record/names.h"
#include "record/packed_log.h"
#include "report/alive.h"
#include "report/run_source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The namespace of pids that we see; 0: not known. */
static uint64_t our_pidns(void)
{
	struct stat namespace;

	return stat("/proc/self/ns/pid", &namespace) == 0 ? namespace.st_ino : 0;
}

static bool is_gone(uint32_t pid, uint64_t start_ticks, uint64_t pidns_inode)
{
	return pidns_inode == our_pidns() && !rvp_is_alive(pid, start_ticks, pidns_inode);
}

/* Who can't be seen from here, on another machine or in another namespace, may run yet. */
static bool is_over(const char *folder)
{
	struct rvp_run_source source = {0};
	char path[4096];
	bool is_over;

	snprintf(path, sizeof path, "%s/" RVP_TREE_FILE, folder);
	if (rvp_failed(rvp_tree_read(&source, path)))
		return false;
	is_over = source.tree->boot_id[0] && rvp_is_this_boot(source.tree->boot_id) &&
		  atomic_load(&source.tree->next_entry) <= source.tree->entry_count &&
		  is_gone(atomic_load(&source.tree->root_pid), atomic_load(&source.tree->root_start_ticks),
			  source.tree->root_pidns);
	for (uint32_t i = 0; is_over && i < source.entry_count; i++) {
		const struct rvp_tree_entry *entry = rvp_tree_entry_at(source.tree, i);

		is_over = atomic_load(&entry->state) == RVP_ENTRY_FREE ||
			  is_gone(entry->pid, entry->start_ticks, entry->pidns_inode);
	}
	free(source.tree);
	return is_over;
}

/* `each` for the path of every folder of a process, until it says stop. */
static void for_each_process(const char *folder, bool (*each)(const char *path, void *context), void *context)
{
	DIR *directory = opendir(folder);
	bool goes_on = true;

	for (struct dirent *entry; directory && goes_on && (entry = readdir(directory));) {
		char path[4096];

		if (strncmp(entry->d_name, "proc.", 5) != 0 ||
		    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
			continue;
		goes_on = each(path, context);
	}
	if (directory)
		closedir(directory);
}

static bool look(const char *path, void *context)
{
	char log[4200];
	struct stat file;

	snprintf(log, sizeof log, "%s/" RVP_LOG_FILE, path);
	if (lstat(log, &file) != 0 || file.st_size < RVP_PACK_LEAST_BYTES)
		return true;
	*(bool *)context = true;
	return false;
}

bool rvp_compress_is_due(const char *folder)
{
	bool is_large = false;

	for_each_process(folder, look, &is_large);
	return is_large && is_over(folder);
}

static bool pack(const char *path, void *context)
{
	struct rvp_status *first = context, status = rvp_pack_log(path, RVP_PACK_LEAST_BYTES, NULL);

	if (rvp_failed(status) && !rvp_failed(*first))
		*first = status;
	return true;
}

struct rvp_status rvp_compress_run(const char *folder)
{
	struct rvp_status first = RVP_OK;

	if (rvp_compress_is_due(folder))
		for_each_process(folder, pack, &first);
	return first;
}

/* Whoever waits for an end of our streams must not wait for this. */
static void let_go_of_descriptors(void)
{
	int null;

	for (int fd = (int)sysconf(_SC_OPEN_MAX); fd-- > 3 && close_range(3, ~0u, 0) != 0;)
		close(fd);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
}

void rvp_compress_in_background(const char *folder)
{
	char *path;

	if (!rvp_compress_is_due(folder) || fflush(NULL) != 0 || fork() != 0)
		return;
	path = realpath(folder, NULL);
	setsid();
	let_go_of_descriptors();
	setpriority(PRIO_PROCESS, 0, 19);
	if (path && chdir("/") == 0)
		rvp_compress_run(path);
	_exit(0);
}
