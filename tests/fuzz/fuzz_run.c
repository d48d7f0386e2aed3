/* SPDX-License-Identifier: MIT */
/* fuzz_run.c: any bytes as a run folder with one process (folder_input.h), through the reader, every kind of
 * evidence, all analyses that walk events, and all that is written from them.
 *
 *   (F6) Opening gives a run or a failure with a sentence; walking an opened run ends, and closes without a
 * leak.
 *
 *   (F8) At the end every byte has one purpose: the sites sum up to what is live, whatever was claimed.
 */
#include "record/names.h"
#include "report/attribution.h"
#include "report/kernels_trace.h"
#include "report/kernels_verdict.h"
#include "report/latency.h"
#include "report/export_be.h"
#include "report/run.h"
#include "report/run_tables.h"
#include "report/write_csv.h"
#include "report/write_summary.h"
#include "report/write_kernels.h"
#include "report/write_trace.h"
#include "tests/fuzz/folder_input.h"
#include "tests/fuzz/target.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The process whose folder the seeds' table names: pid 77, folder 1. */
#define PROC_FOLDER "proc.77.0"

static char folder[] = "/tmp/rvprof-fuzz-run.XXXXXX";

static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s", folder);
	if (system(command) != 0)
		perror(command);
}

static void make_folder(void)
{
	char path[128];

	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof path, "%s/" PROC_FOLDER, folder);
	if (mkdir(path, 0700) != 0)
		abort();
	atexit(remove_folder);
}

static void put(const char *name, const struct folder_piece *piece, int absent)
{
	char path[256];
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	unlink(path);
	if (absent)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, piece->bytes, piece->length) != (ssize_t)piece->length)
		abort();
	close(fd);
}

static void walk(struct rvp_run *run)
{
	for (size_t i = 0; i < run->process_count; i++) {
		const struct rvp_process *process = &run->processes[i];

		for (uint64_t node = 0; node < process->node_count + 2; node++)
			for (const struct rvp_node *at = rvp_node_at(process, node); at;
			     at = rvp_node_at(process, at->parent))
				rvp_module_at(process, at->pc, process->begin_ns);
	}
}

static void check_sums(const struct rvp_analysis *answer)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < answer->site_count; i++)
		bytes += answer->sites[i].at_end.bytes;
	if (bytes != answer->tracked_end_bytes)
		abort();
}

/* (KN2), (KN3) of kernels.h. */
static void check_devices(const struct rvp_kernels *kernels)
{
	uint64_t work = kernels->kernels.ns + kernels->copies.ns + kernels->sets.ns + kernels->graph_runs.ns;
	uint64_t streams = 0, classes = 0;

	for (size_t i = 0; i < kernels->stream_count; i++)
		streams += kernels->streams[i].kernels.ns + kernels->streams[i].copies.ns;
	for (int i = 0; i < RVP_KERNEL_CLASS_COUNT; i++)
		classes += kernels->by_class[i].ns;
	if (streams != work || classes != work)
		abort();
	for (size_t i = 0; i < kernels->device_count; i++) {
		const struct rvp_kernel_device *device = &kernels->devices[i];

		if (device->all.ns + rvp_kernel_device_idle_ns(device) != device->last_ns - device->first_ns)
			abort();
	}
}

static void write_devices(struct rvp_run *run, struct rvp_attribution *attribution, struct rvp_trace *trace,
			  struct rvp_kernels *kernels, FILE *out)
{
	struct rvp_kernel_trace device_trace;
	struct rvp_kernel_csv csv;
	struct rvp_kernel_sink *sinks[] = {&csv.sink, &device_trace.sink, NULL};

	rvp_kernel_csv_open(&csv, run, out, RVP_KERNEL_CSV_MAX_BYTES);
	if (!rvp_kernel_trace_open(&device_trace, trace, kernels, RVP_NO_PROCESS, false) ||
	    rvp_failed(rvp_kernels_read(
		kernels, run,
		&(struct rvp_kernel_question){.steps = rvp_attribution_steps(attribution), .sinks = sinks})))
		abort();
	check_devices(kernels);
	rvp_kernel_trace_close(&device_trace);
}

