/* SPDX-License-Identifier: MIT */
/* timeline.c: see timeline.h. A binary heap of streams, and a sorted list of begins and ends beside it.
 *
 * Invariants
 *   (M1) heap[0] is the stream whose record is earliest; each stream in the heap holds a decoded record.
 *   (M2) Within a stream time never goes back: a record with an older stamp takes the time of the one before.
 *   (M3) A begin comes before, and an end behind, every record of its process (identity.c made the times so).
 */
#include "report/timeline.h"

#include "record/decode.h"
#include "report/run_source.h"

#include <stdlib.h>

struct stream {
	uint64_t ns, stamp; /* of the record at hand */
	size_t hint;
	const struct rvp_chunk *chunk, *chunks_end; /* chunk: the one at hand */
	const struct rvp_deferred *deferred, *deferred_end;
	uint32_t process, clock;
	uint32_t deferred_tid;
	struct rvp_decoder decoder;
	struct rvp_record record;
};

struct turn { /* a begin or an end */
	uint64_t ns;
	uint32_t process;
	enum rvp_moment_kind kind;
};

struct rvp_timeline {
	const struct rvp_run *run;
	struct stream *streams;
	uint32_t stream_count, stream_room;
	uint32_t *heap;
	uint32_t heap_count;
	bool is_started; /* heap[0]'s record was handed out */
	struct turn *turns;
	size_t turn_count, next_turn;
};

/* Kinds that define something are read by scan.c; what is left has a time and happens. */
static bool happens(enum rvp_kind kind)
{
	switch (kind) {
	case RVP_ALLOC:
	case RVP_SAMPLE:
	case RVP_FREE:
	case RVP_UNFREE:
	case RVP_MAP:
	case RVP_UNMAP:
	case RVP_REMAP:
	case RVP_BREAK:
	case RVP_SNAPSHOT:
	case RVP_REGION:
	case RVP_RESIDENT:
	case RVP_OWN_RANGE:
	case RVP_THREAD:
	case RVP_CGROUP:
	case RVP_WATCH:
	case RVP_MARK:
	case RVP_FORK:
	case RVP_EXEC:
	case RVP_EXIT:
	case RVP_FOLD:
	case RVP_OWN_COST:
	case RVP_FILL:
	case RVP_SCOPE:
	case RVP_TAG:
	case RVP_STEP:
	case RVP_TENSOR:
	case RVP_WRITTEN:
	case RVP_ADAPTER: return true;
	default: return false;
	}
}

static void set_time(const struct rvp_timeline *timeline, struct stream *stream)
{
	uint64_t stamp = stream->record.ALLOC.stamp;
	uint64_t ns = rvp_clock_unix_ns(&timeline->run->source->clock, stream->clock, stamp, &stream->hint);

	if (ns >= stream->ns)
		stream->ns = ns;
	if (stamp > stream->stamp)
		stream->stamp = stamp;
}

static void number_paths(const struct rvp_timeline *timeline, struct stream *stream)
{
	if (stream->process != RVP_NO_PROCESS)
		rvp_number_paths(timeline->run->processes[stream->process].source, &stream->record);
}

static bool advance_deferred(const struct rvp_timeline *timeline, struct stream *stream)
{
	const struct rvp_deferred *event = stream->deferred;

	if (event == stream->deferred_end)
		return false;
	stream->deferred++;
	stream->record = (struct rvp_record){.kind = event->kind == RVP_FREE ? RVP_FREE : RVP_ALLOC};
	if (event->kind == RVP_FREE)
		stream->record.FREE = (struct rvp_record_FREE){event->stamp, event->address, event->family};
	else
		stream->record.ALLOC = (struct rvp_record_ALLOC){.stamp = event->stamp,
								 .address = event->address,
								 .bytes = event->bytes,
								 .family = event->family};
	set_time(timeline, stream);
	return true;
}

