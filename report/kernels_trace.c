/* SPDX-License-Identifier: MIT */
/* kernels_trace.c: see kernels_trace.h. */
#include "report/kernels_trace.h"

#include "report/grow.h"
#include "report/occupancy.h"
#include "report/run_source.h"
#include "report/text_json.h"
#include "report/trace_events.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHARE_PARTS = 5, /* of the file two fifths */
	LANE_BITS = 24,
	LANES_MAX = 64,
	SYNC_LANE = 127,
	CALL_ROW = 1 << 30, /* above any thread id */
	OVERHEAD_ROW = 3 << 29,
	NAME_BYTES_MAX = 8192,
};

/* A thread of the trace: a lane of a stream, calls of a thread, ... */
struct rvp_kernel_row {
	uint32_t pid, tid;
	double end_us; /* of the last slice */
};

/* ---- rows ---- */

static uint32_t pid_of_device(const struct rvp_kernel_trace *to, uint32_t process, uint32_t device)
{
	return rvp_kernel_trace_pid(to->pid_base, process, device);
}

static struct rvp_kernel_row *find_row(struct rvp_kernel_trace *to, uint32_t pid, uint32_t tid)
{
	struct rvp_key key = {rvp_key_half(pid, tid), 0};
	size_t number;

	return rvp_key_find(&to->row_keys, key, &number) ? &to->rows[number] : NULL;
}

static bool has_pid(const struct rvp_kernel_trace *to, uint32_t pid)
{
	size_t number;

	return rvp_key_find(&to->pid_keys, (struct rvp_key){pid, 0}, &number);
}

static bool begin_event(struct rvp_kernel_trace *to, uint64_t ns)
{
	if (to->bytes >= to->most_bytes || !rvp_trace_begin_event(to->trace, ns))
		return false;
	return true;
}

__attribute__((format(printf, 5, 6))) static void put_metadata(struct rvp_kernel_trace *to, const char *what,
							       uint32_t pid, uint32_t tid, const char *format,
							       ...)
{
	char text[400];
	va_list arguments;

	if (!begin_event(to, to->trace->run->begin_ns))
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	rvp_trace_put(to->trace,
		      "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"%s\":", what, pid, tid,
		      !strcmp(what, "process_labels") ? "labels" : "name");
	rvp_trace_put_text(to->trace, text);
	rvp_trace_put(to->trace, "}}");
}

static void put_sort(struct rvp_kernel_trace *to, const char *what, uint32_t pid, uint32_t tid,
		     uint32_t index)
{
	if (begin_event(to, to->trace->run->begin_ns))
		rvp_trace_put(
		    to->trace,
		    "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"sort_index\":%u}}", what,
		    pid, tid, index);
}

static void name_device(struct rvp_kernel_trace *to, uint32_t pid, const struct rvp_activity *activity)
{
	enum { AFTER_PROCESSES = 5000000 };
	const struct rvp_process *process = &to->trace->run->processes[activity->process];
	const struct rvp_record_DEVICE *device = rvp_device_at(rvp_kernel_defs_of(process), activity->device);
	struct rvp_text model = device ? device->model : (struct rvp_text){0};

	put_metadata(to, "process_name", pid, 0, "cuda:%u %.*s of %.100s (%u)",
		     rvp_device_called(to->trace->run, process, activity->device),
		     (int)(model.length < 100 ? model.length : 100), model.length ? model.bytes : "",
		     process->name, process->pid);
	put_metadata(to, "process_labels", pid, 0, "GPU %u", activity->device);
	put_sort(to, "process_sort_index", pid, 0, AFTER_PROCESSES + activity->device);
}

static struct rvp_kernel_row *add_row(struct rvp_kernel_trace *to, uint32_t pid, uint32_t tid)
{
	struct rvp_key key = {rvp_key_half(pid, tid), 0};
	size_t number, of_pid;
	bool is_new;

	if (!rvp_key_number(&to->row_keys, key, &number, &is_new) ||
	    !rvp_key_number(&to->pid_keys, (struct rvp_key){pid, 0}, &of_pid, &is_new) ||
	    !rvp_grow((void **)&to->rows, &to->row_room, number + 1, sizeof *to->rows)) {
		to->no_memory = true;
		return NULL;
	}
	to->row_count = to->row_keys.count;
	to->rows[number] = (struct rvp_kernel_row){.pid = pid, .tid = tid, .end_us = -1};
	return &to->rows[number];
}

