/* SPDX-License-Identifier: MIT */
/* stream.c: see stream.h. */
#include "report/stream.h"

#include "report/read_ahead.h"

#include <stdlib.h>

/* Kinds that define something are read by scan.c; what is left has a time and happens. */
static const bool happens[RVP_KIND_COUNT] = {
    [RVP_ALLOC] = true,	    [RVP_SAMPLE] = true,   [RVP_FREE] = true,	  [RVP_UNFREE] = true,
    [RVP_MAP] = true,	    [RVP_UNMAP] = true,	   [RVP_REMAP] = true,	  [RVP_BREAK] = true,
    [RVP_SNAPSHOT] = true,  [RVP_REGION] = true,   [RVP_RESIDENT] = true, [RVP_OWN_RANGE] = true,
    [RVP_THREAD] = true,    [RVP_CGROUP] = true,   [RVP_WATCH] = true,	  [RVP_MARK] = true,
    [RVP_FORK] = true,	    [RVP_EXEC] = true,	   [RVP_EXIT] = true,	  [RVP_FOLD] = true,
    [RVP_OWN_COST] = true,  [RVP_FILL] = true,	   [RVP_SCOPE] = true,	  [RVP_TAG] = true,
    [RVP_STEP] = true,	    [RVP_TENSOR] = true,   [RVP_WRITTEN] = true,  [RVP_ADAPTER] = true,
    [RVP_ROWS] = true,	    [RVP_PYTHON_CALL] = true, [RVP_BLAS_CALL] = true, [RVP_TIMER] = true,
    [RVP_DEVICE_CONTEXT] = true, [RVP_DEVICE_ALLOC] = true, [RVP_DEVICE_FREE] = true, [RVP_DEVICE_UNFREE] = true,
    [RVP_DEVICE_MAP] = true, [RVP_DEVICE_UNMAP] = true, [RVP_DEVICE_POOL] = true, [RVP_DEVICE_MEMORY] = true,
    [RVP_DEVICE_REFUSED] = true, [RVP_DEVICE_TENSOR] = true,
};

static inline uint64_t ns_of(struct rvp_stream *stream, const struct rvp_run *run, uint64_t stamp)
{
	uint64_t ns = rvp_clock_ns_in(&stream->segment, &run->source->clock, stream->clock, stamp);

	if (ns > stream->last_ns)
		stream->last_ns = ns;
	return stream->last_ns;
}

static inline uint32_t path_at(const uint32_t *number_of, size_t count, uint32_t number)
{
	if (!number_of)
		return number;
	return number < count ? number_of[number] : 0;
}

static inline void number_paths(const struct rvp_stream *stream, struct rvp_compact_event *event)
{
	const struct rvp_process_source *source = stream->source;

	event->stack = path_at(source->node_numbers, source->node_numbers_count, event->stack);
	event->python = path_at(source->python_numbers, source->python_numbers_count, event->python);
}

/* The record behind the briefs. */
static void set_record(struct rvp_stream *stream, const struct rvp_run *run)
{
	uint64_t stamp = stream->record.ALLOC.stamp;

	if (stream->source)
		rvp_number_paths(stream->source, &stream->record);
	ns_of(stream, run, stamp);
	if (stamp > stream->last_stamp)
		stream->last_stamp = stamp;
	stream->has_record = true;
}

/* What stands still or goes on in time; what goes back is a record of its own. */
static bool add_brief(struct rvp_stream *stream, const struct rvp_run *run)
{
	struct rvp_brief *brief = &stream->briefs[stream->brief_count];
	struct rvp_compact_event *event = &brief->event;

	if (stream->expected_in)
		rvp_block_expect(stream->expected_in, event->address);
	if (stream->is_renumbered && event->is_alloc)
		number_paths(stream, event);
	if (event->stamp != stream->last_stamp) {
		if (event->stamp < stream->last_stamp)
			return false;
		ns_of(stream, run, event->stamp);
		stream->last_stamp = event->stamp;
	}
	brief->ns = stream->last_ns;
	stream->brief_count++;
	return true;
}

