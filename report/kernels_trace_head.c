/* SPDX-License-Identifier: MIT */
/* kernels_trace_head.c: what a trace says of its devices before its events (kernels_trace.h).
 *
 * "rank" stands on a line of its own, with a space behind the colon: HolisticTraceAnalysis finds it by lines.
 */
#include "report/kernels_trace.h"

#include "report/run_source.h"
#include "report/trace_events.h"

#include <inttypes.h>
#include <stdlib.h>

enum { REAL_PIDS = 1 << 23 /* a pid is below 2^22 */, DEVICES_OF_PROCESS = 64 };

uint32_t rvp_kernel_trace_pid(uint32_t base, uint32_t process, uint32_t device)
{
	return base ? base + process * DEVICES_OF_PROCESS + device % DEVICES_OF_PROCESS : device;
}

/* Pids of processes in containers are as small as numbers of devices. */
uint32_t rvp_kernel_trace_pid_base(const struct rvp_run *run, uint32_t only)
{
	size_t with_devices = 0;

	for (uint32_t i = 0; i < run->process_count; i++) {
		if (only != RVP_NO_PROCESS && only != i)
			continue;
		with_devices += rvp_kernel_defs_of(&run->processes[i]) != NULL;
		if (run->processes[i].pid < DEVICES_OF_PROCESS)
			return REAL_PIDS;
	}
	return with_devices > 1 ? REAL_PIDS : 0;
}

static void put_device(struct rvp_trace *trace, const struct rvp_record_DEVICE *device, uint32_t pid)
{
	char model[256];

	snprintf(model, sizeof model, "%.*s", (int)(device->model.length < 255 ? device->model.length : 255),
		 device->model.length ? device->model.bytes : "");
	rvp_trace_put(trace, "{\"id\":%u,\"name\":", pid);
	rvp_trace_put_text(trace, model);
	rvp_trace_put(trace,
		      ",\"totalGlobalMem\":%" PRIu64 ",\"computeMajor\":%" PRIu64 ",\"computeMinor\":%" PRIu64
		      ",\"maxThreadsPerMultiprocessor\":%" PRIu64 ",\"warpSize\":%" PRIu64
		      ",\"numSms\":%" PRIu64 ",\"regsPerMultiprocessor\":%" PRIu64
		      ",\"sharedMemPerMultiprocessor\":%" PRIu64 "}",
		      device->memory_bytes, device->compute / 10, device->compute % 10, device->threads,
		      device->warp_threads, device->multiprocessors, device->registers, device->shared_bytes);
}

/* Each device of a process once, as it was told last, by the number that its rows have as their pid. */
static void put_devices(struct rvp_trace *trace, uint32_t process, uint32_t base, const char **comma)
{
	const struct rvp_kernel_defs *defs = rvp_kernel_defs_of(&trace->run->processes[process]);

	for (size_t i = 0; i < defs->told_count; i++) {
		const struct rvp_device_told *told = &defs->told[i];

		if (told->kind != RVP_DEVICE || rvp_device_at(defs, told->device.device) != &told->device)
			continue;
		rvp_trace_put(trace, "%s", *comma);
		put_device(trace, &told->device,
			   rvp_kernel_trace_pid(base, process, (uint32_t)told->device.device));
		*comma = ",";
	}
}

static const struct rvp_record_DEVICE_TRACER *tracer_of(const struct rvp_kernel_defs *defs)
{
	for (size_t i = defs->told_count; i-- > 0;)
		if (defs->told[i].kind == RVP_DEVICE_TRACER && defs->told[i].tracer.tracer_version)
			return &defs->told[i].tracer;
	return NULL;
}

static void put_rank(struct rvp_trace *trace, const struct rvp_process *process)
{
	char *end;
	unsigned long rank = strtoul(process->rank, &end, 10);

	rvp_trace_put(trace, "\n\"distributedInfo\": {\n\"rank\": %lu\n},\n",
		      *process->rank && !*end ? rank : 0);
}

void rvp_kernel_trace_head(struct rvp_trace *trace, uint32_t only)
{
	const struct rvp_record_DEVICE_TRACER *tracer = NULL;
	const struct rvp_process *first = NULL;
	const char *comma = "";
	uint32_t base = rvp_kernel_trace_pid_base(trace->run, only);

	if (!rvp_run_has_devices(trace->run))
		return;
	rvp_trace_put(trace, "\"schemaVersion\":1,\"deviceProperties\":[");
	for (uint32_t i = 0; i < trace->run->process_count; i++) {
		const struct rvp_kernel_defs *defs = rvp_kernel_defs_of(&trace->run->processes[i]);

		if (!defs || (only != RVP_NO_PROCESS && only != i))
			continue;
		first = first ? first : &trace->run->processes[i];
		tracer = tracer ? tracer : tracer_of(defs);
		put_devices(trace, i, base, &comma);
	}
	rvp_trace_put(trace, "],");
	if (tracer)
		rvp_trace_put(trace, "\"cupti_version\":%" PRIu64 ",\"cuda_driver_version\":%" PRIu64 ",",
			      tracer->tracer_version, tracer->driver_version);
	if (first)
		put_rank(trace, first);
	rvp_trace_put(trace, "\"baseTimeNanoseconds\":%" PRIu64 ",", trace->run->begin_ns);
}
