/* SPDX-License-Identifier: MIT */
/* run.c: opens a run folder: the table of processes first, then each process's log, then the watcher's.
 *
 * Invariants
 *   (O1) run->processes does not move once a source points into it.
 *   (O2) A process is in run->processes once: by its entry in the tree, or by its folder where no entry names
 * it.
 */
#include "record/clock_ns.h"
#include "report/alive.h"
#include "report/kernels_defs.h"
#include "report/run_source.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct folder_list {
	char (*names)[64];
	size_t count, room;
	bool holds_anything;
};

static bool is_proc_name(const char *name)
{
	unsigned pid, number;
	char rest;

	return strlen(name) < 64 && sscanf(name, "proc.%u.%u%c", &pid, &number, &rest) == 2;
}

static struct rvp_status add_folder(struct folder_list *list, const char *name)
{
	if (list->count == list->room) {
		size_t room = list->room ? list->room * 2 : 16;
		char(*more)[64] = realloc(list->names, room * sizeof *more);

		if (!more)
			return rvp_fail("list", name, ENOMEM);
		list->names = more;
		list->room = room;
	}
	snprintf(list->names[list->count++], sizeof *list->names, "%.63s", name);
	return RVP_OK;
}

static int compare_names(const void *left, const void *right)
{
	return strcmp(left, right);
}

static struct rvp_status list_folder(struct folder_list *list, const char *folder)
{
	DIR *directory = opendir(folder);
	struct rvp_status status = RVP_OK;

	if (!directory && errno == ENOTDIR)
		return rvp_fail_with("read", folder,
				     "it is a file: name the run folder, rvprof.<program>.<pid>");
	if (!directory)
		return rvp_fail("open", folder, errno);
	for (struct dirent *entry; !rvp_failed(status) && (entry = readdir(directory));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		list->holds_anything = true;
		if (is_proc_name(entry->d_name))
			status = add_folder(list, entry->d_name);
	}
	closedir(directory);
	if (list->count)
		qsort(list->names, list->count, sizeof *list->names, compare_names);
	return status;
}

static bool is_listed(const struct folder_list *list, const char *name)
{
	return list->count && bsearch(name, list->names, list->count, sizeof *list->names, compare_names);
}

static struct rvp_process *add_process(struct rvp_run *run)
{
	struct rvp_process *process = &run->processes[run->process_count];

	process->source = rvp_arena_get(&run->source->arena, sizeof *process->source);
	if (!process->source)
		return NULL;
	process->number = (uint32_t)run->process_count++;
	process->name = process->exe = process->rank = process->boot_id = "";
	process->host = process->kernel = process->cpu = "";
	process->counters_are_whole = true;
	process->parent = RVP_NO_PROCESS;
	return process;
}

static void flaw(char *line, size_t line_bytes, const struct rvp_status *status)
{
	if (!line[0])
		rvp_status_line(status, line, (unsigned)line_bytes);
}

static void open_log(struct rvp_run *run, struct rvp_process *process, const char *name)
{
	char path[4096];
	struct rvp_process_source *source = process->source;

	snprintf(path, sizeof path, "%s/%s", run->folder, name);
	process->folder = rvp_arena_text(&run->source->arena, name, strlen(name));

	struct rvp_status status = rvp_log_open_folder(&source->log, path);

	if (rvp_failed(status)) {
		snprintf(path, sizeof path, "%s/%s/" RVP_LOG_FILE, run->folder, name);
		flaw(process->flaw, sizeof process->flaw, &status);
		process->counters_are_whole = false;
		if (rvp_failed(rvp_log_open(&source->log, path, NULL)))
			return;
	}
	source->has_log = true;
	if (source->log.damaged_pieces && !process->flaw[0])
		snprintf(process->flaw, sizeof process->flaw,
			 "%s/" RVP_PACKED_FILE ": %llu of its pieces are damaged, the rest is read", name,
			 (unsigned long long)source->log.damaged_pieces);
	if (source->log.folds_damaged && !process->flaw[0])
		snprintf(process->flaw, sizeof process->flaw, "%s/" RVP_FOLD_FILE " is damaged", name);
	rvp_counters_sum(&process->counters, &source->log.counters);
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		process->loss[i] += source->log.loss[i];
	process->loss[RVP_LOSS_TORN_CHUNK] += source->log.torn_chunks;
	process->loss[RVP_LOSS_HOLE] += source->log.missing_chunks;
	process->own_bytes = source->log.own_bytes;
	process->log_bytes = source->log.log_bytes + source->log.buffers_bytes;
}

