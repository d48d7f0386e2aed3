/* SPDX-License-Identifier: MIT */
/* steps_turns.c: see steps_turns.h.
 *
 * A turn is more than a few small blocks (a server's requests, a parser's lines), has layers, is made of the
 * same blocks as the others, and the program does more in it than to allocate. */
#include "report/steps_turns.h"

#include <stdlib.h>

enum { LEAST_EVENTS = 3, LEAST_STEP_BYTES = 4096 };

/* Measured: sqlite, json, gcc between 1 and 4 us an allocation, decoders from 30 us on. A small matrix times
 * a vector (a hundred rows and columns) takes some 5 us, and a step has more of them than allocations.
 * A gap counts for no more than GAP_NS, the shortest slice that a scheduler gives to another program: on a
 * busy machine gcc has 15 us an allocation, nearly all of it in a few long gaps. */
enum { LEAST_NS_PER_ALLOC = 10000, GAP_NS = 1000000 };

/* Steps take a tenth of the thread's time; up to the begin of the last one, half of that for sure. */
enum { LEAST_STRETCH = 20 };

/* Where only large blocks are recorded, what is not seen could be anything; growth by the same number of
 * bytes at so many turns is no accident. */
enum { LEAST_GROWING_TURNS = 32 };

enum { LARGER_BYTES = 256, LAYER_BLOCKS = 65536, TURNS_LOOKED_AT = 128 };

