/* SPDX-License-Identifier: MIT */
/* activity.c: see activity.h. Fields are read by the running library's version (abi.h, rule 2). A time that can't be
 * true is a flaw: the record is written with it, is in no sum, and is counted. */
#include "cupti/activity.h"

#include "cupti/device_time.h"
#include "cupti/follower.h"
#include "cupti/interned.h"
#include "cupti/library.h"
#include "cupti/places.h"

#include <stdatomic.h>
#include <stdlib.h>

/* A record may be this much older than the first DEVICE_CLOCK, or newer than the clock, and still be believed. */
static const uint64_t early_ns = 1000000000u, late_ns = 1000000000u;

static _Atomic uint64_t timed_count, flawed_count;

struct times {
	uint64_t start_ns, duration_ns;
	enum rvp_device_flaw flaw;
};

/* Whether `end` lies in what is to come. The clock is asked again only by what is newer than its last answer. */
static bool is_of_future(struct rvp_activity_batch *batch, uint64_t end)
{
	if (end <= batch->now_ns + late_ns)
		return false;
	batch->now_ns = rvp_device_time_now();
	return batch->now_ns && end > batch->now_ns + late_ns;
}

static enum rvp_device_flaw flaw_of(struct rvp_activity_batch *batch, uint64_t start, uint64_t end)
{
	uint64_t begin = rvp_device_time_begin();

	if (start && !end && batch->is_last)
		return RVP_DEVICE_FLAW_UNFINISHED;
	if (!start || !end)
		return RVP_DEVICE_FLAW_ZERO_TIME;
	if (end < start)
		return RVP_DEVICE_FLAW_BACKWARD;
	if (begin && start + early_ns < begin)
		return RVP_DEVICE_FLAW_OUT_OF_WINDOW;
	return is_of_future(batch, end) ? RVP_DEVICE_FLAW_OUT_OF_WINDOW : RVP_DEVICE_FLAW_NONE;
}

static struct times times_of(struct rvp_activity_batch *batch, uint64_t start, uint64_t end)
{
	enum rvp_device_flaw flaw = flaw_of(batch, start, end);

	batch->all++;
	batch->flaws += flaw != RVP_DEVICE_FLAW_NONE;
	return (struct times){start, end > start ? end - start : 0, flaw};
}

static struct rvp_record *next(struct rvp_activity_batch *batch, enum rvp_kind kind)
{
	struct rvp_record *record;

	if (batch->count == RVP_ACTIVITY_BATCH)
		rvp_activity_flush(batch);
	record = &batch->records[batch->count++];
	record->kind = kind;
	return record;
}

#define PUT(batch, KIND, ...) (next(batch, RVP_##KIND)->KIND = (struct rvp_record_##KIND){__VA_ARGS__})

/* ns before the start; 0: not told */
static uint64_t before(uint64_t start, uint64_t earlier)
{
	return earlier && earlier < start ? start - earlier : 0;
}

static uint64_t shape_of(const struct rvp_cupti_kernel *kernel)
{
	bool has_wide = rvp_cupti.version >= 18;
	const struct rvp_record_KERNEL_SHAPE shape = {
	    .name = rvp_interned_name(kernel->name),
	    .device = kernel->device,
	    .context = kernel->context,
	    .grid_x = (uint32_t)kernel->grid_x,
	    .grid_y = (uint32_t)kernel->grid_y,
	    .grid_z = (uint32_t)kernel->grid_z,
	    .block_x = (uint32_t)kernel->block_x,
	    .block_y = (uint32_t)kernel->block_y,
	    .block_z = (uint32_t)kernel->block_z,
	    .registers = kernel->registers,
	    .static_bytes = (uint32_t)kernel->static_shared,
	    .dynamic_bytes = (uint32_t)kernel->dynamic_shared,
	    .local_bytes = has_wide ? kernel->local_total_wide : kernel->local_total,
	    .flags = kernel->launch_type != 0,
	};

	return shape.name ? rvp_interned_shape(&shape) : 0;
}