static void take_entry(struct rvp_process *process, const struct rvp_tree_entry *entry)
{
	process->source->has_entry = true;
	process->source->entry = *entry;
	process->pid = entry->pid;
	process->start_ticks = entry->start_ticks;
	process->pidns_inode = entry->pidns_inode;
	process->parent_pid = entry->parent_pid;
	process->mode = entry->mode == RVP_MODE_FULL ? RVP_MODE_FULL : RVP_MODE_SAMPLED;
	if (process->mode == RVP_MODE_SAMPLED) { /* until its own record says so */
		process->sample_bytes = RVP_SAMPLE_BYTES;
		process->threshold_bytes = RVP_THRESHOLD_BYTES;
	}
	process->is_fork = entry->is_fork != 0;
	process->first_rss_bytes = entry->first_rss_bytes;
	process->last_rss_bytes = entry->last_rss_bytes;
	process->peak_rss_bytes = atomic_load(&entry->peak_rss_bytes);
	process->was_held = atomic_load(&entry->was_held);
	process->steps_seen = atomic_load(&entry->steps_seen);
	rvp_counters_sum(&process->counters, &entry->counters);
	rvp_counters_sum(&process->counters, &entry->spill);
}

static bool add_entry(struct rvp_run *run, struct folder_list *list, uint32_t number)
{
	const struct rvp_tree_entry *entry = rvp_tree_entry_at(run->source->tree, number);
	uint32_t folder = atomic_load(&entry->folder);
	char name[64];

	if (atomic_load(&entry->state) < RVP_ENTRY_RUNNING)
		return true;
	struct rvp_process *process = add_process(run);

	if (!process)
		return false;
	take_entry(process, entry);
	snprintf(name, sizeof name, RVP_PROC_FORMAT, entry->pid, folder - 1);
	if (folder && is_listed(list, name)) {
		open_log(run, process, name);
	} else if (folder) {
		process->counters_are_whole = false;
		snprintf(process->flaw, sizeof process->flaw, "its folder %s is missing", name);
	}
	return true;
}

/* The process that began to make this folder and could not finish (no room, a limit): it has an entry without
 * one. The log may be there, or not even that. */
static struct rvp_process *maker_of(struct rvp_run *run, const struct rvp_process *unnamed,
				    size_t entry_processes)
{
	const struct rvp_file_header *file = &unnamed->source->log.file;

	for (size_t i = 0; i < entry_processes; i++) {
		struct rvp_process *process = &run->processes[i];
		const struct rvp_tree_entry *entry = &process->source->entry;

		if (!atomic_load(&entry->folder) && process->pid == unnamed->pid &&
		    (!unnamed->source->has_log || (entry->start_ticks == file->start_ticks &&
						   entry->begin_realtime_ns == file->begin_realtime_ns)))
			return process;
	}
	return NULL;
}

/* Its empty folder is no process of its own. */
static bool is_given_up(struct rvp_run *run, struct rvp_process *unnamed, size_t entry_processes)
{
	struct rvp_process *maker = maker_of(run, unnamed, entry_processes);

	if (!maker || unnamed->source->log.chunk_count)
		return false;
	maker->log_bytes += unnamed->log_bytes;
	if (unnamed->source->has_log)
		rvp_log_close(&unnamed->source->log);
	*unnamed = (struct rvp_process){0};
	run->process_count--;
	return true;
}