static void turn_into_record(struct rvp_stream *stream, const struct rvp_run *run)
{
	rvp_brief_expand(&stream->briefs[stream->brief_count], &stream->record);
	ns_of(stream, run, stream->record.ALLOC.stamp);
	stream->has_record = true;
}

/* Compact events, as many as come one after the other. False: the last one is a record. */
static bool decode_briefs(struct rvp_stream *stream, const struct rvp_run *run)
{
	struct rvp_decoder decoder = stream->decoder; /* here no other pointer can change it */
	bool is_done = true;

	while (is_done && stream->brief_count < RVP_BRIEFS_MAX &&
	       rvp_decode_event(&decoder, &stream->briefs[stream->brief_count].event))
		is_done = add_brief(stream, run);
	stream->decoder = decoder;
	if (!is_done)
		turn_into_record(stream, run);
	return is_done;
}

/* Until a record that is no brief, the end of the chunk, or as many as there is room for. */
static void decode_batch(struct rvp_stream *stream, const struct rvp_run *run)
{
	stream->next = stream->brief_count = 0;
	stream->is_renumbered = stream->source && (stream->source->node_numbers || stream->source->python_numbers);
	for (;;) {
		if (stream->briefs && (!decode_briefs(stream, run) || stream->brief_count == RVP_BRIEFS_MAX))
			return;
		if (!rvp_decode_next(&stream->decoder, &stream->record))
			return;
		if (happens[stream->record.kind]) {
			set_record(stream, run);
			return;
		}
	}
}

/* The watcher's slots have no allocs; without memory all is decoded one by one. */
static void make_room(struct rvp_stream *stream)
{
	if (!stream->briefs && stream->last_ns && stream->source)
		stream->briefs = malloc(RVP_BRIEFS_MAX * sizeof *stream->briefs);
}

bool rvp_stream_decode(struct rvp_stream *stream, const struct rvp_run *run)
{
	stream->has_record = false;
	for (;;) {
		decode_batch(stream, run);
		if (stream->brief_count || stream->has_record)
			return true;
		if (stream->source)
			rvp_chunk_let_go(&stream->source->log, stream->chunk);
		if (++stream->chunk >= stream->chunks_end)
			return false;
		stream->decoder = rvp_decoder_over(stream->chunk->payload, stream->chunk->payload_bytes);
	}
}

static bool refill(struct rvp_stream *stream, const struct rvp_run *run)
{
	if (stream->lane)
		return rvp_read_ahead_take(stream->lane, stream);
	make_room(stream);
	if (rvp_stream_decode(stream, run))
		return true;
	rvp_stream_close(stream);
	return false;
}

static bool advance_deferred(struct rvp_stream *stream, const struct rvp_run *run)
{
	const struct rvp_deferred *event = stream->deferred;
	struct rvp_brief brief = {.event = {.stamp = event->stamp,
					    .address = event->address,
					    .bytes = event->bytes,
					    .is_alloc = event->kind != RVP_FREE,
					    .family = (uint8_t)event->family}};

	if (stream->has_record)
		return false;
	rvp_brief_expand(&brief, &stream->record);
	set_record(stream, run);
	stream->ns = stream->last_ns;
	stream->stamp = stream->last_stamp;
	return true;
}

bool rvp_stream_advance(struct rvp_stream *stream, const struct rvp_run *run)
{
	if (stream->deferred)
		return advance_deferred(stream, run);
	if (stream->next < stream->brief_count)
		stream->next++;
	else
		stream->has_record = false;
	if (stream->next == stream->brief_count && !stream->has_record && !refill(stream, run))
		return false;
	if (stream->next < stream->brief_count) {
		stream->ns = stream->briefs[stream->next].ns;
		stream->stamp = stream->briefs[stream->next].event.stamp;
	} else {
		stream->ns = stream->last_ns;
		stream->stamp = stream->last_stamp;
	}
	return true;
}

void rvp_stream_close(struct rvp_stream *stream)
{
	if (!stream->lane)
		free(stream->briefs);
	stream->briefs = NULL;
}
