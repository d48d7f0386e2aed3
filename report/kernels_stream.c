/* SPDX-License-Identifier: MIT */
/* kernels_stream.c: see kernels_stream.h.
 *
 * As long as the log is nearly in order every place is read once: what is earlier than anything in the places
 * that are still to be read is handed out, the rest is carried on. Where the carried rest gets larger than a
 * window, windows are picked one by one, and a place is read for each that it reaches into (is_wild).
 *
 * Invariants
 *   (KS1) Pieces are ordered by (key, place, position): a total order, so that each is in exactly one window.
 *   (KS2) places are sorted by first key; behind the first place whose first key is beyond the window none
 * matters. Pieces without a time are in none: behind the last window they are handed out a place at a time.
 *   (KS3) `after` is the last piece that was handed out; a window holds only what is behind it.
 */
#include "report/kernels_stream.h"

#include "report/kernels_order.h"
#include "report/kernels_piece.h"
#include "report/run_source.h"

#include <stdlib.h>
#include <string.h>

enum { READ_TOO_OFTEN = 6 };

struct place {
	uint64_t first_key, last_key;
	const struct rvp_chunk *chunk;
	uint32_t process;
	bool has_timeless;
};

/* Where a piece stands in the order. */
struct position {
	uint64_t key, serial; /* serial: place << 32 | number in it */
};

struct rvp_kernel_stream {
	const struct rvp_run *run;
	struct rvp_piece_clock *clocks; /* by process */
	struct place *places;
	size_t place_count, first_live;
	size_t next_place;                   /* the first one that was not read, unless is_wild */
	struct rvp_activity *pieces, *spare; /* 2 windows, 1 window */
	struct rvp_order_key *keys, *spare_keys;
	uint64_t *serials, *spare_serials;
	size_t window, count, next;
	size_t ready; /* of count: so many may be handed out */
	struct position after, limit;
	bool has_after, has_limit, in_timeless, is_wild, is_over, no_memory;
	size_t next_timeless; /* place */
	uint64_t decoded, handed;
	size_t room;
};

static bool is_behind(struct position a, struct position b)
{
	return a.key != b.key ? a.key > b.key : a.serial > b.serial;
}

/* ---- places ---- */

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->first_key != b->first_key)
		return a->first_key < b->first_key ? -1 : 1;
	return a->chunk->payload < b->chunk->payload ? -1 : a->chunk->payload > b->chunk->payload;
}

static void set_span(struct rvp_kernel_stream *stream, struct place *place,
		     const struct rvp_kernel_place *told)
{
	struct rvp_piece_span span = rvp_piece_span(&stream->clocks[place->process], place->process, told);

	place->first_key = span.first_key;
	place->last_key = span.last_key;
}

static bool add_places(struct rvp_kernel_stream *stream)
{
	size_t count = 0;

	for (size_t i = 0; i < stream->run->process_count; i++) {
		const struct rvp_kernel_defs *defs = rvp_kernel_defs_of(&stream->run->processes[i]);

		count += defs ? defs->place_count : 0;
	}
	stream->places = calloc(count + 1, sizeof *stream->places);
	for (uint32_t i = 0; stream->places && i < stream->run->process_count; i++) {
		const struct rvp_process *process = &stream->run->processes[i];
		const struct rvp_kernel_defs *defs = rvp_kernel_defs_of(process);

		for (size_t k = 0; defs && k < defs->place_count; k++) {
			struct place *place = &stream->places[stream->place_count++];

			*place = (struct place){.chunk = &process->source->log.chunks[defs->places[k].chunk],
						.process = i,
						.has_timeless = defs->places[k].has_timeless};
			set_span(stream, place, &defs->places[k]);
		}
	}
	if (stream->place_count)
		qsort(stream->places, stream->place_count, sizeof *stream->places, compare_places);
	return stream->places != NULL;
}

/* ---- a window ---- */

static void free_room(struct rvp_kernel_stream *stream)
{
	free(stream->pieces);
	free(stream->spare);
	free(stream->keys);
	free(stream->spare_keys);
	free(stream->serials);
	free(stream->spare_serials);
}

