/* SPDX-License-Identifier: MIT */
/* export_trace.c: see export_trace.h. */
#include "report/export_trace.h"

#include "report/attribution.h"
#include "report/device_answer.h"
#include "report/kernels_trace.h"
#include "report/text_times.h"
#include "report/trace_events.h"
#include "report/windows.h"
#include "report/write_power.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static struct rvp_status put_devices(struct rvp_run *run, const struct rvp_steps *steps, struct rvp_trace *trace,
				     struct rvp_kernel_trace *device_trace, struct rvp_kernels *kernels)
{
	struct rvp_kernel_sink *sinks[] = {&device_trace->sink, NULL};
	struct rvp_status status;

	trace->devices = device_trace;
	status = rvp_kernels_read(kernels, run, &(struct rvp_kernel_question){.steps = steps, .sinks = sinks});
	if (!rvp_failed(status) && device_trace->no_memory)
		status = rvp_fail("export", run->folder, ENOMEM);
	return status;
}

/* ---- chrome ---- */

static struct rvp_status put_device_memory(struct rvp_run *run, struct rvp_attribution *attribution, struct rvp_trace *trace)
{
	struct rvp_device_answers devices;
	struct rvp_status status = rvp_device_answers_make(&devices, run, attribution, 0, NULL, 0, true);

	if (!rvp_failed(status) && !rvp_trace_put_devices(trace, &devices))
		status = rvp_fail("read", "a device's rows", EIO);
	rvp_device_answers_free(&devices);
	return status;
}

static struct rvp_status put_chrome(struct rvp_run *run, struct rvp_attribution *attribution, struct rvp_trace *trace)
{
	struct rvp_observer *observers[] = {&trace->observer, NULL};
	struct rvp_kernel_trace device_trace;
	struct rvp_kernels kernels;
	struct rvp_analysis answer;
	struct rvp_status status;

	rvp_trace_put_steps(trace, rvp_attribution_steps(attribution));
	rvp_windows_trace(trace);
	if (!rvp_kernel_trace_open(&device_trace, trace, &kernels, trace->only, false))
		return rvp_fail("export", run->folder, ENOMEM);
	device_trace.most_bytes = UINT64_MAX;
	status = put_devices(run, rvp_attribution_steps(attribution), trace, &device_trace, &kernels);
	if (!rvp_failed(status))
		status = put_device_memory(run, attribution, trace);
	if (!rvp_failed(status))
		status = rvp_analyse(
		    run, &(struct rvp_question){.observers = observers, .attribution = attribution}, &answer);
	if (!rvp_failed(status))
		rvp_analysis_free(&answer);
	if (!kernels.has_device)
		trace->devices = NULL;
	rvp_power_trace(trace);
	rvp_trace_close(trace);
	rvp_kernel_trace_close(&device_trace);
	rvp_kernels_free(&kernels);
	return status;
}

static struct rvp_status take_process(const struct rvp_run *run, uint32_t pid, struct rvp_trace *trace)
{
	for (uint32_t i = 0; pid && i < run->process_count; i++)
		if (run->processes[i].pid == pid)
			trace->only = i; /* of several images the last */
	if (pid && trace->only == RVP_NO_PROCESS)
		return rvp_fail_with("export chrome", NULL, "process %u is not in this run", pid);
	return RVP_OK;
}

static struct rvp_status take_part(const struct rvp_run *run, const struct rvp_trace_part *part, struct rvp_trace *trace)
{
	struct rvp_status status = take_process(run, part->pid, trace);

	if (rvp_failed(status) || (!part->from && !part->to))
		return status;
	trace->from_ns = run->begin_ns;
	trace->to_ns = run->end_ns;
	if (part->from)
		status = rvp_time_of_process(run, trace->only, part->from, RVP_NEVER, &trace->from_ns);
	if (!rvp_failed(status) && part->to)
		status = rvp_time_of_process(run, trace->only, part->to, RVP_NEVER, &trace->to_ns);
	if (!rvp_failed(status) && trace->from_ns > trace->to_ns)
		status = rvp_fail_with("export chrome", NULL, "--from is behind --to");
	return status;
}

static struct rvp_status export_part(struct rvp_run *run, struct rvp_attribution *attribution,
				     const struct rvp_trace *asked, FILE *out)
{
	struct rvp_trace trace;

	if (!rvp_trace_open(&trace, run, out, UINT64_MAX))
		return rvp_fail("export", run->folder, ENOMEM);
	trace.only = asked->only;
	trace.from_ns = asked->from_ns;
	trace.to_ns = asked->to_ns;
	return put_chrome(run, attribution, &trace);
}

