/* SPDX-License-Identifier: MIT */
/* timeline.c: see timeline.h. A binary heap of streams, and a sorted list of begins and ends beside it. As long as
 * one stream's briefs come before whatever else is next, they are handed out together and the heap is left alone.
 *
 * Invariants
 *   (M1) heap[0] is the stream whose record is earliest; each stream in the heap holds a decoded record.
 *   (M2) is in stream.h.
 *   (M3) A begin comes before, and an end behind, every record of its process (identity.c made the times so).
 */
#include "report/timeline.h"

#include "report/read_ahead.h"
#include "report/stream.h"

#include <stdlib.h>

struct turn { /* a begin or an end */
	uint64_t ns;
	uint32_t process;
	enum rvp_moment_kind kind;
};

struct rvp_timeline {
	const struct rvp_run *run;
	struct rvp_stream *streams;
	uint32_t stream_count, stream_room;
	struct rvp_read_ahead *ahead; /* NULL: one thread does it all */
	uint32_t *heap;
	uint32_t heap_count;
	uint32_t handed; /* of what heap[0]'s stream has at hand: so many were handed out */
	struct rvp_record expanded;
	struct turn *turns;
	size_t turn_count, next_turn;
};

static bool advance(const struct rvp_timeline *timeline, struct rvp_stream *stream)
{
	return rvp_stream_advance(stream, timeline->run);
}

static bool is_before(const struct rvp_stream *a, const struct rvp_stream *b)
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

static struct rvp_stream *add_stream(struct rvp_timeline *timeline)
{
	if (timeline->stream_count == timeline->stream_room) {
		uint32_t room = timeline->stream_room ? timeline->stream_room * 2 : 16;
		struct rvp_stream *more = realloc(timeline->streams, room * sizeof *more);

		if (!more)
			return NULL;
		timeline->streams = more;
		timeline->stream_room = room;
	}
	struct rvp_stream *stream = &timeline->streams[timeline->stream_count++];

	*stream = (struct rvp_stream){0};
	return stream;
}

