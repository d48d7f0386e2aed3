/* SPDX-License-Identifier: MIT */
/* kernels_piece.c: see kernels_piece.h. */
#include "report/kernels_piece.h"

#include "report/run_source.h"

static uint32_t narrow(uint64_t value)
{
	return value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* ---- time ---- */

struct rvp_piece_clock rvp_piece_clock_of(const struct rvp_run *run, uint32_t process)
{
	struct rvp_piece_clock clock = {
	    .run = run, .defs = rvp_kernel_defs_of(&run->processes[process]), .first_device_ns = UINT64_MAX};

	if (!clock.defs)
		return clock;
	clock.is_tied = clock.defs->clock.is_tied;
	for (size_t i = 0; i < clock.defs->place_count; i++)
		if (clock.defs->places[i].first_device_ns < clock.first_device_ns)
			clock.first_device_ns = clock.defs->places[i].first_device_ns;
	return clock;
}

static uint64_t unix_of_device(const struct rvp_piece_clock *clock, uint64_t device_ns, size_t *hint)
{
	if (clock->is_tied)
		return rvp_device_unix_ns(&clock->defs->clock, device_ns, hint);
	return clock->run->begin_ns + (device_ns - clock->first_device_ns);
}

static uint64_t early(uint64_t ns, uint64_t by_ns)
{
	return ns > by_ns ? ns - by_ns : 0;
}

static void widen(struct rvp_piece_span *span, uint64_t first_key, uint64_t last_key)
{
	span->first_key = first_key < span->first_key ? first_key : span->first_key;
	span->last_key = last_key > span->last_key ? last_key : span->last_key;
}

/* A launch whose time can't be compared with the device's comes before all work. */
static uint64_t launch_key(const struct rvp_piece_clock *clock, uint64_t ns)
{
	return clock->is_tied ? early(ns, rvp_host_lead_ns) : 0;
}

struct rvp_piece_span rvp_piece_span(const struct rvp_piece_clock *clock, uint32_t process,
				     const struct rvp_kernel_place *place)
{
	const struct rvp_process *of = &clock->run->processes[process];
	uint64_t slack_ns = clock->defs->clock.slack_ns;
	struct rvp_piece_span span = {.first_key = UINT64_MAX};
	size_t hint = 0;

	if (place->first_device_ns <= place->last_device_ns)
		widen(
		    &span,
		    early(unix_of_device(clock, place->first_device_ns, &hint), slack_ns + rvp_host_lead_ns),
		    unix_of_device(clock, place->last_device_ns, &hint) + slack_ns);
	if (place->first_stamp <= place->last_stamp)
		widen(&span, launch_key(clock, rvp_process_ns(clock->run, of, place->first_stamp)),
		      rvp_process_ns(clock->run, of, place->last_stamp));
	return span;
}

/* ---- records ---- */

static void take_launch(struct rvp_activity *piece, const struct rvp_record_LAUNCH *record)
{
	piece->duration_ns = record->duration_ns;
	piece->correlation = record->correlation;
	piece->number = narrow(record->function);
	piece->stack = narrow(record->stack);
	piece->python = narrow(record->python);
	piece->bytes = record->stands_for ? record->stands_for : 1;
}

static void take_call(struct rvp_activity *piece, const struct rvp_record_DEVICE_CALL *record)
{
	piece->duration_ns = record->duration_ns;
	piece->correlation = record->correlation;
	piece->number = narrow(record->function);
	piece->tid = narrow(record->tid);
	piece->result = narrow(record->result);
}

static void take_kernel(struct rvp_activity *piece, const struct rvp_record_KERNEL *record,
			const struct rvp_kernel_defs *defs)
{
	const struct rvp_kernel_shape *shape = rvp_kernel_shape_at(defs, record->shape);

	piece->duration_ns = record->duration_ns;
	piece->correlation = record->correlation;
	piece->number = narrow(record->shape);
	piece->stream = narrow(record->stream);
	piece->graph = narrow(record->graph);
	piece->node = record->node;
	piece->queued_ns = record->queued_ns;
	piece->submitted_ns = record->submitted_ns;
	piece->device = shape ? shape->device : 0;
	piece->context = shape ? shape->context : 0;
	piece->has_device = true;
}

static void take_copy(struct rvp_activity *piece, const struct rvp_record_DEVICE_COPY *record)
{
	piece->duration_ns = record->duration_ns;
	piece->correlation = record->correlation;
	piece->bytes = record->bytes;
	piece->copy_kind = (uint8_t)record->kind;
	piece->source_kind = (uint8_t)record->source_kind;
	piece->target_kind = (uint8_t)record->target_kind;
	piece->device = narrow(record->device);
	piece->context = narrow(record->context);
	piece->stream = narrow(record->stream);
	piece->from_device = narrow(record->from_device);
	piece->to_device = narrow(record->to_device);
	piece->graph = narrow(record->graph);
	piece->node = record->node;
	piece->has_device = true;
}

static void take_set(struct rvp_activity *piece, const struct rvp_record_DEVICE_SET *record)
{
	piece->duration_ns = record->duration_ns;
	piece->correlation = record->correlation;
	piece->bytes = record->bytes;
	piece->number = narrow(record->value);
	piece->target_kind = (uint8_t)record->memory_kind;
	piece->device = narrow(record->device);
	piece->context = narrow(record->context);
	piece->stream = narrow(record->stream);
	piece->graph = narrow(record->graph);
	piece->node = record->node;
	piece->has_device = true;
}

static void take_sync(struct rvp_activity *piece, const struct rvp_record_DEVICE_SYNC *record)
{
	piece->duration_ns = record->duration_ns;
	piece->correlation = record->correlation;
	piece->number = narrow(record->kind);
	piece->context = narrow(record->context);
	piece->stream = narrow(record->stream);
	piece->queued_ns = record->event;
	piece->result = narrow(record->result);
}

static void take_graph_run(struct rvp_activity *piece, const struct rvp_record_GRAPH_RUN *record)
{
	piece->duration_ns = record->duration_ns;
	piece->correlation = record->correlation;
	piece->graph = narrow(record->graph);
	piece->device = narrow(record->device);
	piece->context = narrow(record->context);
	piece->stream = narrow(record->stream);
	piece->has_device = true;
}

static void take_overhead(struct rvp_activity *piece, const struct rvp_record_DEVICE_OVERHEAD *record)
{
	piece->duration_ns = record->duration_ns;
	piece->correlation = record->correlation;
	piece->number = narrow(record->kind);
	piece->tid = narrow(record->tid);
}

static bool take(struct rvp_piece_reader *reader, struct rvp_activity *piece)
{
	const struct rvp_record *record = &reader->record;

	switch (record->kind) {
	case RVP_LAUNCH: take_launch(piece, &record->LAUNCH); return true;
	case RVP_DEVICE_CALL: take_call(piece, &record->DEVICE_CALL); return true;
	case RVP_KERNEL: take_kernel(piece, &record->KERNEL, reader->clock->defs); return true;
	case RVP_DEVICE_COPY: take_copy(piece, &record->DEVICE_COPY); return true;
	case RVP_DEVICE_SET: take_set(piece, &record->DEVICE_SET); return true;
	case RVP_DEVICE_SYNC: take_sync(piece, &record->DEVICE_SYNC); return true;
	case RVP_GRAPH_RUN: take_graph_run(piece, &record->GRAPH_RUN); return true;
	case RVP_DEVICE_OVERHEAD: take_overhead(piece, &record->DEVICE_OVERHEAD); return true;
	default: return false;
	}
}

/* ---- pieces ---- */

static uint64_t time_launch(struct rvp_piece_reader *reader, struct rvp_activity *piece)
{
	const struct rvp_piece_clock *clock = reader->clock;
	const struct rvp_process *process = &clock->run->processes[reader->process];

	piece->start_ns = rvp_process_ns(clock->run, process, reader->record.LAUNCH.stamp);
	piece->has_start = true;
	piece->end_ns = piece->start_ns + piece->duration_ns;
	piece->tid = reader->tid;
	return launch_key(clock, piece->start_ns);
}

/* Where the clock was set meanwhile, by the duration; one that no 64 bits hold is none. */
static uint64_t end_of_work(struct rvp_piece_reader *reader, const struct rvp_activity *piece, uint64_t end_ns)
{
	uint64_t unix_ns = unix_of_device(reader->clock, end_ns, &reader->device_hint);

	if (unix_ns >= piece->start_ns && end_ns >= piece->duration_ns)
		return unix_ns;
	unix_ns = piece->start_ns + piece->duration_ns;
	return unix_ns >= piece->start_ns ? unix_ns : piece->start_ns;
}

static uint64_t time_work(struct rvp_piece_reader *reader, struct rvp_activity *piece)
{
	uint64_t start_ns = reader->record.KERNEL.start_ns, flaw = rvp_work_flaw(&reader->record);

	piece->flaw = (uint8_t)(flaw < RVP_DEVICE_FLAW_COUNT ? flaw : RVP_DEVICE_FLAW_ZERO_TIME);
	if (rvp_is_timeless(start_ns, flaw))
		return UINT64_MAX;
	piece->has_start = true;
	piece->start_ns = unix_of_device(reader->clock, start_ns, &reader->device_hint);
	piece->end_ns = end_of_work(reader, piece, start_ns + piece->duration_ns);
	return piece->kind == RVP_DEVICE_CALL ? early(piece->start_ns, rvp_host_lead_ns) : piece->start_ns;
}

struct rvp_piece_reader rvp_piece_reader_over(uint32_t process, const struct rvp_chunk *chunk,
					      const struct rvp_piece_clock *clock)
{
	return (struct rvp_piece_reader){.decoder = rvp_decoder_over(chunk->payload, chunk->payload_bytes),
					 .clock = clock,
					 .process = process,
					 .tid = chunk->tid};
}

bool rvp_piece_next(struct rvp_piece_reader *reader, struct rvp_activity *piece, uint64_t *key)
{
	do {
		if (!rvp_decode_next(&reader->decoder, &reader->record))
			return false;
		*piece =
		    (struct rvp_activity){.process = reader->process, .kind = (uint8_t)reader->record.kind};
	} while (!take(reader, piece));
	if (reader->record.kind == RVP_LAUNCH) {
		*key = time_launch(reader, piece);
		rvp_number_paths(reader->clock->run->processes[reader->process].source, &reader->record);
		piece->stack = narrow(reader->record.LAUNCH.stack);
		piece->python = narrow(reader->record.LAUNCH.python);
	} else {
		*key = time_work(reader, piece);
	}
	return true;
}