static bool advance(const struct rvp_timeline *timeline, struct stream *stream)
{
	if (stream->deferred_end)
		return advance_deferred(timeline, stream);
	for (;;) {
		while (rvp_decode_next(&stream->decoder, &stream->record))
			if (happens(stream->record.kind)) {
				number_paths(timeline, stream);
				set_time(timeline, stream);
				return true;
			}
		if (++stream->chunk >= stream->chunks_end)
			return false;
		stream->decoder = rvp_decoder_over(stream->chunk->payload, stream->chunk->payload_bytes);
	}
}

static bool is_before(const struct stream *a, const struct stream *b)
{
	return a->ns != b->ns ? a->ns < b->ns : a->stamp < b->stamp;
}

static void sink(struct rvp_timeline *timeline, uint32_t at)
{
	uint32_t *heap = timeline->heap, moving = heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= timeline->heap_count)
			break;
		if (child + 1 < timeline->heap_count &&
		    is_before(&timeline->streams[heap[child + 1]], &timeline->streams[heap[child]]))
			child++;
		if (!is_before(&timeline->streams[heap[child]], &timeline->streams[moving]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

static struct stream *add_stream(struct rvp_timeline *timeline)
{
	if (timeline->stream_count == timeline->stream_room) {
		uint32_t room = timeline->stream_room ? timeline->stream_room * 2 : 16;
		struct stream *more = realloc(timeline->streams, room * sizeof *more);

		if (!more)
			return NULL;
		timeline->streams = more;
		timeline->stream_room = room;
	}
	struct stream *stream = &timeline->streams[timeline->stream_count++];

	*stream = (struct stream){0};
	return stream;
}

static bool add_slots(struct rvp_timeline *timeline, const struct rvp_log *log, uint32_t process,
		      uint32_t clock)
{
	for (size_t i = 0, next; i < log->chunk_count; i = next) {
		struct stream *stream = add_stream(timeline);

		if (!stream)
			return false;
		for (next = i; next < log->chunk_count && log->chunks[next].slot == log->chunks[i].slot;)
			next++;
		stream->process = process;
		stream->clock = clock;
		stream->chunk = &log->chunks[i];
		stream->chunks_end = &log->chunks[next];
		stream->decoder = rvp_decoder_over(log->chunks[i].payload, log->chunks[i].payload_bytes);
	}
	return true;
}

/* Each deferred event is a stream of its own: those of one slot may be in any order. */
static bool add_deferred(struct rvp_timeline *timeline, const struct rvp_log *log, uint32_t process,
			 uint32_t clock)
{
	for (size_t i = 0; i < log->deferred_count; i++) {
		if (log->deferred[i].kind != RVP_ALLOC && log->deferred[i].kind != RVP_FREE)
			continue;
		struct stream *stream = add_stream(timeline);

		if (!stream)
			return false;
		stream->process = process;
		stream->clock = clock;
		stream->deferred = &log->deferred[i];
		stream->deferred_end = stream->deferred + 1;
		stream->deferred_tid = log->deferred_tid[i];
	}
	return true;
}

static int compare_turns(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind == RVP_MOMENT_BEGIN ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

static bool add_turns(struct rvp_timeline *timeline)
{
	const struct rvp_run *run = timeline->run;

	timeline->turns = calloc(run->process_count * 2 + 1, sizeof *timeline->turns);
	if (!timeline->turns)
		return false;
	for (uint32_t i = 0; i < run->process_count; i++) {
		const struct rvp_process *process = &run->processes[i];

		timeline->turns[timeline->turn_count++] =
		    (struct turn){process->begin_ns, i, RVP_MOMENT_BEGIN};
		if (process->end != RVP_END_ALIVE)
			timeline->turns[timeline->turn_count++] =
			    (struct turn){process->end_ns, i, RVP_MOMENT_END};
	}
	qsort(timeline->turns, timeline->turn_count, sizeof *timeline->turns, compare_turns);
	return true;
}

static bool add_all(struct rvp_timeline *timeline, uint32_t only)
{
	const struct rvp_run *run = timeline->run;

	for (uint32_t i = 0; i < run->process_count; i++) {
		const struct rvp_process *process = &run->processes[i];

		if (!process->source->has_log || (only != RVP_NO_PROCESS && only != i))
			continue;
		if (!add_slots(timeline, &process->source->log, i, process->clock) ||
		    !add_deferred(timeline, &process->source->log, i, process->clock))
			return false;
	}
	if (only != RVP_NO_PROCESS)
		return true;
	if (run->source->has_watch &&
	    !add_slots(timeline, &run->source->watch, RVP_NO_PROCESS, (uint32_t)run->source->watch_clock))
		return false;
	return add_turns(timeline);
}

static bool fill_heap(struct rvp_timeline *timeline)
{
	timeline->heap = calloc(timeline->stream_count + 1, sizeof *timeline->heap);
	if (!timeline->heap)
		return false;
	for (uint32_t i = 0; i < timeline->stream_count; i++)
		if (advance(timeline, &timeline->streams[i]))
			timeline->heap[timeline->heap_count++] = i;
	for (uint32_t i = timeline->heap_count / 2; i-- > 0;)
		sink(timeline, i);
	return true;
}

struct rvp_timeline *rvp_timeline_open(const struct rvp_run *run, uint32_t only)
{
	struct rvp_timeline *timeline = calloc(1, sizeof *timeline);

	if (!timeline)
		return NULL;
	timeline->run = run;
	if (!add_all(timeline, only) || !fill_heap(timeline)) {
		rvp_timeline_close(timeline);
		return NULL;
	}
	return timeline;
}

uint32_t rvp_timeline_streams(const struct rvp_timeline *timeline)
{
	return timeline->stream_count;
}

static void move_on(struct rvp_timeline *timeline)
{
	if (!advance(timeline, &timeline->streams[timeline->heap[0]]))
		timeline->heap[0] = timeline->heap[--timeline->heap_count];
	if (timeline->heap_count)
		sink(timeline, 0);
}

/* Whether a begin or an end comes before the earliest record: a begin at its very moment, an end not. */
static bool turn_is_next(const struct rvp_timeline *timeline)
{
	if (timeline->next_turn == timeline->turn_count)
		return false;
	if (!timeline->heap_count)
		return true;
	const struct turn *turn = &timeline->turns[timeline->next_turn];
	uint64_t ns = timeline->streams[timeline->heap[0]].ns;

	return turn->kind == RVP_MOMENT_BEGIN ? turn->ns <= ns : turn->ns < ns;
}

static void take_turn(struct rvp_timeline *timeline, struct rvp_moment *moment)
{
	const struct turn *turn = &timeline->turns[timeline->next_turn++];

	*moment = (struct rvp_moment){.kind = turn->kind, .ns = turn->ns, .process = turn->process};
}

bool rvp_timeline_next(struct rvp_timeline *timeline, struct rvp_moment *moment)
{
	if (timeline->is_started)
		move_on(timeline);
	timeline->is_started = false;
	if (turn_is_next(timeline)) {
		take_turn(timeline, moment);
		return true;
	}
	if (!timeline->heap_count)
		return false;
	struct stream *stream = &timeline->streams[timeline->heap[0]];

	timeline->is_started = true;
	*moment = (struct rvp_moment){
	    .kind = RVP_MOMENT_RECORD,
	    .ns = stream->ns,
	    .process = stream->process,
	    .stream = timeline->heap[0],
	    .tid = stream->deferred_end ? stream->deferred_tid : stream->chunk->tid,
	    .thread_serial = stream->deferred_end ? 0 : stream->chunk->thread_serial,
	    .record = &stream->record,
	};
	return true;
}

void rvp_timeline_close(struct rvp_timeline *timeline)
{
	if (!timeline)
		return;
	free(timeline->streams);
	free(timeline->heap);
	free(timeline->turns);
	free(timeline);
}