static bool make_room(struct rvp_kernel_stream *stream)
{
	size_t room = 2 * stream->window;

	if (stream->room >= room)
		return true;
	free_room(stream);
	stream->pieces = malloc(room * sizeof *stream->pieces);
	stream->spare = malloc(stream->window * sizeof *stream->spare);
	stream->keys = malloc(room * sizeof *stream->keys);
	stream->spare_keys = malloc(room * sizeof *stream->spare_keys);
	stream->serials = malloc(room * sizeof *stream->serials);
	stream->spare_serials = malloc(stream->window * sizeof *stream->spare_serials);
	stream->room = stream->pieces && stream->spare && stream->keys && stream->spare_keys &&
			       stream->serials && stream->spare_serials
			   ? room
			   : 0;
	return stream->room != 0;
}

/* Keeps the earliest window of what is there: what is behind it waits for another window. */
static void cut(struct rvp_kernel_stream *stream)
{
	struct rvp_activity *pieces = stream->pieces;
	size_t kept = stream->window;

	rvp_order(stream->keys, stream->spare_keys, stream->count);
	for (size_t i = 0; i < kept; i++) {
		stream->spare[i] = pieces[stream->keys[i].number];
		stream->spare_serials[i] = stream->serials[stream->keys[i].number];
	}
	stream->limit = (struct position){stream->keys[kept - 1].key, stream->spare_serials[kept - 1]};
	stream->has_limit = true;
	for (size_t i = 0; i < kept; i++) {
		pieces[i] = stream->spare[i];
		stream->serials[i] = stream->spare_serials[i];
		stream->keys[i].number = (uint32_t)i;
	}
	stream->count = kept;
}

/* False: it belongs to another window. */
static bool is_wanted(const struct rvp_kernel_stream *stream, struct position position)
{
	return (!stream->has_after || is_behind(position, stream->after)) &&
	       (!stream->has_limit || is_behind(stream->limit, position));
}

static void read_place(struct rvp_kernel_stream *stream, size_t number)
{
	const struct place *place = &stream->places[number];
	struct rvp_piece_reader reader =
	    rvp_piece_reader_over(place->process, place->chunk, &stream->clocks[place->process]);
	struct position position = {.serial = (uint64_t)number << 32};

	while (rvp_piece_next(&reader, &stream->pieces[stream->count], &position.key)) {
		position.serial++;
		stream->decoded++;
		if (stream->pieces[stream->count].has_start == stream->in_timeless ||
		    (!stream->in_timeless && !is_wanted(stream, position)))
			continue;
		stream->keys[stream->count] = (struct rvp_order_key){position.key, (uint32_t)stream->count};
		stream->serials[stream->count++] = position.serial;
		if (stream->count == 2 * stream->window)
			cut(stream);
	}
}

static void grow_where_reading_is_dear(struct rvp_kernel_stream *stream)
{
	if (stream->decoded > READ_TOO_OFTEN * (stream->handed + stream->window) &&
	    stream->window < RVP_WINDOW_MAX)
		stream->window *= 2;
}

static bool fill_window(struct rvp_kernel_stream *stream)
{
	grow_where_reading_is_dear(stream);
	if (!make_room(stream)) {
		stream->no_memory = true;
		return false;
	}
	stream->count = stream->next = 0;
	stream->has_limit = false;
	while (stream->has_after && stream->first_live < stream->place_count &&
	       stream->places[stream->first_live].last_key < stream->after.key)
		stream->first_live++;
	for (size_t i = stream->first_live; i < stream->place_count; i++) {
		if (stream->has_limit && stream->places[i].first_key > stream->limit.key)
			break;
		if (!stream->has_after || stream->places[i].last_key >= stream->after.key)
			read_place(stream, i);
	}
	rvp_order(stream->keys, stream->spare_keys, stream->count);
	/* More than a window is as good: all that is there is the earliest. */
	stream->ready = stream->count;
	return stream->count > 0;
}

/* What was not handed out moves to the front. */
static void carry(struct rvp_kernel_stream *stream)
{
	size_t count = stream->count - stream->next;

	for (size_t i = 0; i < count; i++) {
		stream->spare[i] = stream->pieces[stream->keys[stream->next + i].number];
		stream->spare_serials[i] = stream->serials[stream->keys[stream->next + i].number];
		stream->keys[i].key = stream->keys[stream->next + i].key;
		stream->keys[i].number = (uint32_t)i;
	}
	if (count) {
		memcpy(stream->pieces, stream->spare, count * sizeof *stream->pieces);
		memcpy(stream->serials, stream->spare_serials, count * sizeof *stream->serials);
	}
	stream->count = count;
	stream->next = 0;
}