/* Folders that no entry names: the tree is damaged, or the process was killed between the two. */
static bool add_unnamed(struct rvp_run *run, const char *name, size_t entry_processes)
{
	for (size_t i = 0; i < entry_processes; i++)
		if (run->processes[i].folder && strcmp(run->processes[i].folder, name) == 0)
			return true;
	struct rvp_process *process = add_process(run);
	unsigned pid, number;

	if (!process)
		return false;
	open_log(run, process, name);
	if (sscanf(name, RVP_PROC_FORMAT, &pid, &number) == 2)
		process->pid = pid;
	if (is_given_up(run, process, entry_processes))
		return true;
	process->start_ticks = process->source->log.file.start_ticks;
	if (!run->source->tree)
		process->counters_are_whole = false;
	return true;
}

static struct rvp_status add_processes(struct rvp_run *run, struct folder_list *list)
{
	size_t entries = run->source->entry_count;

	run->processes = calloc(entries + list->count + 1, sizeof *run->processes);
	if (!run->processes)
		return rvp_fail("read", run->folder, ENOMEM);
	for (uint32_t i = 0; i < entries; i++)
		if (!add_entry(run, list, i))
			return rvp_fail("read", run->folder, ENOMEM);
	entries = run->process_count;
	for (size_t i = 0; i < list->count; i++)
		if (!add_unnamed(run, list->names[i], entries))
			return rvp_fail("read", run->folder, ENOMEM);
	return RVP_OK;
}

static struct rvp_status open_tree(struct rvp_run *run, struct folder_list *list)
{
	char path[4096];
	struct rvp_status status;

	snprintf(path, sizeof path, "%s/" RVP_TREE_FILE, run->folder);
	status = rvp_tree_read(run->source, path);
	if (!rvp_failed(status))
		return status;
	if (status.error == ENOENT && !list->holds_anything)
		return rvp_fail_with("read", run->folder, "it is empty: nothing was recorded there");
	if (status.error == ENOENT && !list->count)
		return rvp_fail_with("read", run->folder,
				     "it is no run folder of rvprof's (no " RVP_TREE_FILE " in it)");
	if (!list->count || run->source->is_other_version)
		return status;
	flaw(run->flaw, sizeof run->flaw, &status);
	return RVP_OK;
}

static void split_command(struct rvp_run *run)
{
	const struct rvp_tree *tree = run->source->tree;
	uint32_t bytes = tree->command_bytes;
	char **words = rvp_arena_get(&run->source->arena, (bytes + 2) * sizeof *words);

	for (uint32_t at = 0; words && at < bytes; at += (uint32_t)strlen(tree->command + at) + 1)
		words[run->command_count++] = (char *)tree->command + at;
	run->command = words;
}

static void take_tree(struct rvp_run *run)
{
	const struct rvp_tree *tree = run->source->tree;

	if (!tree)
		return;
	memcpy(run->id, tree->run_id, sizeof run->id);
	memcpy(run->boot_id, tree->boot_id, sizeof run->boot_id);
	run->name = tree->exe;
	run->command_is_cut = tree->command_is_cut != 0;
	run->mode = tree->mode == RVP_MODE_FULL ? RVP_MODE_FULL : RVP_MODE_SAMPLED;
	run->is_folded = atomic_load(&tree->folded) != 0;
	run->made_by_run = tree->maker == RVP_MADE_BY_RUN;
	run->unfollowed = atomic_load(&tree->unfollowed);
	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		run->loss[i] = atomic_load(&tree->loss[i]);
	split_command(run);
}

static struct rvp_status open_watch(struct rvp_run *run)
{
	char path[4096];
	struct rvp_status status;

	snprintf(path, sizeof path, "%s/" RVP_WATCH_FILE, run->folder);
	if (access(path, F_OK) != 0)
		return RVP_OK;
	status = rvp_log_open(&run->source->watch, path, NULL);
	if (rvp_failed(status)) {
		flaw(run->flaw, sizeof run->flaw, &status);
		return RVP_OK;
	}
	run->source->has_watch = true;
	run->loss[RVP_LOSS_TORN_CHUNK] += run->source->watch.torn_chunks;
	run->loss[RVP_LOSS_HOLE] += run->source->watch.missing_chunks;
	return rvp_scan_watch(run);
}

