/* SPDX-License-Identifier: MIT */
/* last_look.c: see last_look.h.
 *
 * The records are stamped with the end that the root's entry tells, a few milliseconds ago: since then it has
 * done nothing but wait. */
#include "tools/last_look.h"

#include "record/clock_ns.h"
#include "record/log_writer.h"
#include "report/run_source.h"
#include "tools/process_stat.h"
#include "tools/watch_cgroup.h"
#include "tools/watch_process.h"
#include "tools/watch_regions.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The entry of the root if it is at its last hook; NULL otherwise. */
static const struct rvp_tree_entry *waiting_root(struct rvp_tree *tree, uint32_t entry_count)
{
	uint32_t pid = atomic_load(&tree->root_pid);

	if (tree->maker != RVP_MADE_BY_PRELOAD || !pid ||
	    rvp_start_ticks((pid_t)pid) != atomic_load(&tree->root_start_ticks))
		return NULL;
	for (uint32_t i = 0; i < entry_count; i++) {
		struct rvp_tree_entry *entry = rvp_tree_entry_at(tree, i);

		if (entry->pid == pid && entry->start_ticks == tree->root_start_ticks &&
		    atomic_load(&entry->state) == RVP_ENTRY_EXITED)
			return entry;
	}
	return NULL;
}

static void write_process(struct rvp_log_writer *writer, const struct rvp_tree *tree, uint64_t stamp)
{
	struct rvp_text none = {"", 0};

	RVP_WRITE(writer, PROCESS, 0, .stamp = stamp, .pid = (uint64_t)getpid(),
		  .parent_pid = (uint64_t)getppid(), .start_ticks = rvp_start_ticks(getpid()),
		  .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), .mode = tree->mode,
		  .clock = RVP_CLOCK_MONOTONIC, .rank = none, .boot_id = none, .exe = none);
}

static void write_resident(struct rvp_log_writer *writer, const struct rvp_tree_entry *root, uint64_t stamp)
{
	int fd = rvp_resident_open((pid_t)root->pid, root->start_ticks);
	struct rvp_resident now;

	if (fd < 0)
		return;
	if (rvp_resident_read(fd, &now))
		RVP_WRITE(writer, WATCH, 0, .stamp = stamp, .pid = root->pid,
			  .start_ticks = root->start_ticks, .rss_anon_bytes = now.anon_bytes,
			  .rss_file_bytes = now.file_bytes, .rss_shmem_bytes = now.shmem_bytes,
			  .swap_bytes = now.swap_bytes, .peak_rss_bytes = now.peak_bytes);
	close(fd);
}

static void write_cgroup(struct rvp_log_writer *writer, pid_t pid, uint64_t stamp)
{
	struct rvp_cgroup cgroup;
	struct rvp_cgroup_memory now;

	rvp_cgroup_find(&cgroup, "", pid);
	if (rvp_cgroup_read(&cgroup, &now))
		rvp_cgroup_write(writer, &cgroup, &now, stamp);
}

static void write_look(struct rvp_log_writer *writer, const struct rvp_tree *tree,
		       const struct rvp_tree_entry *root)
{
	uint64_t monotonic_ns = rvp_clock_ns(CLOCK_MONOTONIC), realtime_ns = rvp_clock_ns(CLOCK_REALTIME);
	uint64_t end_ns = atomic_load(&root->end_realtime_ns),
		 age_ns = realtime_ns > end_ns ? realtime_ns - end_ns : 0;
	uint64_t stamp = monotonic_ns - age_ns - 1000; /* a microsecond before the end: it still lived */

	write_process(writer, tree, stamp);
	write_resident(writer, root, stamp);
	write_cgroup(writer, (pid_t)root->pid, stamp);
	rvp_regions_write(writer, (pid_t)root->pid, NULL, stamp);
	RVP_WRITE(writer, ANCHOR, 0, .stamp = monotonic_ns, .realtime_ns = realtime_ns,
		  .monotonic_ns = monotonic_ns, .boottime_ns = rvp_clock_ns(CLOCK_BOOTTIME));
}

static void look(const char *folder, struct rvp_tree *tree, uint32_t entry_count)
{
	const struct rvp_tree_entry *root = waiting_root(tree, entry_count);
	struct rvp_log_writer writer;
	char path[PATH_MAX];

	if (!root || snprintf(path, sizeof path, "%s/" RVP_WATCH_FILE, folder) >= (int)sizeof path ||
	    access(path, F_OK) == 0)
		return;
	if (rvp_failed(rvp_log_writer_open(&writer, path, (uint64_t)getpid(), rvp_start_ticks(getpid()))))
		return;
	write_look(&writer, tree, root);
	rvp_log_writer_close(&writer);
}

void rvp_last_look(const char *folder)
{
	struct rvp_run_source source = {0};
	char path[PATH_MAX];

	if (snprintf(path, sizeof path, "%s/" RVP_TREE_FILE, folder) >= (int)sizeof path ||
	    rvp_failed(rvp_tree_read(&source, path)))
		return;
	look(folder, source.tree, source.entry_count);
	free(source.tree);
}