static struct rvp_kernel_row *lane_of(struct rvp_kernel_trace *to, uint32_t pid,
				      const struct rvp_activity *activity, uint32_t lane)
{
	uint32_t stream = activity->stream & ((1u << LANE_BITS) - 1), tid = stream | lane << LANE_BITS;
	struct rvp_kernel_row *row = find_row(to, pid, tid);

	if (row)
		return row;
	if (activity->has_device && !has_pid(to, pid))
		name_device(to, pid, activity);
	if (!lane)
		put_metadata(to, "thread_name", pid, tid, "stream %u", activity->stream);
	else if (lane == SYNC_LANE)
		put_metadata(to, "thread_name", pid, tid, "stream %u (sync)", activity->stream);
	else
		put_metadata(to, "thread_name", pid, tid, "stream %u (overlap %u)", activity->stream, lane);
	put_sort(to, "thread_sort_index", pid, tid, stream);
	return add_row(to, pid, tid);
}

/* The first lane of the stream on which the piece begins behind what is there; NULL: none. */
static struct rvp_kernel_row *row_for(struct rvp_kernel_trace *to, uint32_t pid,
				      const struct rvp_activity *activity)
{
	/* Sums of two decimals as doubles are off by far less. */
	static const double touching_us = 0.0001;
	double begin_us = rvp_trace_us(to->trace, activity->start_ns);

	for (uint32_t lane = 0; lane < LANES_MAX; lane++) {
		struct rvp_kernel_row *row = lane_of(to, pid, activity, lane);

		if (!row || row->end_us <= begin_us + touching_us) {
			if (row)
				row->end_us = begin_us + (double)(activity->end_ns - activity->start_ns) / 1e3;
			return row;
		}
	}
	return NULL;
}

/* ---- slices ---- */

static void put_long_text(struct rvp_trace *trace, const char *text)
{
	char part[NAME_BYTES_MAX];
	size_t length = strnlen(text, sizeof part - 1);

	memcpy(part, text, length);
	part[length] = 0;
	rvp_json_text(trace->out, part);
	trace->bytes += length + 2;
}

static void put_slice(struct rvp_trace *trace, const char *category, const char *name, uint32_t pid,
		      uint32_t tid, uint64_t begin_ns, uint64_t duration_ns)
{
	rvp_trace_put(trace, "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", category);
	put_long_text(trace, *name ? name : "unknown");
	rvp_trace_put(trace, ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"args\":{", pid, tid,
		      rvp_trace_us(trace, begin_ns), (double)duration_ns / 1e3);
}

/* Of a call that a row of its own has; in HTA's a graph's kernels have one each. */
static void put_flow(struct rvp_kernel_trace *to, char ph, uint64_t id, uint32_t pid, uint32_t tid,
		     uint64_t ns)
{
	if (begin_event(to, ns))
		rvp_trace_put(to->trace,
			      "{\"ph\":\"%c\",\"id\":%" PRIu64
			      ",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"cat\":\"ac2g\",\"name\":\"ac2g\"%s}",
			      ph, id, pid, tid, rvp_trace_us(to->trace, ns),
			      ph == 'f' ? ",\"bp\":\"e\"" : "");
}

static uint32_t call_tid(struct rvp_kernel_trace *to, uint32_t pid, uint32_t tid)
{
	uint32_t row = to->is_hta ? tid : CALL_ROW + tid;

	if (to->is_hta || find_row(to, pid, row))
		return row;
	put_metadata(to, "thread_name", pid, row, "CUDA calls of thread %u", tid);
	add_row(to, pid, row);
	return row;
}

static void put_call(struct rvp_kernel_trace *to, uint32_t process, const struct rvp_activity *activity,
		     uint64_t correlation)
{
	const struct rvp_process *of = &to->trace->run->processes[process];
	struct rvp_text raw = rvp_device_name_at(rvp_kernel_defs_of(of), activity->number);
	uint32_t tid = call_tid(to, of->pid, activity->tid);
	char name[128];

	rvp_device_function_name(raw, name, sizeof name);
	if (!begin_event(to, activity->start_ns)) {
		to->cut_count++;
		return;
	}
	put_slice(to->trace,
		  name[0] == 'c' && name[1] == 'u' && name[2] != 'd' ? "cuda_driver" : "cuda_runtime", name,
		  of->pid, tid, activity->start_ns, activity->end_ns - activity->start_ns);
	rvp_trace_put(to->trace, "\"External id\":%" PRIu64 ",\"correlation\":%" PRIu64 "}}", correlation,
		      correlation);
}