static bool add_slots(struct rvp_timeline *timeline, const struct rvp_log *log, uint32_t process,
		      uint32_t clock)
{
	for (size_t i = 0, next; i < log->chunk_count; i = next) {
		struct rvp_stream *stream = add_stream(timeline);

		if (!stream)
			return false;
		for (next = i; next < log->chunk_count && log->chunks[next].slot == log->chunks[i].slot;)
			next++;
		stream->process = process;
		stream->source = process != RVP_NO_PROCESS ? timeline->run->processes[process].source : NULL;
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
		struct rvp_stream *stream = add_stream(timeline);

		if (!stream)
			return false;
		stream->process = process;
		stream->clock = clock;
		stream->deferred = &log->deferred[i];
		stream->source = timeline->run->processes[process].source;
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
	if (!add_all(timeline, only)) {
		rvp_timeline_close(timeline);
		return NULL;
	}
	timeline->ahead = rvp_read_ahead_open(run, timeline->streams, timeline->stream_count);
	if (!fill_heap(timeline)) {
		rvp_timeline_close(timeline);
		return NULL;
	}
	return timeline;
}

uint32_t rvp_timeline_streams(const struct rvp_timeline *timeline)
{
	return timeline->stream_count;
}

void rvp_timeline_expect(struct rvp_timeline *timeline, const struct rvp_block_table *tables)
{
	for (uint32_t i = 0; i < timeline->stream_count; i++)
		if (timeline->streams[i].process != RVP_NO_PROCESS)
			timeline->streams[i].expected_in = &tables[timeline->streams[i].process];
}

/* Past what was handed out: all of it but the last are briefs of one batch. */
static void move_on(struct rvp_timeline *timeline)
{
	struct rvp_stream *stream = &timeline->streams[timeline->heap[0]];

	stream->next += timeline->handed - 1;
	timeline->handed = 0;
	if (!advance(timeline, stream))
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

/* The last moment at which a record still comes before the next begin or end. */
static uint64_t last_ns_before_turn(const struct rvp_timeline *timeline)
{
	if (timeline->next_turn == timeline->turn_count)
		return UINT64_MAX;
	const struct turn *turn = &timeline->turns[timeline->next_turn];

	return turn->kind == RVP_MOMENT_BEGIN ? turn->ns - 1 : turn->ns;
}

/* The stream that is next behind heap[0]'s, or NULL. */
static const struct rvp_stream *second(const struct rvp_timeline *timeline)
{
	const struct rvp_stream *left, *right;

	if (timeline->heap_count < 2)
		return NULL;
	left = &timeline->streams[timeline->heap[1]];
	if (timeline->heap_count < 3)
		return left;
	right = &timeline->streams[timeline->heap[2]];
	return is_before(right, left) ? right : left;
}

/* How many of the briefs at hand come one after the other before anything else does; the first one does. */
static uint32_t length_of_run(const struct rvp_timeline *timeline, const struct rvp_stream *stream)
{
	const struct rvp_stream *other = second(timeline);
	const struct rvp_brief *briefs = stream->briefs;
	uint64_t last_ns = last_ns_before_turn(timeline);
	uint64_t sure_ns = other && other->ns <= last_ns ? other->ns - 1 : last_ns;
	uint32_t at = stream->next + 1, count = stream->brief_count;

	/* Most often it is the whole batch. */
	if (briefs[count - 1].ns <= sure_ns)
		return count - stream->next;
	while (at < count && briefs[at].ns <= sure_ns)
		at++;
	while (other && at < count && briefs[at].ns == other->ns && briefs[at].ns <= last_ns &&
	       briefs[at].event.stamp <= other->stamp)
		at++;
	return at - stream->next;
}

static void describe(const struct rvp_timeline *timeline, const struct rvp_stream *stream,
		     struct rvp_moment *moment)
{
	*moment = (struct rvp_moment){
	    .kind = RVP_MOMENT_RECORD,
	    .ns = stream->ns,
	    .process = stream->process,
	    .stream = timeline->heap[0],
	    .tid = stream->deferred ? stream->deferred_tid : stream->chunk->tid,
	    .thread_serial = stream->deferred ? 0 : stream->chunk->thread_serial,
	    .record = &stream->record,
	};
}

size_t rvp_timeline_take(struct rvp_timeline *timeline, struct rvp_moment *moment,
			 const struct rvp_brief **briefs)
{
	*briefs = NULL;
	if (timeline->handed)
		move_on(timeline);
	if (turn_is_next(timeline)) {
		take_turn(timeline, moment);
		return 1;
	}
	if (!timeline->heap_count)
		return 0;
	struct rvp_stream *stream = &timeline->streams[timeline->heap[0]];

	describe(timeline, stream, moment);
	timeline->handed = 1;
	if (stream->next == stream->brief_count)
		return 1;
	timeline->handed = length_of_run(timeline, stream);
	*briefs = &stream->briefs[stream->next];
	return timeline->handed;
}

bool rvp_timeline_next(struct rvp_timeline *timeline, struct rvp_moment *moment)
{
	const struct rvp_brief *brief;

	if (!rvp_timeline_take(timeline, moment, &brief))
		return false;
	if (brief) { /* one of them now, the others by the next calls */
		timeline->handed = 1;
		rvp_brief_expand(brief, &timeline->expanded);
		moment->record = &timeline->expanded;
	}
	return true;
}

void rvp_timeline_close(struct rvp_timeline *timeline)
{
	if (!timeline)
		return;
	rvp_read_ahead_close(timeline->ahead);
	for (uint32_t i = 0; i < timeline->stream_count; i++)
		rvp_stream_close(&timeline->streams[i]);
	free(timeline->streams);
	free(timeline->heap);
	free(timeline->turns);
	free(timeline);
}