static uint64_t whole_losses(const uint64_t *loss)
{
	uint64_t sum = 0;

	for (int i = 0; i < RVP_LOSS_COUNT; i++)
		sum += rvp_loss_is_whole[i] ? loss[i] : 0;
	return sum;
}

/* Records that were committed and are not there, or that the process itself had to drop: whichever is more,
 * since a record that was committed and could not be flushed is in both. */
static void count_lost(struct rvp_process *process)
{
	uint64_t told = whole_losses(process->loss), committed = process->counters.record_count;
	uint64_t missing = committed > process->decoded_records ? committed - process->decoded_records : 0;

	process->lost_records = told > missing ? told : missing;
}

static bool clock_is_used(const struct rvp_run *run, int kind)
{
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].source->has_stamps && run->processes[i].clock == (uint32_t)kind)
			return true;
	return false;
}

static struct rvp_status scan_processes(struct rvp_run *run)
{
	struct rvp_status status = RVP_OK;

	for (size_t i = 0; !rvp_failed(status) && i < run->process_count; i++)
		if (run->processes[i].source->has_log)
			status = rvp_scan_process(run, &run->processes[i]);
	rvp_clock_finish(&run->source->clock, rvp_is_this_boot(run->boot_id) && run->boot_id[0]);
	for (size_t i = 0; !rvp_failed(status) && i < run->process_count; i++) {
		if (run->processes[i].source->has_log)
			status = rvp_scan_settle(run, &run->processes[i]);
		count_lost(&run->processes[i]);
	}
	run->lost_records = whole_losses(run->loss);
	for (int kind = 0; kind <= RVP_CLOCK_MONOTONIC; kind++)
		run->clock_is_guessed |=
		    clock_is_used(run, kind) && run->source->clock.lines[kind].is_guessed;
	return status;
}

static struct rvp_status open_all(struct rvp_run *run, const char *folder)
{
	struct folder_list list = {0};
	struct rvp_status status = list_folder(&list, folder);

	if (!rvp_failed(status))
		status = open_tree(run, &list);
	take_tree(run);
	if (!rvp_failed(status))
		status = add_processes(run, &list);
	if (!rvp_failed(status))
		status = open_watch(run);
	if (!rvp_failed(status))
		status = scan_processes(run);
	if (!rvp_failed(status))
		status = rvp_identify(run);
	rvp_devices_settle(run);
	free(list.names);
	return status;
}

struct rvp_status rvp_run_open(struct rvp_run **opened, const char *folder)
{
	struct rvp_run *run = calloc(1, sizeof *run);

	*opened = NULL;
	if (run)
		run->source = calloc(1, sizeof *run->source);
	if (!run || !run->source) {
		free(run);
		return rvp_fail("open", folder, ENOMEM);
	}
	run->source->read_ns = rvp_clock_ns(CLOCK_REALTIME);
	run->folder = rvp_arena_text(&run->source->arena, folder, strlen(folder));
	run->name = "";

	struct rvp_status status = open_all(run, folder);

	if (rvp_failed(status))
		rvp_run_close(run);
	else
		*opened = run;
	return status;
}

void rvp_run_close(struct rvp_run *run)
{
	if (!run)
		return;
	for (size_t i = 0; i < run->process_count; i++) {
		struct rvp_process *process = &run->processes[i];

		rvp_log_close(&process->source->log);
		free(process->source->forks);
		rvp_kernel_defs_free(process->source->kernel_defs);
		free(process->source->node_numbers);
		free(process->source->python_numbers);
		free(process->modules);
		free(process->files);
		free(process->nodes);
		free(process->python_nodes);
		free(process->codes);
		free(process->threads);
		free(process->write_windows);
		free(process->windows);
		free(process->devices.met);
		free(process->arguments);
		free(process->environment);
	}
	free(run->origin.facts);
	rvp_log_close(&run->source->watch);
	rvp_clock_free(&run->source->clock);
	rvp_arena_free(&run->source->arena);
	free(run->source->tree);
	free(run->source);
	free(run->processes);
	free(run);
}