static struct rvp_activity call_of(const struct rvp_launch *launch)
{
	return (struct rvp_activity){.start_ns = launch->ns,
				     .duration_ns = launch->duration_ns,
				     .end_ns = launch->ns + launch->duration_ns,
				     .correlation = launch->correlation,
				     .number = launch->function,
				     .tid = launch->tid};
}

/* The flow's begin on the launch's slice: once a launch, or once a kernel of a graph, which HTA wants to have
 * a launch. */
static void put_origin(struct rvp_kernel_trace *to, const struct rvp_work *work, uint64_t id, bool is_own)
{
	const struct rvp_process *process = &to->trace->run->processes[work->activity->process];
	struct rvp_activity call;

	if (!work->launch || (!work->is_first && !is_own))
		return;
	call = call_of(work->launch);
	if (is_own && !work->is_first) {
		call.end_ns = call.start_ns;
		put_call(to, work->activity->process, &call, id);
	}
	put_flow(to, 's', id, process->pid, call_tid(to, process->pid, call.tid), call.start_ns);
}

/* ---- what runs on a device ---- */

static void put_where(struct rvp_trace *trace, const struct rvp_work *work, uint64_t correlation)
{
	const struct rvp_activity *activity = work->activity;

	rvp_trace_put(trace,
		      "\"External id\":%" PRIu64
		      ",\"device\":%u,\"context\":%u,\"stream\":%u,\"correlation\":%" PRIu64,
		      correlation, activity->device, activity->context, activity->stream, correlation);
	if (activity->graph)
		rvp_trace_put(trace, ",\"graph id\":%u,\"graph node id\":%" PRIu64, activity->graph,
			      activity->node);
	if (work->step >= 0)
		rvp_trace_put(trace, ",\"step\":%" PRId64, work->step);
}

static void put_kernel_arguments(struct rvp_trace *trace, const struct rvp_work *work)
{
	const struct rvp_activity *activity = work->activity;
	const struct rvp_kernel_defs *defs = rvp_kernel_defs_of(&trace->run->processes[activity->process]);
	const struct rvp_kernel_shape *shape = rvp_kernel_shape_at(defs, activity->number);
	struct rvp_occupancy occupancy;

	rvp_trace_put(trace, ",\"queued\":%" PRIu64 ",\"class\":\"%s\"", activity->queued_ns,
		      rvp_kernel_class_names[work->class]);
	if (!shape)
		return;
	rvp_trace_put(trace,
		      ",\"registers per thread\":%u,\"shared memory\":%" PRIu64
		      ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]",
		      shape->registers, shape->static_bytes + shape->dynamic_bytes, shape->grid[0],
		      shape->grid[1], shape->grid[2], shape->block[0], shape->block[1], shape->block[2]);
	occupancy = rvp_occupancy_of(shape, rvp_device_at(defs, shape->device));
	if (occupancy.is_known)
		rvp_trace_put(
		    trace,
		    ",\"blocks per SM\":%.6g,\"warps per SM\":%.6g,\"est. achieved occupancy %%\":%.0f",
		    occupancy.blocks_per_multiprocessor, occupancy.warps_per_multiprocessor,
		    occupancy.estimated * 100);
}

static void put_copy_arguments(struct rvp_trace *trace, const struct rvp_activity *activity)
{
	rvp_trace_put(trace, ",\"bytes\":%" PRIu64, activity->bytes);
	if (activity->duration_ns)
		rvp_trace_put(trace, ",\"memory bandwidth (GB/s)\":%.6g",
			      (double)activity->bytes / (double)activity->duration_ns);
	if (activity->from_device && activity->to_device)
		rvp_trace_put(trace, ",\"fromDevice\":%u,\"inDevice\":%u,\"toDevice\":%u",
			      activity->from_device - 1, activity->device, activity->to_device - 1);
}

static const char *category_of(const struct rvp_activity *activity)
{
	switch (activity->kind) {
	case RVP_DEVICE_COPY: return "gpu_memcpy";
	case RVP_DEVICE_SET: return "gpu_memset";
	default: return "kernel";
	}
}