static int compare_numbers(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/* Allocations and bytes of the median turn. */
static void median_turn(const struct rvp_step_events *events, const struct rvp_step_loop *loop,
			uint64_t *values, uint64_t *count, uint64_t *bytes)
{
	for (size_t i = 0; i < loop->count; i++)
		values[i] = (i + 1 < loop->count ? loop->begins[i + 1] : loop->end + 1) - loop->begins[i];
	qsort(values, loop->count, sizeof *values, compare_numbers);
	*count = values[loop->count / 2];
	for (size_t i = 0; i < loop->count; i++) {
		size_t end = i + 1 < loop->count ? loop->begins[i + 1] : loop->end + 1;

		values[i] = 0;
		for (size_t k = loop->begins[i]; k < end; k++)
			values[i] += events->events[k].bytes;
	}
	qsort(values, loop->count, sizeof *values, compare_numbers);
	*bytes = values[loop->count / 2];
}

static uint64_t gap_ns(const struct rvp_step_events *events, size_t event)
{
	uint64_t ns = events->events[event].ns - events->events[event - 1].ns;

	return ns < GAP_NS ? ns : GAP_NS;
}

static int64_t ahead_by(const struct rvp_step_events *events, size_t event)
{
	uint64_t count = events->numbers[event] - events->numbers[event - 1];

	return (int64_t)gap_ns(events, event) - (int64_t)(count * LEAST_NS_PER_ALLOC);
}

/* From one allocation to the next, on average over the loop; those that were left out count. */
static uint64_t mean_gap_ns(const struct rvp_step_events *events, const struct rvp_step_loop *loop)
{
	size_t first = loop->begins[0], last = loop->begins[loop->count - 1];
	uint64_t sum = 0;

	for (size_t i = first; i < last; i++)
		sum += gap_ns(events, i + 1);
	return last > first ? sum / (events->numbers[last] - events->numbers[first]) : 0;
}

/* How far the thread is ahead, at each allocation, of the least that a step takes for so many: where it is
 * not further than some time before, the mean over that stretch is below the least. */
bool rvp_step_may_be(const struct rvp_step_events *events)
{
	uint64_t least_ns = (rvp_step_events_end_ns(events) - events->events[0].ns) / LEAST_STRETCH;
	int64_t ahead = 0, before = 0, least = 0;

	for (size_t i = 1, k = 0; i < events->count; i++) {
		ahead += ahead_by(events, i);
		for (; events->events[i].ns - events->events[k].ns > least_ns && k < i; k++) {
			least = before < least ? before : least;
			before += ahead_by(events, k + 1);
		}
		if (k && ahead >= least)
			return true;
	}
	return false;
}

/* How often a call path comes. What is above the function with the loop does not count: it may be called from
 * two places. */
struct often {
	uint64_t key;        /* of the path from that function on */
	uint32_t path, same; /* same: the first path with this key: it has the numbers */
	uint32_t total, per_turn, in_turn, matches;
	uint32_t bytes, growth; /* of its first block in the last turn; against the turn before */
	uint32_t alike;         /* turns in which that grew by as much as in the turn before */
};

static int compare_keys(const void *left, const void *right)
{
	const struct often *a = left, *b = right;

	return a->key < b->key ? -1 : a->key > b->key;
}

static int compare_paths(const void *left, const void *right)
{
	const struct often *a = left, *b = right;

	return a->path < b->path ? -1 : a->path > b->path;
}

static void find_same(const struct rvp_step_events *events, uint32_t depth, struct often *often)
{
	size_t first = 0;

	for (uint32_t i = 0; i < events->path_count; i++)
		often[i] = (struct often){.key = rvp_step_path_key(events, i, depth), .path = i};
	qsort(often, events->path_count, sizeof *often, compare_keys);
	for (size_t i = 0; i < events->path_count; i++) {
		if (often[i].key != often[first].key)
			first = i;
		often[i].same = often[first].path;
	}
	qsort(often, events->path_count, sizeof *often, compare_paths);
}

static struct often *often_of(const struct rvp_step_events *events, struct often *often, size_t event)
{
	return &often[often[events->events[event].path].same];
}

static void compare_with_last_turn(struct often *path, uint32_t bytes)
{
	uint32_t growth = bytes > path->bytes ? bytes - path->bytes : 0;

	path->alike += growth && growth == path->growth;
	path->growth = growth;
	path->bytes = bytes;
}

static void match_turn(const struct rvp_step_events *events, size_t begin, size_t end, struct often *often)
{
	for (size_t i = begin; i < end; i++) {
		struct often *path = often_of(events, often, i);

		if (!path->in_turn++)
			compare_with_last_turn(path, events->events[i].bytes);
	}
	for (size_t i = begin; i < end; i++) {
		struct often *path = often_of(events, often, i);

		path->matches += path->in_turn && path->in_turn == path->per_turn;
		path->in_turn = 0;
	}
}

/* What is usual is seen in the later half: the first turn may be a batch of many. */
static void count_turns(const struct rvp_step_events *events, const struct rvp_step_loop *loop,
			struct often *often)
{
	size_t half = loop->count / 2;
	uint32_t turns = (uint32_t)(loop->count - half);

	for (size_t i = loop->begins[half]; i <= loop->end; i++)
		often_of(events, often, i)->total++;
	for (size_t i = 0; i < events->path_count; i++)
		often[i].per_turn = (often[i].total + turns / 2) / turns;
	for (size_t i = 0; i < loop->count; i++)
		match_turn(events, loop->begins[i], i + 1 < loop->count ? loop->begins[i + 1] : loop->end + 1,
			   often);
}

static bool is_regular(const struct often *path, const struct rvp_step_loop *loop)
{
	return path->per_turn && path->matches * 100.0 >= 85.0 * (double)loop->count;
}

/* Whether the small blocks, which came too fast, are missing in more than a quarter of the turns. */
static bool is_of_large_blocks(const struct rvp_step_events *events, const struct rvp_step_loop *loop)
{
	size_t without = 0;

	for (size_t turn = 0; events->has_holes && turn + 1 < loop->count; turn++) {
		size_t at = loop->begins[turn];

		while (at < loop->begins[turn + 1] && events->events[at].bytes >= events->sure_bytes)
			at++;
		without += at == loop->begins[turn + 1];
	}
	return without * 4 > loop->count;
}

/* "" if the turns are made of the same. Where small blocks are not recorded, what marks a turn may be among
 * them, and what lies between large ones is not seen (a compiler's turns are its functions): only a block
 * that is larger by as much at each turn, as a cache or a row of scores is by a token, tells what a turn is.
 */
static const char *why_not_alike(const struct rvp_step_events *events, const struct rvp_step_loop *loop,
				 const struct often *often)
{
	uint64_t all = loop->end + 1 - loop->begins[loop->count / 2], regular = 0;
	bool grows = false;

	for (size_t i = 0; i < events->path_count; i++) {
		if (!is_regular(&often[i], loop))
			continue;
		regular += often[i].total;
		grows |= loop->count >= LEAST_GROWING_TURNS &&
			 often[i].alike * 100.0 >= 85.0 * (double)loop->count;
	}
	if (regular * 4 < all * 3)
		return "what repeats is not alike from turn to turn";
	if (!grows && (events->is_sampled || is_of_large_blocks(events, loop)))
		return "in sampled mode the loop does not show which of its turns are steps";
	return "";
}

static const char *look_at_paths(const struct rvp_step_events *events, const struct rvp_step_loop *loop,
				 uint32_t depth)
{
	struct often *often = calloc(events->path_count, sizeof *often);
	const char *why = "there was too little memory to look";

	if (often) {
		find_same(events, depth, often);
		count_turns(events, loop, often);
		why = why_not_alike(events, loop, often);
	}
	free(often);
	return why;
}

/* Whether half of the larger blocks of a turn have the size of another one of it, in most of the turns that
 * are looked at: a model has layers. */
static bool has_layers(const struct rvp_step_events *events, const struct rvp_step_loop *loop,
		       uint64_t *sizes, size_t room)
{
	size_t looked = 0, layered = 0;

	for (size_t turn = loop->count / 2; turn + 1 < loop->count;
	     turn += 1 + loop->count / TURNS_LOOKED_AT) {
		size_t count = 0, twins = 0;

		for (size_t i = loop->begins[turn]; i < loop->begins[turn + 1] && count < room; i++)
			if (events->events[i].bytes >= LARGER_BYTES)
				sizes[count++] = events->events[i].bytes;
		qsort(sizes, count, sizeof *sizes, compare_numbers);
		for (size_t i = 0; i < count; i++)
			twins +=
			    (i && sizes[i] == sizes[i - 1]) || (i + 1 < count && sizes[i] == sizes[i + 1]);
		looked++;
		layered += count && twins * 2 >= count;
	}
	return layered * 4 >= looked * 3;
}

/* "" if the loop can be the program's steps. */
/* The cheap reasons first: a program of many loops is asked often. */
static const char *why_not_by_time(const struct rvp_step_events *events, const struct rvp_step_loop *loop)
{
	uint64_t all = rvp_step_events_end_ns(events) - events->events[0].ns;
	uint64_t first = events->events[loop->begins[0]].ns, last = events->events[loop->end].ns;

	if ((last - first) * 10 < all)
		return "what repeats takes less than a tenth of the time";
	return mean_gap_ns(events, loop) < LEAST_NS_PER_ALLOC ? "what repeats does little but allocate" : "";
}

static const char *why_not_by_blocks(const struct rvp_step_events *events, const struct rvp_step_loop *loop,
				     uint64_t *values, size_t room)
{
	uint64_t count, bytes;

	median_turn(events, loop, values, &count, &bytes);
	if (count < LEAST_EVENTS || bytes < LEAST_STEP_BYTES)
		return "what repeats is too small to be a step";
	return has_layers(events, loop, values, room) ? "" : "what repeats has no layers";
}

const char *rvp_step_why_not(const struct rvp_step_events *events, const struct rvp_step_loop *loop,
			     uint32_t depth)
{
	size_t room = loop->count > LAYER_BLOCKS ? loop->count : LAYER_BLOCKS;
	const char *why = why_not_by_time(events, loop);
	uint64_t *values;

	if (*why)
		return why;
	values = malloc(room * sizeof *values);
	why = values ? why_not_by_blocks(events, loop, values, room) : "there was too little memory to look";
	free(values);
	return *why ? why : look_at_paths(events, loop, depth);
}

/* Turns of about as many allocations. (Of bytes there may be far fewer: a cache that is copied was small
 * then.) */
bool rvp_step_turns_alike(const struct rvp_step_events *events, const struct rvp_step_loop *a,
			  const struct rvp_step_loop *b)
{
	size_t most = a->count > b->count ? a->count : b->count;
	uint64_t *values = malloc(most * sizeof *values), counts[2], bytes;

	if (!values)
		return false;
	median_turn(events, a, values, &counts[0], &bytes);
	median_turn(events, b, values, &counts[1], &bytes);
	free(values);
	return counts[0] * 5 >= counts[1] * 4 && counts[1] * 5 >= counts[0] * 4;
}