static void take_kernel(struct rvp_activity_batch *batch, const struct rvp_cupti_kernel *kernel)
{
	struct times times = times_of(batch, kernel->start, kernel->end);

	PUT(batch, KERNEL, .start_ns = times.start_ns, .duration_ns = times.duration_ns,
	    .correlation = kernel->correlation, .shape = shape_of(kernel), .stream = kernel->stream,
	    .graph = kernel->graph, .node = kernel->graph_node,
	    .queued_ns = before(kernel->start, kernel->queued),
	    .submitted_ns = before(kernel->start, kernel->submitted), .flaw = times.flaw);
}

static void take_copy(struct rvp_activity_batch *batch, const struct rvp_cupti_copy *copy)
{
	struct times times = times_of(batch, copy->start, copy->end);

	PUT(batch, DEVICE_COPY, .start_ns = times.start_ns, .duration_ns = times.duration_ns,
	    .correlation = copy->correlation, .bytes = copy->bytes, .kind = copy->copy_kind,
	    .source_kind = copy->source_kind, .target_kind = copy->target_kind, .device = copy->device,
	    .context = copy->context, .stream = copy->stream, .graph = copy->graph, .node = copy->graph_node,
	    .flaw = times.flaw);
}

static void take_copy_peer(struct rvp_activity_batch *batch, const struct rvp_cupti_copy_peer *copy)
{
	struct times times = times_of(batch, copy->start, copy->end);

	PUT(batch, DEVICE_COPY, .start_ns = times.start_ns, .duration_ns = times.duration_ns,
	    .correlation = copy->correlation, .bytes = copy->bytes, .kind = copy->copy_kind,
	    .source_kind = copy->source_kind, .target_kind = copy->target_kind, .device = copy->device,
	    .context = copy->context, .stream = copy->stream, .from_device = 1 + (uint64_t)copy->source_device,
	    .to_device = 1 + (uint64_t)copy->target_device, .graph = copy->graph, .node = copy->graph_node,
	    .flaw = times.flaw);
}

static void take_set(struct rvp_activity_batch *batch, const struct rvp_cupti_set *set)
{
	struct times times = times_of(batch, set->start, set->end);

	PUT(batch, DEVICE_SET, .start_ns = times.start_ns, .duration_ns = times.duration_ns,
	    .correlation = set->correlation, .bytes = set->bytes, .memory_kind = set->memory_kind,
	    .value = set->value, .device = set->device, .context = set->context, .stream = set->stream,
	    .graph = set->graph, .node = set->graph_node, .flaw = times.flaw);
}

static uint64_t none_is_0(uint32_t number)
{
	return number == UINT32_MAX ? 0 : number;
}

static void take_sync(struct rvp_activity_batch *batch, const struct rvp_cupti_sync *sync)
{
	struct times times = times_of(batch, sync->start, sync->end);

	PUT(batch, DEVICE_SYNC, .start_ns = times.start_ns, .duration_ns = times.duration_ns,
	    .correlation = sync->correlation, .kind = sync->type, .context = sync->context,
	    .stream = none_is_0(sync->stream), .event = none_is_0(sync->event),
	    .result = rvp_cupti.version >= RVP_CUPTI_12_8 ? sync->result : 0, .flaw = times.flaw);
}

static void take_graph_run(struct rvp_activity_batch *batch, const struct rvp_cupti_graph_run *run)
{
	struct times times = times_of(batch, run->start, run->end);
	/* One whose first node is on the host says so by a device that is none: its last node's may be one. */
	bool is_host = run->device == INT32_MAX;
	uint32_t device = !is_host ? run->device : rvp_cupti.version >= RVP_CUPTI_12_8 ? run->end_device : 0;

	PUT(batch, GRAPH_RUN, .start_ns = times.start_ns, .duration_ns = times.duration_ns,
	    .correlation = run->correlation, .graph = run->graph, .device = device == INT32_MAX ? 0 : device,
	    .context = run->context, .stream = run->stream, .flaw = times.flaw);
}

static void take_device_graph_run(struct rvp_activity_batch *batch, const struct rvp_cupti_device_graph_run *run)
{
	struct times times = times_of(batch, run->start, run->end);

	PUT(batch, GRAPH_RUN, .start_ns = times.start_ns, .duration_ns = times.duration_ns, .graph = run->graph,
	    .device = run->device, .context = run->context, .stream = run->stream, .flaw = times.flaw);
}

