/* SPDX-License-Identifier: MIT */
/* finalize.c: see finalize.h; how the files come to stand in the folder is in output_files.h.
 *
 * Invariant
 *   (F1) While the lock is held nobody else writes here; it is let go by the kernel if we die.
 */
#include "report/finalize.h"

#include "record/names.h"
#include "report/analysis.h"
#include "report/attribution.h"
#include "report/blas_work.h"
#include "report/kernels_trace.h"
#include "report/kernels_verdict.h"
#include "report/latency.h"
#include "report/ledger.h"
#include "report/output_files.h"
#include "report/write_csv.h"
#include "report/write_kernels.h"
#include "report/write_power.h"
#include "report/write_summary.h"
#include "report/write_trace.h"
#include "report/windows.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GROWTH_POINTS = 32 }; /* ends of steps at which growth is measured */
static const uint64_t trace_max_bytes = 100000000;

/* What is open while the outputs of a run are written. All zero: nothing is. */
struct writing {
	struct rvp_outputs *outputs;
	struct rvp_run *run;
	const struct rvp_attribution_settings *settings;
	struct rvp_attribution *attribution;
	const struct rvp_steps *steps;
	struct rvp_csv csv;
	struct rvp_ledger ledger;
	struct rvp_trace trace;
	struct rvp_blas_work work;
	struct rvp_analysis answer;
	struct rvp_step_ends ends;
	struct rvp_device_answers devices;
	struct rvp_kernels kernels;
	struct rvp_kernel_trace device_trace;
	struct rvp_power_answer power;
};

static FILE *stream_of(const struct writing *writing, enum rvp_output output)
{
	return writing->outputs->files[output].stream;
}

static struct rvp_status begin(struct writing *writing)
{
	struct rvp_status status = rvp_attribute(writing->run, writing->settings, &writing->attribution);

	if (rvp_failed(status))
		return status;
	writing->steps = rvp_attribution_steps(writing->attribution);
	rvp_origin_write(stream_of(writing, RVP_OUTPUT_RUN), writing->run);
	rvp_csv_open(&writing->csv, stream_of(writing, RVP_OUTPUT_MEMORY),
		     stream_of(writing, RVP_OUTPUT_CATEGORIES));
	if (!rvp_ledger_open(&writing->ledger, writing->run) ||
	    !rvp_blas_work_open(&writing->work, writing->run, writing->steps) ||
	    !rvp_step_ends_spread(&writing->ends, writing->run, writing->steps, GROWTH_POINTS) ||
	    !rvp_trace_open(&writing->trace, writing->run, stream_of(writing, RVP_OUTPUT_TRACE),
			    trace_max_bytes))
		return rvp_fail("write", rvp_output_names[RVP_OUTPUT_TRACE], ENOMEM);
	rvp_trace_put_steps(&writing->trace, writing->steps);
	rvp_windows_trace(&writing->trace);
	return RVP_OK;
}

/* Kernels, copies and the like, with their steps: kernels.csv, and their rows in the trace. */
static struct rvp_status write_kernels(struct writing *writing)
{
	struct rvp_kernel_csv csv;
	struct rvp_kernel_sink *sinks[] = {&csv.sink, &writing->device_trace.sink, NULL};
	struct rvp_kernel_question question = {.steps = writing->steps,
					       .rule_files =
						   writing->settings ? writing->settings->rule_files : NULL,
					       .sinks = sinks};
	struct rvp_status status;

	if (!stream_of(writing, RVP_OUTPUT_KERNELS))
		return RVP_OK;
	rvp_kernel_csv_open(&csv, writing->run, stream_of(writing, RVP_OUTPUT_KERNELS),
			    RVP_KERNEL_CSV_MAX_BYTES);
	if (!rvp_kernel_trace_open(&writing->device_trace, &writing->trace, &writing->kernels, RVP_NO_PROCESS,
				   false))
		return rvp_fail("write", rvp_output_names[RVP_OUTPUT_TRACE], ENOMEM);
	writing->trace.devices = &writing->device_trace;
	status = rvp_kernels_read(&writing->kernels, writing->run, &question);
	writing->kernels.csv_rows = csv.rows;
	writing->kernels.csv_cut_rows = csv.cut_rows;
	return status;
}

static struct rvp_status write_devices(struct writing *writing)
{
	struct rvp_status status = write_kernels(writing);

	rvp_latency_write(stream_of(writing, RVP_OUTPUT_LATENCY), writing->run, writing->steps,
			  &writing->kernels);
	if (!rvp_failed(status))
		status = rvp_device_answers_make(&writing->devices, writing->run, writing->attribution, 0,
						 writing->ends.moments_ns, writing->ends.count, true);
	if (!rvp_failed(status) && !rvp_trace_put_devices(&writing->trace, &writing->devices))
		status = rvp_fail("read", "a device's rows", EIO);
	writing->csv.devices = &writing->devices;
	return status;
}

