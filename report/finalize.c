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

static FILE *stream_of(const struct rvp_outputs *outputs, enum rvp_output output)
{
	return outputs->files[output].stream;
}

/* The sentences, and summary.json that has them. */
static struct rvp_status sum_up(struct rvp_outputs *outputs, struct rvp_run *run, struct rvp_attribution *attribution,
		   const struct rvp_analysis *answer, const struct rvp_step_ends *ends,
		   const struct rvp_ledger *ledger, const struct rvp_device_answers *devices,
		   struct rvp_kernels *kernels, const struct rvp_blas_work *work,
		   const struct rvp_power_answer *power)
{
	struct rvp_verdicts verdicts;
	struct rvp_status status = rvp_outputs_settle(outputs);
	bool again = !rvp_failed(status);

	rvp_verdicts_make(&verdicts, run, answer, attribution, ends, ledger);
	rvp_verdicts_add_devices(&verdicts, run, devices, attribution, ends);
	rvp_verdicts_add_kernels(&verdicts, kernels);
	while (again) {
		rvp_summary_write(stream_of(outputs, RVP_OUTPUT_SUMMARY), run, answer, ledger, attribution, &verdicts,
				  devices, kernels, work, power, outputs);
		status = rvp_outputs_settle_last(outputs, &again);
	}
	return status;
}

/* Kernels, copies and the like, with their steps: kernels.csv, and their rows in the trace. */
static struct rvp_status write_devices(struct rvp_outputs *outputs, struct rvp_run *run,
				       const struct rvp_attribution_settings *settings, const struct rvp_steps *steps,
				       struct rvp_trace *trace, struct rvp_kernel_trace *device_trace,
				       struct rvp_kernels *kernels)
{
	struct rvp_kernel_csv csv;
	struct rvp_kernel_sink *sinks[] = {&csv.sink, &device_trace->sink, NULL};
	struct rvp_status status;

	if (!stream_of(outputs, RVP_OUTPUT_KERNELS))
		return RVP_OK;
	rvp_kernel_csv_open(&csv, run, stream_of(outputs, RVP_OUTPUT_KERNELS), RVP_KERNEL_CSV_MAX_BYTES);
	if (!rvp_kernel_trace_open(device_trace, trace, kernels, RVP_NO_PROCESS, false))
		return rvp_fail("write", rvp_output_names[RVP_OUTPUT_TRACE], ENOMEM);
	trace->devices = device_trace;
	status = rvp_kernels_read(kernels, run,
				  &(struct rvp_kernel_question){.steps = steps,
								.rule_files = settings ? settings->rule_files : NULL,
								.sinks = sinks});
	kernels->csv_rows = csv.rows;
	kernels->csv_cut_rows = csv.cut_rows;
	return status;
}

/* power.csv, power.<name>.csv, and the trace's counters, behind all else that is in it. */
static void write_power(const struct rvp_outputs *outputs, const struct rvp_run *run, const struct rvp_steps *steps,
			struct rvp_trace *trace, struct rvp_power_answer *power)
{
	struct rvp_power_writer writer;
	FILE *sources[RVP_POWER_SOURCES_MAX];

	for (unsigned i = 0; i < RVP_POWER_SOURCES_MAX; i++)
		sources[i] = stream_of(outputs, RVP_OUTPUT_POWER_SOURCES + i);
	if (run->power)
		rvp_power_writer_open(&writer, run->power, stream_of(outputs, RVP_OUTPUT_POWER), sources, trace);
	rvp_power_read(power, run, steps, run->power ? &writer.sink : NULL);
}

