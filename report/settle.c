/* SPDX-License-Identifier: MIT */
/* settle.c: what can be put right about a process's definitions only when all records were seen: stamps into
 * times, rows into order, and call paths into trees (paths.c).
 */
#include "report/run_source.h"
#include "report/windows.h"

#include <stdlib.h>

static int compare_modules(const void *left, const void *right)
{
	const struct rvp_module *a = left, *b = right;

	return a->load_ns < b->load_ns ? -1 : a->load_ns > b->load_ns;
}

static int compare_threads(const void *left, const void *right)
{
	const struct rvp_thread *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a->first_ns < b->first_ns ? -1 : a->first_ns > b->first_ns;
}

/* One row a tid: the first time that it was seen, and its last name. */
static void merge_threads(struct rvp_process *process)
{
	struct rvp_thread *threads = process->threads;
	size_t kept = 0;

	if (process->thread_count)
		qsort(threads, process->thread_count, sizeof *threads, compare_threads);
	for (size_t i = 0; i < process->thread_count; i++)
		if (!kept || threads[kept - 1].tid != threads[i].tid)
			threads[kept++] = threads[i];
		else if (threads[i].name[0])
			threads[kept - 1].name = threads[i].name;
	process->thread_count = kept;
}

static void set_times(const struct rvp_run *run, struct rvp_process *process)
{
	struct rvp_process_source *source = process->source;

	source->first_ns = rvp_process_ns(run, process, source->first_stamp);
	source->last_ns = rvp_process_ns(run, process, source->last_stamp);
	for (size_t i = 0; i < process->module_count; i++) {
		struct rvp_module *module = &process->modules[i];

		module->load_ns = rvp_process_ns(run, process, module->load_ns);
		if (module->unload_ns != RVP_NEVER)
			module->unload_ns = rvp_process_ns(run, process, module->unload_ns);
	}
	for (size_t i = 0; i < process->write_window_count; i++) {
		struct rvp_write_span *span = &process->write_windows[i];

		span->begin_ns = rvp_process_ns(run, process, span->begin_ns);
		if (span->has_end)
			span->end_ns = rvp_process_ns(run, process, span->end_ns);
	}
	rvp_windows_settle(run, process);
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].first_ns != RVP_NEVER)
			process->threads[i].first_ns =
			    rvp_process_ns(run, process, process->threads[i].first_ns);
}

static void fill_gaps(struct rvp_process *process)
{
	for (size_t i = 0; i < process->argument_count; i++)
		if (!process->arguments[i])
			process->arguments[i] = (char *)"";
}

struct rvp_status rvp_scan_settle(struct rvp_run *run, struct rvp_process *process)
{
	set_times(run, process);
	fill_gaps(process);
	if (process->module_count)
		qsort(process->modules, process->module_count, sizeof *process->modules, compare_modules);
	merge_threads(process);
	return rvp_scan_paths(process);
}