/* How many are earlier than all that is still to be read. */
static size_t count_ready(const struct rvp_kernel_stream *stream)
{
	size_t low = 0, high = stream->count;

	if (stream->next_place == stream->place_count)
		return stream->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stream->keys[middle].key < stream->places[stream->next_place].first_key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* False: nothing is left, or it is too wild for this way. */
static bool fill_in_order(struct rvp_kernel_stream *stream)
{
	carry(stream);
	while (stream->next_place < stream->place_count && stream->count < stream->window)
		read_place(stream, stream->next_place++);
	rvp_order(stream->keys, stream->spare_keys, stream->count);
	stream->ready = count_ready(stream);
	if (stream->has_limit || stream->count - stream->ready >= stream->window) {
		stream->is_wild = true;
		return false;
	}
	return stream->ready > 0;
}

/* A carried rest is below a window, and so is what one place adds to it. */
static bool fill(struct rvp_kernel_stream *stream)
{
	if (!stream->is_wild && !make_room(stream)) {
		stream->no_memory = true;
		return false;
	}
	return (!stream->is_wild && fill_in_order(stream)) || (stream->is_wild && fill_window(stream));
}

/* A chunk has fewer records than a window. */
static bool fill_timeless(struct rvp_kernel_stream *stream)
{
	stream->in_timeless = true;
	stream->count = stream->next = 0;
	while (!stream->count && stream->next_timeless < stream->place_count) {
		if (stream->places[stream->next_timeless].has_timeless)
			read_place(stream, stream->next_timeless);
		stream->next_timeless++;
	}
	stream->ready = stream->count;
	return stream->count > 0;
}

static bool refill(struct rvp_kernel_stream *stream)
{
	if (!stream->in_timeless && fill(stream))
		return true;
	return !stream->no_memory && fill_timeless(stream);
}

bool rvp_kernel_stream_next(struct rvp_kernel_stream *stream, struct rvp_activity *activity)
{
	if (stream->is_over)
		return false;
	if (stream->next == stream->ready && !refill(stream)) {
		stream->is_over = true;
		return false;
	}
	const struct rvp_order_key *key = &stream->keys[stream->next++];

	*activity = stream->pieces[key->number];
	stream->handed++;
	if (stream->next == stream->ready && !stream->in_timeless) {
		stream->after = (struct position){key->key, stream->serials[key->number]};
		stream->has_after = true;
	}
	return true;
}

/* ---- open, close ---- */

static bool add_clocks(struct rvp_kernel_stream *stream)
{
	const struct rvp_run *run = stream->run;

	stream->clocks = calloc(run->process_count + 1, sizeof *stream->clocks);
	for (uint32_t i = 0; stream->clocks && i < run->process_count; i++) {
		if (!rvp_kernel_defs_settle(run, &run->processes[i]))
			return false;
		stream->clocks[i] = rvp_piece_clock_of(run, i);
	}
	return stream->clocks != NULL;
}

struct rvp_kernel_stream *rvp_kernel_stream_open(const struct rvp_run *run)
{
	struct rvp_kernel_stream *stream = calloc(1, sizeof *stream);

	if (!stream)
		return NULL;
	stream->run = run;
	stream->window = RVP_WINDOW;
	if (!add_clocks(stream) || !add_places(stream)) {
		rvp_kernel_stream_close(stream);
		return NULL;
	}
	return stream;
}

bool rvp_kernel_stream_failed(const struct rvp_kernel_stream *stream)
{
	return stream->no_memory;
}

uint64_t rvp_kernel_stream_decoded(const struct rvp_kernel_stream *stream)
{
	return stream->decoded;
}

void rvp_kernel_stream_close(struct rvp_kernel_stream *stream)
{
	if (!stream)
		return;
	free(stream->clocks);
	free(stream->places);
	free_room(stream);
	free(stream);
}

bool rvp_run_has_devices(const struct rvp_run *run)
{
	for (size_t i = 0; i < run->process_count; i++)
		if (rvp_kernel_defs_of(&run->processes[i]))
			return true;
	return false;
}