static const char *name_of(const struct rvp_work *work, const struct rvp_kernel_names *names, char *text,
			   size_t text_bytes)
{
	if (work->activity->kind == RVP_KERNEL)
		return rvp_kernel_name_at(names, work->name)->text;
	if (work->activity->kind == RVP_GRAPH_RUN) {
		snprintf(text, text_bytes, "graph %u", work->activity->graph);
		return text;
	}
	return rvp_copy_name(work->activity, text, text_bytes);
}

static void put_work(struct rvp_kernel_trace *to, const struct rvp_work *work,
		     const struct rvp_kernel_names *names)
{
	const struct rvp_activity *activity = work->activity;
	bool is_own = to->is_hta && activity->graph && activity->kind != RVP_GRAPH_RUN;
	uint64_t correlation = is_own && (!work->is_first || !work->launch) ? to->next_correlation++ : activity->correlation;
	uint32_t pid = pid_of_device(to, activity->process, activity->device);
	const struct rvp_kernel_row *row = row_for(to, pid, activity);
	char text[128];

	if (!row || !begin_event(to, activity->start_ns)) {
		to->cut_count++;
		return;
	}
	put_slice(to->trace, category_of(activity), name_of(work, names, text, sizeof text), pid, row->tid,
		  activity->start_ns, activity->end_ns - activity->start_ns);
	put_where(to->trace, work, correlation);
	if (activity->kind == RVP_KERNEL)
		put_kernel_arguments(to->trace, work);
	else if (activity->kind != RVP_GRAPH_RUN)
		put_copy_arguments(to->trace, activity);
	rvp_kernel_trace_put_origin(to, work);
	rvp_trace_put(to->trace, "}}");
	if (!work->launch)
		return;
	uint32_t tid = row->tid; /* rows may move */

	put_origin(to, work, correlation, is_own);
	put_flow(to, 'f', correlation, pid, tid, activity->start_ns);
}

/* ---- what the host did ---- */

static const char *sync_name(uint32_t kind)
{
	static const char *const names[] = {"Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
					    "Context Sync"};

	return names[kind < sizeof names / sizeof *names ? kind : 0];
}

static uint32_t device_of_context(const struct rvp_kernel_defs *defs, uint32_t context)
{
	for (size_t i = defs->told_count; i-- > 0;)
		if (defs->told[i].kind == RVP_DEVICE_CONTEXT && defs->told[i].context.context == context)
			return (uint32_t)defs->told[i].context.device;
	return 0;
}

static void put_sync(struct rvp_kernel_trace *to, const struct rvp_activity *activity)
{
	const struct rvp_kernel_defs *defs =
	    rvp_kernel_defs_of(&to->trace->run->processes[activity->process]);
	uint32_t device = device_of_context(defs, activity->context);
	uint32_t pid = pid_of_device(to, activity->process, device);
	struct rvp_kernel_row *row = lane_of(to, pid, activity, SYNC_LANE);
	double begin_us = rvp_trace_us(to->trace, activity->start_ns);

	/* Two threads may wait for one stream: only one of them can be drawn there. */
	if (!row || row->end_us > begin_us || !begin_event(to, activity->start_ns)) {
		to->cut_count++;
		return;
	}
	row->end_us = begin_us + (double)(activity->end_ns - activity->start_ns) / 1e3;
	put_slice(to->trace, "cuda_sync", sync_name(activity->number), pid, row->tid, activity->start_ns, activity->end_ns - activity->start_ns);
	rvp_trace_put(to->trace,
		      "\"cuda_sync_kind\":\"%s\",\"stream\":%d,\"correlation\":%" PRIu64
		      ",\"device\":%u,\"context\":%u",
		      sync_name(activity->number), activity->stream ? (int)activity->stream : -1,
		      activity->correlation, device, activity->context);
	if (activity->queued_ns)
		rvp_trace_put(to->trace, ",\"wait_on_cuda_event_id\":%" PRIu64, activity->queued_ns);
	rvp_trace_put(to->trace, "}}");
}