/* Tables and begins and ends; a run without devices has no kernels. */
static void write_tables(struct rvp_run *run, FILE *out)
{
	for (int table = 0; table < RVP_RUN_TABLES; table++)
		if (rvp_failed(rvp_run_table_print(run, (enum rvp_run_table)table, table % 2, out)) &&
		    table > RVP_TABLE_KERNELS_TRACE)
			abort();
	if (rvp_failed(rvp_export_be(run, 2, out)))
		abort();
}

/* As rvp_finalize, into no file. */
static void write_all(struct rvp_run *run, struct rvp_attribution *attribution, FILE *out)
{
	struct rvp_csv csv;
	struct rvp_ledger ledger;
	struct rvp_trace trace;
	struct rvp_observer *observers[] = {&csv.observer, &ledger.observer, &trace.observer, NULL};
	struct rvp_analysis answer;
	struct rvp_step_ends ends;
	struct rvp_verdicts verdicts;
	struct rvp_device_answers devices;
	struct rvp_kernels kernels;

	rvp_csv_open(&csv, out, out);
	if (!rvp_step_ends_spread(&ends, run, rvp_attribution_steps(attribution), 16) ||
	    !rvp_ledger_open(&ledger, run) || !rvp_trace_open(&trace, run, out, 1 << 20))
		abort();
	rvp_trace_put_steps(&trace, rvp_attribution_steps(attribution));
	write_devices(run, attribution, &trace, &kernels, out);
	rvp_latency_write(out, run, rvp_attribution_steps(attribution), &kernels);
	if (rvp_failed(rvp_device_answers_make(&devices, run, attribution, 0, ends.moments_ns, ends.count, true)))
		abort();
	csv.devices = &devices;
	if (rvp_failed(rvp_analyse(run,
				   &(struct rvp_question){.series_rows = 20,
							  .observers = observers,
							  .attribution = attribution,
							  .moments_ns = ends.moments_ns,
							  .moment_count = ends.count},
				   &answer)))
		abort();
	rvp_trace_close(&trace);
	rvp_verdicts_make(&verdicts, run, &answer, attribution, &ends, &ledger);
	rvp_verdicts_add_devices(&verdicts, run, &devices, attribution, &ends);
	rvp_verdicts_add_kernels(&verdicts, &kernels);
	rvp_summary_write(out, run, &answer, &ledger, attribution, &verdicts, &devices, &kernels, NULL, NULL, NULL);
	rvp_kernels_free(&kernels);
	check_sums(&answer);
	for (size_t i = 0; i < devices.count; i++)
		check_sums(&devices.items[i].analysis);
	rvp_device_answers_free(&devices);
	rvp_analysis_free(&answer);
	rvp_step_ends_free(&ends);
	rvp_ledger_close(&ledger);
}

static void attribute(struct rvp_run *run)
{
	struct rvp_attribution *attribution;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out || rvp_failed(rvp_attribute(run, NULL, &attribution)))
		abort();
	write_all(run, attribution, out);
	write_tables(run, out);
	rvp_attribution_close(attribution);
	fclose(out);
	free(text);
}

static void open_and_walk(void)
{
	struct rvp_run *run = NULL;
	struct rvp_analysis answer;
	struct rvp_status status = rvp_run_open(&run, folder);

	if (rvp_failed(status)) {
		if (!status.error && !status.detail[0])
			abort();
		return;
	}
	walk(run);
	if (!rvp_failed(rvp_analyse(run, &(struct rvp_question){.series_rows = 20}, &answer)))
		rvp_analysis_free(&answer);
	attribute(run);
	rvp_run_close(run);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static int made;
	struct folder_input input;

	if (!made)
		make_folder();
	made = 1;
	if (!folder_input_read(&input, bytes, length))
		return 0;
	put(RVP_TREE_FILE, &input.tree, input.flags & FOLDER_NO_TREE);
	put(PROC_FOLDER "/" RVP_LOG_FILE, &input.log, input.flags & FOLDER_NO_LOG);
	put(PROC_FOLDER "/" RVP_BUFFER_FILE, &input.buffers, input.flags & FOLDER_NO_BUFFERS);
	open_and_walk();
	folder_input_free(&input);
	return 0;
}