static void take_call(struct rvp_activity_batch *batch, const struct rvp_cupti_call *call)
{
	uint32_t domain = call->kind == RVP_CUPTI_DRIVER ? RVP_CUPTI_DOMAIN_DRIVER : RVP_CUPTI_DOMAIN_RUNTIME;
	struct times times = times_of(batch, call->start, call->end);
	const char *name = NULL;

	if (rvp_cupti.GetCallbackName)
		rvp_cupti.GetCallbackName(domain, call->cbid, &name);
	PUT(batch, DEVICE_CALL, .start_ns = times.start_ns, .duration_ns = times.duration_ns,
	    .correlation = call->correlation, .function = rvp_interned_name(name), .tid = call->thread,
	    .result = call->result);
}

/* CUPTI allocated what hangs on the record, and its client frees it, by the function that CUPTI's malloc goes with. */
static void free_data(void *data)
{
	if (data)
		free(data);
}

static void take_overhead(struct rvp_activity_batch *batch, const struct rvp_cupti_overhead *overhead)
{
	struct times times = times_of(batch, overhead->start, overhead->end);

	PUT(batch, DEVICE_OVERHEAD, .start_ns = times.start_ns, .duration_ns = times.duration_ns,
	    .kind = overhead->overhead_kind,
	    .tid = overhead->object_kind == RVP_CUPTI_OBJECT_THREAD ? overhead->thread : 0,
	    .correlation = rvp_cupti.version >= RVP_CUPTI_12_2 ? overhead->correlation : 0);
	if (rvp_cupti.version >= RVP_CUPTI_12_8)
		free_data(overhead->data);
}

static void take_stream(const struct rvp_cupti_stream *stream)
{
	rvp_places_stream(stream->context, stream->stream, (int32_t)stream->priority,
			  stream->flag == RVP_CUPTI_STREAM_NON_BLOCKING ? RVP_PLACES_NON_BLOCKING
			  : stream->flag == RVP_CUPTI_STREAM_NULL       ? RVP_PLACES_DEFAULT
									: 0);
}

void rvp_activity_take(struct rvp_activity_batch *batch, const void *record)
{
	switch (*(const uint32_t *)record) {
	case RVP_CUPTI_KERNEL:
	case RVP_CUPTI_CONCURRENT_KERNEL: take_kernel(batch, record); break;
	case RVP_CUPTI_MEMCPY: take_copy(batch, record); break;
	case RVP_CUPTI_MEMCPY_PEER: take_copy_peer(batch, record); break;
	case RVP_CUPTI_MEMSET: take_set(batch, record); break;
	case RVP_CUPTI_SYNCHRONIZATION: take_sync(batch, record); break;
	case RVP_CUPTI_GRAPH_TRACE: take_graph_run(batch, record); break;
	case RVP_CUPTI_DEVICE_GRAPH_TRACE: take_device_graph_run(batch, record); break;
	case RVP_CUPTI_DRIVER:
	case RVP_CUPTI_RUNTIME: take_call(batch, record); break;
	case RVP_CUPTI_OVERHEAD: take_overhead(batch, record); break;
	case RVP_CUPTI_STREAM: take_stream(record); break;
	default: break; /* of a kind that nobody asked for */
	}
}

void rvp_activity_flush(struct rvp_activity_batch *batch)
{
	if (batch->count)
		rvp_recorder->write(batch->records, batch->count);
	batch->count = 0;
	if (batch->flaws)
		rvp_recorder->lose(RVP_LOSS_DEVICE_FLAW, batch->flaws);
	atomic_fetch_add_explicit(&timed_count, batch->all, memory_order_relaxed);
	atomic_fetch_add_explicit(&flawed_count, batch->flaws, memory_order_relaxed);
	batch->all = batch->flaws = 0;
}

void rvp_activity_flaws(uint64_t *all, uint64_t *flawed)
{
	*all = atomic_load_explicit(&timed_count, memory_order_relaxed);
	*flawed = atomic_load_explicit(&flawed_count, memory_order_relaxed);
}