static void put_overhead(struct rvp_kernel_trace *to, const struct rvp_activity *activity)
{
	const struct rvp_process *process = &to->trace->run->processes[activity->process];
	uint32_t tid = OVERHEAD_ROW + activity->tid % CALL_ROW;
	struct rvp_kernel_row *row = find_row(to, process->pid, tid);
	double begin_us = rvp_trace_us(to->trace, activity->start_ns);

	if (!row) {
		put_metadata(to, "thread_name", process->pid, tid, "tracer's overhead, thread %u",
			     activity->tid);
		row = add_row(to, process->pid, tid);
	}
	if (!row || row->end_us > begin_us || !begin_event(to, activity->start_ns)) {
		to->cut_count++;
		return;
	}
	row->end_us = begin_us + (double)(activity->end_ns - activity->start_ns) / 1e3;
	put_slice(to->trace, "overhead", rvp_overhead_name(activity->number), process->pid, tid,
		  activity->start_ns, activity->end_ns - activity->start_ns);
	rvp_trace_put(to->trace, "}}");
}

static void see(struct rvp_kernel_sink *sink, const struct rvp_work *work,
		const struct rvp_kernel_names *names)
{
	struct rvp_kernel_trace *to = (struct rvp_kernel_trace *)sink;
	const struct rvp_activity *activity = work->activity;
	uint64_t before = to->trace->bytes;

	if (to->only != RVP_NO_PROCESS && activity->process != to->only)
		return;
	if (activity->has_start && !rvp_trace_is_asked(to->trace, activity->start_ns))
		return;
	if (!activity->has_start || activity->flaw)
		to->untimed_count++;
	else if (to->bytes >= to->most_bytes)
		to->cut_count++;
	else if (activity->has_device)
		put_work(to, work, names);
	else if (activity->kind == RVP_DEVICE_SYNC)
		put_sync(to, activity);
	else if (activity->kind == RVP_DEVICE_OVERHEAD)
		put_overhead(to, activity);
	else if (!work->is_inner && (activity->kind == RVP_DEVICE_CALL ||
				     activity->start_ns < to->calls_from_ns[activity->process]))
		put_call(to, activity->process, activity, activity->correlation);
	to->bytes += to->trace->bytes - before;
}

/* ---- open, close ---- */

/* Where calls are recorded each, a launch is one of them and not drawn again. */
static uint64_t calls_from_ns(const struct rvp_run *run, const struct rvp_process *process)
{
	const struct rvp_kernel_defs *defs = rvp_kernel_defs_of(process);
	uint64_t from_ns = RVP_NEVER;

	if (!defs || !defs->counts[RVP_DEVICE_CALL])
		return RVP_NEVER;
	for (size_t i = 0; i < defs->told_count; i++) {
		const struct rvp_device_told *told = &defs->told[i];
		uint64_t ns;

		if (told->kind != RVP_DEVICE_TRACER || !(told->tracer.kinds >> RVP_DEVICE_BIT_CALL & 1))
			continue;
		ns = rvp_process_ns(run, process, told->tracer.stamp);
		from_ns = ns < from_ns ? ns : from_ns;
	}
	return from_ns == RVP_NEVER ? 0 : from_ns;
}

bool rvp_kernel_trace_open(struct rvp_kernel_trace *to, struct rvp_trace *trace,
			   const struct rvp_kernels *kernels, uint32_t only, bool is_hta)
{
	const struct rvp_run *run = trace->run;

	*to = (struct rvp_kernel_trace){
	    .sink.see = see,
	    .trace = trace,
	    .kernels = kernels,
	    .clock = &kernels->clock,
	    .only = only,
	    .is_hta = is_hta,
	    .most_bytes = is_hta ? UINT64_MAX : trace->max_bytes / SHARE_PARTS * 2,
	    .next_correlation = (uint64_t)1 << 40,
	    .pid_base = rvp_kernel_trace_pid_base(run, only),
	};
	to->calls_from_ns = calloc(run->process_count + 1, sizeof *to->calls_from_ns);
	for (size_t i = 0; to->calls_from_ns && i < run->process_count; i++)
		to->calls_from_ns[i] = calls_from_ns(run, &run->processes[i]);
	return to->calls_from_ns != NULL;
}

void rvp_kernel_trace_close(struct rvp_kernel_trace *to)
{
	free(to->calls_from_ns);
	free(to->rows);
	rvp_key_places_free(&to->row_keys);
	rvp_key_places_free(&to->pid_keys);
	free(to->told_sites);
	to->calls_from_ns = NULL;
	to->rows = NULL;
	to->told_sites = NULL;
}