/* The pass over all events: memory.csv, categories.csv, trace.json, the ledger, the work of products. */
static struct rvp_status write_events(struct writing *writing)
{
	struct rvp_observer *observers[] = {&writing->csv.observer, &writing->ledger.observer,
					    &writing->trace.observer, &writing->work.observer, NULL};

	return rvp_analyse(writing->run,
			   &(struct rvp_question){.observers = observers,
						  .attribution = writing->attribution,
						  .moments_ns = writing->ends.moments_ns,
						  .moment_count = writing->ends.count},
			   &writing->answer);
}

/* power.csv, power.<name>.csv, and the trace's counters, behind all else that is in it. */
static void write_power(struct writing *writing)
{
	struct rvp_power_writer writer;
	FILE *sources[RVP_POWER_SOURCES_MAX];
	const struct rvp_run *run = writing->run;

	for (unsigned i = 0; i < RVP_POWER_SOURCES_MAX; i++)
		sources[i] = stream_of(writing, RVP_OUTPUT_POWER_SOURCES + i);
	if (run->power)
		rvp_power_writer_open(&writer, run->power, stream_of(writing, RVP_OUTPUT_POWER), sources,
				      &writing->trace);
	rvp_power_read(&writing->power, run, writing->steps, run->power ? &writer.sink : NULL);
}

/* The sentences, and summary.json that has them. */
static struct rvp_status sum_up(struct writing *writing)
{
	struct rvp_verdicts verdicts;
	struct rvp_status status = rvp_outputs_settle(writing->outputs);
	bool again = !rvp_failed(status);

	rvp_verdicts_make(&verdicts, writing->run, &writing->answer, writing->attribution, &writing->ends,
			  &writing->ledger);
	rvp_verdicts_add_devices(&verdicts, writing->run, &writing->devices, writing->attribution,
				 &writing->ends);
	rvp_verdicts_add_kernels(&verdicts, &writing->kernels);
	while (again) {
		rvp_summary_write(stream_of(writing, RVP_OUTPUT_SUMMARY), writing->run, &writing->answer,
				  &writing->ledger, writing->attribution, &verdicts, &writing->devices,
				  &writing->kernels, &writing->work, &writing->power, writing->outputs);
		status = rvp_outputs_settle_last(writing->outputs, &again);
	}
	return status;
}

static void end(struct writing *writing)
{
	rvp_device_answers_free(&writing->devices);
	rvp_kernels_free(&writing->kernels);
	rvp_blas_work_close(&writing->work);
	rvp_ledger_close(&writing->ledger);
	rvp_step_ends_free(&writing->ends);
	if (writing->attribution)
		rvp_attribution_close(writing->attribution);
}

static struct rvp_status write_outputs(struct writing *writing)
{
	struct rvp_status status = begin(writing);

	if (rvp_failed(status))
		return status;
	status = write_devices(writing);
	if (!rvp_failed(status))
		status = write_events(writing);
	write_power(writing);
	rvp_trace_close(&writing->trace);
	rvp_kernel_trace_close(&writing->device_trace);
	if (rvp_failed(status))
		return status;
	status = sum_up(writing);
	rvp_analysis_free(&writing->answer);
	return status;
}

static struct rvp_status write_run(struct writing *writing, const char *to)
{
	struct rvp_outputs outputs;
	struct rvp_status status = rvp_outputs_open(&outputs, to, rvp_run_has_devices(writing->run));

	writing->outputs = &outputs;
	if (!rvp_failed(status))
		status = rvp_outputs_open_power(&outputs, writing->run->power);
	if (!rvp_failed(status)) {
		status = write_outputs(writing);
		end(writing);
	}
	if (!rvp_failed(status))
		status = rvp_outputs_rename(&outputs);
	if (!rvp_failed(status))
		status = rvp_outputs_missing(&outputs);
	rvp_outputs_drop(&outputs);
	return status;
}

static struct rvp_status write_all(const char *folder, const char *to,
				   const struct rvp_attribution_settings *settings)
{
	struct writing *writing = calloc(1, sizeof *writing);
	struct rvp_status status =
	    writing ? rvp_run_open(&writing->run, folder) : rvp_fail("write", folder, ENOMEM);

	if (!rvp_failed(status)) {
		writing->settings = settings;
		rvp_origin_make(writing->run, settings ? settings->rule_files : NULL);
		status = write_run(writing, to);
		rvp_run_close(writing->run);
	}
	free(writing);
	return status;
}

