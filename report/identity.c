/* SPDX-License-Identifier: MIT */
/* identity.c: what process is which, from when to when, by whom, and how it ended.
 *
 * The tree's entry knows a process that recorded nothing; its log knows more. Where the two disagree on time,
 * the wider answer stands: no record lies outside its process's life.
 */
#include "report/alive.h"
#include "report/run_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t begin_of(const struct rvp_process *process)
{
	const struct rvp_process_source *source = process->source;
	uint64_t begin = RVP_NEVER;

	if (source->has_entry && source->entry.begin_realtime_ns)
		begin = source->entry.begin_realtime_ns;
	if (source->has_stamps && source->first_ns < begin)
		begin = source->first_ns;
	if (begin == RVP_NEVER)
		begin = source->log.file.begin_realtime_ns;
	return begin;
}

static void set_ending(struct rvp_run *run, struct rvp_process *process, bool this_boot)
{
	const struct rvp_process_source *source = process->source;
	uint32_t state = source->has_entry ? atomic_load(&source->entry.state) : RVP_ENTRY_RUNNING;

	process->end_ns = source->has_stamps ? source->last_ns : process->begin_ns;
	if (state == RVP_ENTRY_EXITED || state == RVP_ENTRY_REPLACED) {
		uint64_t said = atomic_load(&source->entry.end_realtime_ns);

		process->end = state == RVP_ENTRY_EXITED ? RVP_END_EXITED : RVP_END_REPLACED;
		process->exit_how = source->entry.exit_how;
		process->exit_status = source->entry.exit_status;
		if (said > process->end_ns)
			process->end_ns = said;
	} else if (this_boot && rvp_is_alive(process->pid, process->start_ticks, process->pidns_inode)) {
		process->end = RVP_END_ALIVE;
		run->alive_count++;
		if (run->source->read_ns > process->end_ns)
			process->end_ns = run->source->read_ns;
	} else {
		process->end = RVP_END_KILLED;
	}
	if (process->end_ns < process->begin_ns)
		process->end_ns = process->begin_ns;
}

/* The watcher saw when the root went, and how. */
static void take_child_end(struct rvp_run *run)
{
	struct rvp_process *root = run->root == RVP_NO_PROCESS ? NULL : &run->processes[run->root];
	size_t hint = 0;

	if (!root || !run->has_child_end)
		return;
	for (size_t i = 0; i < run->process_count; i++) {
		struct rvp_process *last = &run->processes[i];

		if (last->pid != root->pid || last->start_ticks != root->start_ticks ||
		    last->end != RVP_END_KILLED)
			continue;
		uint64_t seen = rvp_clock_unix_ns(&run->source->clock, run->source->watch_clock,
						  run->source->child_end_stamp, &hint);
		if (seen > last->end_ns)
			last->end_ns = seen;
		last->exit_how = (uint32_t)run->child_how;
		last->exit_status = (uint32_t)run->child_status;
	}
}

struct by_pid {
	uint32_t pid, number;
	uint64_t begin_ns;
};

static int compare_pids(const void *left, const void *right)
{
	const struct by_pid *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* The last process that had this pid and had begun at `ns`. */
static uint32_t find_pid(const struct by_pid *table, size_t count, uint32_t pid, uint64_t ns)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_pids(&table[middle], &(struct by_pid){pid, UINT32_MAX, ns}) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low && table[low - 1].pid == pid ? table[low - 1].number : RVP_NO_PROCESS;
}

static struct rvp_status link_parents(struct rvp_run *run)
{
	struct by_pid *table = calloc(run->process_count + 1, sizeof *table);

	if (!table)
		return rvp_fail("read", run->folder, ENOMEM);
	for (size_t i = 0; i < run->process_count; i++)
		table[i] = (struct by_pid){run->processes[i].pid, (uint32_t)i, run->processes[i].begin_ns};
	qsort(table, run->process_count, sizeof *table, compare_pids);
	for (size_t i = 0; i < run->process_count; i++) {
		struct rvp_process *process = &run->processes[i];

		process->parent = find_pid(table, run->process_count, process->parent_pid, process->begin_ns);
		if (process->parent == i)
			process->parent = RVP_NO_PROCESS;
	}
	free(table);
	return RVP_OK;
}

static void find_root(struct rvp_run *run)
{
	const struct rvp_tree *tree = run->source->tree;
	uint32_t pid = tree ? atomic_load(&tree->root_pid) : 0;

	run->root = RVP_NO_PROCESS;
	for (size_t i = 0; i < run->process_count; i++) {
		const struct rvp_process *process = &run->processes[i];
		bool is_earlier =
		    run->root == RVP_NO_PROCESS || process->begin_ns < run->processes[run->root].begin_ns;

		if ((!pid || process->pid == pid) && is_earlier)
			run->root = (uint32_t)i;
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void name_process(struct rvp_process *process)
{
	const struct rvp_process_source *source = process->source;

	if (process->exe[0])
		process->name = base_name(process->exe);
	else if (source->has_entry && source->entry.exe[0])
		process->name = source->entry.exe;
	else
		process->name = process->argument_count ? base_name(process->arguments[0]) : "";
}

static void span_run(struct rvp_run *run)
{
	run->begin_ns = RVP_NEVER;
	for (size_t i = 0; i < run->process_count; i++) {
		const struct rvp_process *process = &run->processes[i];

		if (process->begin_ns < run->begin_ns)
			run->begin_ns = process->begin_ns;
		if (process->end_ns > run->end_ns)
			run->end_ns = process->end_ns;
	}
	if (run->begin_ns == RVP_NEVER)
		run->begin_ns = run->end_ns =
		    run->source->tree ? run->source->tree->file.begin_realtime_ns : 0;
}

/* A process was there at least as long as somebody saw it: the clocks of a log and of its watcher may be
 * apart by what the machine's time was steered meanwhile. */
static void take_root_sight(struct rvp_run *run)
{
	struct rvp_process *root = run->root == RVP_NO_PROCESS ? NULL : &run->processes[run->root];
	size_t hint = 0;
	uint64_t seen;

	if (!root || !run->source->has_root_sight || run->has_child_end)
		return;
	seen = rvp_clock_unix_ns(&run->source->clock, run->source->watch_clock, run->source->root_seen_stamp,
				 &hint);
	for (size_t i = 0; i < run->process_count; i++) {
		struct rvp_process *image = &run->processes[i];

		if (image->pid == root->pid && image->start_ticks == root->start_ticks &&
		    image->end != RVP_END_REPLACED && image->end_ns <= seen)
			image->end_ns = seen + 1;
	}
}

struct rvp_status rvp_identify(struct rvp_run *run)
{
	bool this_boot = rvp_is_this_boot(run->boot_id);
	struct rvp_status status;

	for (size_t i = 0; i < run->process_count; i++) {
		run->processes[i].begin_ns = begin_of(&run->processes[i]);
		set_ending(run, &run->processes[i], this_boot);
		name_process(&run->processes[i]);
	}
	find_root(run);
	if (!run->source->tree && run->root != RVP_NO_PROCESS)
		run->mode = run->processes[run->root].mode;
	take_child_end(run);
	take_root_sight(run);
	status = link_parents(run);
	span_run(run);
	return status;
}