struct rvp_status rvp_export_chrome(struct rvp_run *run, const struct rvp_trace_part *part, FILE *out)
{
	struct rvp_attribution *attribution;
	struct rvp_trace asked = {.only = RVP_NO_PROCESS};
	struct rvp_status status = take_part(run, part, &asked);

	if (rvp_failed(status))
		return status;
	status = rvp_attribute(run, NULL, &attribution);
	if (rvp_failed(status))
		return status;
	status = export_part(run, attribution, &asked, out);
	rvp_attribution_close(attribution);
	return status;
}

/* ---- HTA ---- */

static struct rvp_status find_process(const struct rvp_run *run, uint32_t pid, uint32_t *number)
{
	char pids[160] = "";
	size_t count = 0, length = 0;

	for (uint32_t i = 0; i < run->process_count; i++) {
		const struct rvp_kernel_defs *defs = rvp_kernel_defs_of(&run->processes[i]);

		if (!defs || !defs->activity_count || (pid && run->processes[i].pid != pid))
			continue;
		*number = i;
		count++;
		if (length < sizeof pids - 12)
			length += (size_t)snprintf(pids + length, sizeof pids - length, " %u", run->processes[i].pid);
	}
	if (!count)
		return rvp_fail_with("export hta", NULL, pid ? "process %u has no work on a device" : "no process of this run has work on a device", pid);
	if (count > 1 && !pid)
		return rvp_fail_with("export hta", NULL, "%zu processes used devices: --pid takes one of%s", count, pids);
	return RVP_OK;
}

static void put_step(struct rvp_trace *trace, const struct rvp_step *step, size_t number, uint32_t pid)
{
	/* A nanosecond apart from the next, so that no sum of decimals makes them cross. */
	uint64_t ns = step->end_ns - step->begin_ns;

	if (rvp_trace_begin_event(trace, step->begin_ns))
		rvp_trace_put(trace,
			      "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#%zu\",\"pid\":%u,\"tid\":%u,"
			      "\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"External id\":%zu}}",
			      number, pid, step->tid, rvp_trace_us(trace, step->begin_ns), (double)(ns ? ns - 1 : 0) / 1e3,
			      number);
}

static void put_steps(struct rvp_trace *trace, const struct rvp_steps *steps, uint32_t process)
{
	for (size_t i = 0; i < steps->count; i++)
		if (steps->steps[i].process == process)
			put_step(trace, &steps->steps[i], i, trace->run->processes[process].pid);
}

static void put_tail(struct rvp_trace *trace, const struct rvp_kernel_trace *device_trace)
{
	rvp_trace_put(trace, "\n],\n\"traceName\":\"rvprof\",\"rvprof\":{\"run_id\":");
	rvp_trace_put_text(trace, trace->run->id);
	rvp_trace_put(trace, ",\"device_clock\":\"%s\",\"device_clock_error_ns\":%" PRIu64 ",\"untimed_device_work\":%" PRIu64 "}}\n",
		      device_trace->clock->is_tied ? "tied" : "relative", device_trace->clock->error_ns,
		      device_trace->untimed_count);
}

static struct rvp_status put_hta(struct rvp_run *run, uint32_t process, const struct rvp_steps *steps, FILE *out)
{
	struct rvp_trace trace = {.run = run, .out = out, .max_bytes = UINT64_MAX};
	struct rvp_kernel_trace device_trace;
	struct rvp_kernels kernels;
	struct rvp_status status;

	if (!rvp_kernel_trace_open(&device_trace, &trace, &kernels, process, true))
		return rvp_fail("export", run->folder, ENOMEM);
	rvp_trace_put(&trace, "{");
	rvp_kernel_trace_head(&trace, process);
	rvp_trace_put(&trace, "\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
	put_steps(&trace, steps, process);
	status = put_devices(run, steps, &trace, &device_trace, &kernels);
	put_tail(&trace, &device_trace);
	rvp_kernel_trace_close(&device_trace);
	rvp_kernels_free(&kernels);
	return status;
}

struct rvp_status rvp_export_hta(struct rvp_run *run, uint32_t pid, FILE *out)
{
	uint32_t process = RVP_NO_PROCESS;
	struct rvp_steps steps;
	struct rvp_status status = find_process(run, pid, &process);

	if (rvp_failed(status))
		return status;
	status = rvp_steps_find(run, &steps);
	if (rvp_failed(status))
		return status;
	status = put_hta(run, process, &steps, out);
	rvp_steps_free(&steps);
	return status;
}