/* A folder that is not ours gets no lock file: it must look like one first. */
static bool looks_like_a_run(const char *folder)
{
	char path[4096];
	bool is_run;
	DIR *directory;

	snprintf(path, sizeof path, "%s/" RVP_TREE_FILE, folder);
	if (access(path, F_OK) == 0)
		return true;
	directory = opendir(folder);
	is_run = false;
	for (struct dirent *entry; directory && !is_run && (entry = readdir(directory));)
		is_run = strncmp(entry->d_name, "proc.", 5) == 0;
	if (directory)
		closedir(directory);
	return is_run;
}

static int open_lock(const char *path, const char *folder)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd >= 0)
		rvp_output_to_owner(fd, folder);
	else if (errno == EEXIST)
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd;
}

static struct rvp_status lock(const char *folder, int *fd)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/" RVP_LOCK_FILE, folder);
	*fd = open_lock(path, folder);
	if (*fd < 0)
		return rvp_fail("open", path, errno);
	while (flock(*fd, LOCK_EX) != 0)
		if (errno != EINTR)
			return rvp_fail("lock", path, errno);
	return RVP_OK;
}

static uint64_t changed_ns(const char *folder, const char *name)
{
	char path[4096];
	struct stat file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	if (stat(path, &file) != 0)
		return 0;
	return (uint64_t)file.st_mtim.tv_sec * 1000000000u + (uint64_t)file.st_mtim.tv_nsec;
}

static uint64_t proc_changed_ns(const char *folder, const char *proc)
{
	char path[1024];
	uint64_t log, buffers;

	snprintf(path, sizeof path, "%.500s/" RVP_LOG_FILE, proc);
	log = changed_ns(folder, path);
	snprintf(path, sizeof path, "%.500s/" RVP_BUFFER_FILE, proc);
	buffers = changed_ns(folder, path);
	return log > buffers ? log : buffers;
}

static uint64_t records_changed_ns(const char *folder)
{
	uint64_t last = changed_ns(folder, RVP_TREE_FILE), watch = changed_ns(folder, RVP_WATCH_FILE);
	DIR *directory = opendir(folder);

	if (watch > last)
		last = watch;
	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		uint64_t changed =
		    strncmp(entry->d_name, "proc.", 5) == 0 ? proc_changed_ns(folder, entry->d_name) : 0;

		if (changed > last)
			last = changed;
	}
	if (directory)
		closedir(directory);
	return last;
}

/* Whether summary.json says "complete": true: else some process may have written on, through its mapping,
 * which the file times do not show. */
static bool is_complete(const char *folder)
{
	char path[4096], text[8192];
	size_t length;
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, rvp_output_names[RVP_OUTPUT_SUMMARY]);
	file = fopen(path, "re");
	length = file ? fread(text, 1, sizeof text - 1, file) : 0;
	text[length] = 0;
	if (file)
		fclose(file);
	return strstr(text, "\"complete\": true") != NULL;
}

static bool is_fresh(const char *folder)
{
	uint64_t written = changed_ns(folder, rvp_output_names[RVP_OUTPUT_SUMMARY]);

	for (int i = 0; i < RVP_OUTPUT_COUNT; i++)
		if (rvp_output_names[i] && i != RVP_OUTPUT_POWER && i != RVP_OUTPUT_KERNELS &&
		    !changed_ns(folder, rvp_output_names[i]))
			return false;
	return written > records_changed_ns(folder) && is_complete(folder);
}

static bool is_closed_to_us(const struct rvp_status *status)
{
	return rvp_failed(*status) && (status->error == EROFS || status->error == EACCES);
}

static struct rvp_status finalize(const char *folder, const char *to, bool only_if_stale,
				  const struct rvp_attribution_settings *settings)
{
	struct rvp_status status = RVP_OK;
	int fd = -1;

	if (looks_like_a_run(folder))
		status = lock(folder, &fd);
	if (is_closed_to_us(&status) && (to != folder || (only_if_stale && is_fresh(folder))))
		status = RVP_OK; /* nothing is to be written there */
	if (!rvp_failed(status) && !(only_if_stale && is_fresh(folder)))
		status = write_all(folder, to, settings);
	if (fd >= 0)
		close(fd);
	return status;
}

struct rvp_status rvp_finalize(const char *folder)
{
	return finalize(folder, folder, false, NULL);
}

struct rvp_status rvp_finalize_if_stale(const char *folder)
{
	return finalize(folder, folder, true, NULL);
}

struct rvp_status rvp_finalize_with(const char *folder, const struct rvp_attribution_settings *settings)
{
	return finalize(folder, folder, false, settings);
}

struct rvp_status rvp_finalize_into(const char *folder, const char *to)
{
	if (mkdir(to, 0700) != 0 && errno != EEXIST)
		return rvp_fail("make", to, errno);
	return finalize(folder, to, false, NULL);
}