static struct rvp_status write_outputs(struct rvp_outputs *outputs, struct rvp_run *run,
				       const struct rvp_attribution_settings *settings)
{
	struct rvp_csv csv;
	struct rvp_ledger ledger;
	struct rvp_trace trace;
	struct rvp_blas_work work = {.step_flops = NULL};
	struct rvp_observer *observers[] = {&csv.observer, &ledger.observer, &trace.observer, &work.observer, NULL};
	struct rvp_attribution *attribution;
	struct rvp_analysis answer;
	struct rvp_step_ends ends = {0};
	struct rvp_device_answers devices = {0};
	struct rvp_kernels kernels = {.has_device = false};
	struct rvp_kernel_trace device_trace = {.trace = NULL};
	struct rvp_power_answer power;
	struct rvp_status status = rvp_attribute(run, settings, &attribution);

	if (rvp_failed(status))
		return status;
	rvp_origin_write(stream_of(outputs, RVP_OUTPUT_RUN), run);
	rvp_csv_open(&csv, stream_of(outputs, RVP_OUTPUT_MEMORY), stream_of(outputs, RVP_OUTPUT_CATEGORIES));
	if (!rvp_ledger_open(&ledger, run) || !rvp_blas_work_open(&work, run, rvp_attribution_steps(attribution)) ||
	    !rvp_step_ends_spread(&ends, run, rvp_attribution_steps(attribution), GROWTH_POINTS) ||
	    !rvp_trace_open(&trace, run, stream_of(outputs, RVP_OUTPUT_TRACE), trace_max_bytes)) {
		rvp_ledger_close(&ledger);
		rvp_blas_work_close(&work);
		rvp_step_ends_free(&ends);
		rvp_attribution_close(attribution);
		return rvp_fail("write", rvp_output_names[RVP_OUTPUT_TRACE], ENOMEM);
	}
	rvp_trace_put_steps(&trace, rvp_attribution_steps(attribution));
	rvp_windows_trace(&trace);
	status = write_devices(outputs, run, settings, rvp_attribution_steps(attribution), &trace, &device_trace, &kernels);
	rvp_latency_write(stream_of(outputs, RVP_OUTPUT_LATENCY), run, rvp_attribution_steps(attribution), &kernels);
	if (!rvp_failed(status))
		status = rvp_device_answers_make(&devices, run, attribution, 0, ends.moments_ns, ends.count, true);
	if (!rvp_failed(status) && !rvp_trace_put_devices(&trace, &devices))
		status = rvp_fail("read", "a device's rows", EIO);
	csv.devices = &devices;
	status = rvp_failed(status) ? status : rvp_analyse(run,
			     &(struct rvp_question){.observers = observers,
						    .attribution = attribution,
						    .moments_ns = ends.moments_ns,
						    .moment_count = ends.count},
			     &answer);
	write_power(outputs, run, rvp_attribution_steps(attribution), &trace, &power);
	rvp_trace_close(&trace);
	rvp_kernel_trace_close(&device_trace);
	if (!rvp_failed(status)) {
		status = sum_up(outputs, run, attribution, &answer, &ends, &ledger, &devices, &kernels, &work, &power);
		rvp_analysis_free(&answer);
	}
	rvp_device_answers_free(&devices);
	rvp_kernels_free(&kernels);
	rvp_blas_work_close(&work);
	rvp_ledger_close(&ledger);
	rvp_step_ends_free(&ends);
	rvp_attribution_close(attribution);
	return status;
}

static struct rvp_status write_all(const char *folder, const char *to,
				   const struct rvp_attribution_settings *settings)
{
	struct rvp_outputs outputs;
	struct rvp_run *run;
	struct rvp_status status = rvp_run_open(&run, folder);

	if (rvp_failed(status))
		return status;
	rvp_origin_make(run, settings ? settings->rule_files : NULL);
	status = rvp_outputs_open(&outputs, to, rvp_run_has_devices(run));
	if (!rvp_failed(status))
		status = rvp_outputs_open_power(&outputs, run->power);
	if (!rvp_failed(status))
		status = write_outputs(&outputs, run, settings);
	if (!rvp_failed(status))
		status = rvp_outputs_rename(&outputs);
	if (!rvp_failed(status))
		status = rvp_outputs_missing(&outputs);
	rvp_outputs_drop(&outputs);
	rvp_run_close(run);
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
		if (rvp_output_names[i] && i != RVP_OUTPUT_POWER && i != RVP_OUTPUT_KERNELS && !changed_ns(folder, rvp_output_names[i]))
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
