/* SPDX-License-Identifier: MIT */
/* steps_detect.c: see steps_detect.h.
 *
 * A program's loops nest as its functions do. So the call paths are gone down from the root: at each function
 * the words (places in it that allocations came by) are looked at as a sequence, and the first function where
 * that is a loop (steps_loop.c) has the outermost one; the layers of a model are turns of a function further
 * down. Two places that call the same function (they share a place inside it: a prefill and a decode) are
 * gone down together.
 *
 * A loop is the program's steps when it goes on to the end of what the thread did (nine tenths: a loop that
 * reads a vocabulary ends when the model is loaded), takes a tenth of its time or more, and its turns are
 * more than a few small blocks (a server's requests, a parser's lines). Else there are none, with the reason.
 *
 * What came before by another way, but through the same function or by a loop alike, are steps too: the
 * prefill.
 */
#include "report/steps_detect.h"

#include "report/steps_events.h"
#include "report/steps_loop.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_TURNS = 8, LEAST_EARLIER_TURNS = 3, LEAST_EVENTS = 3, LEAST_STEP_BYTES = 4096 };

/* Measured: sqlite, json, gcc between 1 and 4 us an allocation, decoders from 30 us on. A small matrix times
 * a vector (a hundred rows and columns) takes some 5 us, and a step has more of them than allocations.
 * A gap counts for no more than GAP_NS, the shortest slice that a scheduler gives to another program: on a
 * busy machine gcc has 15 us an allocation, nearly all of it in a few long gaps. */
enum { LEAST_NS_PER_ALLOC = 10000, GAP_NS = 1000000 };

/* Where only large blocks are recorded, what is not seen could be anything; growth by the same number of
 * bytes at so many turns is no accident. */
enum { LEAST_GROWING_TURNS = 32 };

enum { LARGER_BYTES = 256, LAYER_BLOCKS = 65536, TURNS_LOOKED_AT = 128 };

struct descent {
	const struct rvp_step_events *events;
	struct rvp_step_loop loop; /* count 0: none was found */
	struct rvp_step_loop earlier;
	const char *why_none;
	uint32_t *list; /* of the function with the loop, for what came earlier */
	size_t list_count;
	uint32_t depth;
	bool no_memory;
};

static uint64_t last_ns(const struct rvp_step_events *events)
{
	const struct rvp_step_event *last = &events->events[events->count - 1];

	return last->ns + last->quiet_ns;
}

/* Steps go on to the last tenth of what the thread did: a loop that reads a vocabulary ends when the model is
 * loaded. Of tensors alone what counts is the last one that was made: an interpreter takes long to give back.
 */
static uint64_t end_begins_ns(const struct rvp_step_events *events)
{
	uint64_t begin = events->events[0].ns;
	uint64_t end = events->is_aligned ? events->events[events->count - 1].ns : last_ns(events);

	return begin + (end - begin) / 10 * 9;
}

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

/* From one allocation to the next, on average over the loop; those that were left out count. */
static uint64_t mean_gap_ns(const struct rvp_step_events *events, const struct rvp_step_loop *loop)
{
	size_t first = loop->begins[0], last = loop->begins[loop->count - 1];
	uint64_t sum = 0;

	for (size_t i = first; i < last; i++) {
		uint64_t ns = events->events[i + 1].ns - events->events[i].ns;

		sum += ns < GAP_NS ? ns : GAP_NS;
	}
	return last > first ? sum / (events->numbers[last] - events->numbers[first]) : 0;
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

static uint64_t key_from(const struct rvp_step_events *events, uint32_t path, uint32_t depth)
{
	uint64_t key = 0;

	for (uint32_t i = depth; i < events->paths[path].depth; i++)
		key =
		    (key ^ events->words[events->paths[path].first + i]) * 0x9e3779b97f4a7c15u + (key >> 29);
	return key;
}

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
		often[i] = (struct often){.key = key_from(events, i, depth), .path = i};
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
	if (events->is_sampled && !grows)
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
static const char *why_not(const struct rvp_step_events *events, const struct rvp_step_loop *loop,
			   uint32_t depth)
{
	uint64_t all = last_ns(events) - events->events[0].ns, count, bytes;
	uint64_t first = events->events[loop->begins[0]].ns, last = events->events[loop->end].ns;
	size_t room = loop->count > LAYER_BLOCKS ? loop->count : LAYER_BLOCKS;
	uint64_t *values = malloc(room * sizeof *values);
	bool is_layered;

	if (!values)
		return "there was too little memory to look";
	median_turn(events, loop, values, &count, &bytes);
	is_layered = has_layers(events, loop, values, room);
	free(values);
	if ((last - first) * 10 < all)
		return "what repeats takes less than a tenth of the time";
	if (count < LEAST_EVENTS || bytes < LEAST_STEP_BYTES)
		return "what repeats is too small to be a step";
	if (mean_gap_ns(events, loop) < LEAST_NS_PER_ALLOC)
		return "what repeats does little but allocate";
	return is_layered ? look_at_paths(events, loop, depth) : "what repeats has no layers";
}

/* ---- down the call paths ---- */

/* A place in the function, with the place in the function that it calls. */
struct way {
	uint64_t word, inner; /* inner: 0: it allocates itself */
	uint64_t ns;          /* time until the next allocation, of all its events */
	uint32_t group;
};

struct ways {
	struct way *all;
	size_t count, mask; /* open addressing */
};

static uint64_t word_at(const struct rvp_step_events *events, uint32_t event, uint32_t depth)
{
	const struct rvp_step_path *path = &events->paths[events->events[event].path];

	return depth < path->depth ? events->words[path->first + depth] : 0;
}

static struct way *way_of(const struct ways *ways, uint64_t word, uint64_t inner)
{
	size_t at = ((word * 31 + inner) * 0x9e3779b97f4a7c15u >> 20) & ways->mask;

	while (ways->all[at].word && (ways->all[at].word != word || ways->all[at].inner != inner))
		at = (at + 1) & ways->mask;
	return &ways->all[at];
}

static bool widen_ways(struct ways *ways)
{
	struct ways wider = {.mask = ways->mask ? ways->mask * 2 + 1 : 255, .count = ways->count};

	wider.all = calloc(wider.mask + 1, sizeof *wider.all);
	if (!wider.all)
		return false;
	for (size_t i = 0; ways->mask && i <= ways->mask; i++)
		if (ways->all[i].word)
			*way_of(&wider, ways->all[i].word, ways->all[i].inner) = ways->all[i];
	free(ways->all);
	*ways = wider;
	return true;
}

static bool find_ways(const struct rvp_step_events *events, const uint32_t *list, size_t count,
		      uint32_t depth, struct ways *ways)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t word = word_at(events, list[i], depth);
		struct way *way;

		if (ways->count * 2 >= ways->mask && !widen_ways(ways))
			return false;
		way = way_of(ways, word, word_at(events, list[i], depth + 1));
		ways->count += !way->word;
		way->word = word;
		way->inner = word_at(events, list[i], depth + 1);
		way->ns += (i + 1 < count ? events->events[list[i + 1]].ns : last_ns(events)) -
			   events->events[list[i]].ns;
	}
	return true;
}

static void rename_group(struct ways *ways, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i <= ways->mask; i++)
		if (ways->all[i].word && ways->all[i].group == from)
			ways->all[i].group = to;
}

/* Ways of one word, and ways that share a place further in, are one group. Few ways: squares do. */
static void group_ways(struct ways *ways)
{
	uint32_t next = 1;

	for (size_t i = 0; i <= ways->mask; i++)
		if (ways->all[i].word)
			ways->all[i].group = next++;
	for (size_t i = 0; i <= ways->mask; i++)
		for (size_t k = i + 1; ways->all[i].word && k <= ways->mask; k++) {
			const struct way *a = &ways->all[i], *b = &ways->all[k];

			if (b->word && a->group != b->group &&
			    (a->word == b->word || (a->inner && a->inner == b->inner)))
				rename_group(ways, b->group, a->group);
		}
}

/* The group with the most time that was not taken yet; 0: none has a tenth of it. */
static uint32_t next_group(struct ways *ways, uint64_t all_ns)
{
	uint32_t best = 0;
	uint64_t best_ns = 0;

	for (size_t i = 0; i <= ways->mask; i++) {
		uint64_t ns = 0;

		if (!ways->all[i].word || !ways->all[i].group)
			continue;
		for (size_t k = 0; k <= ways->mask; k++)
			if (ways->all[k].word && ways->all[k].group == ways->all[i].group)
				ns += ways->all[k].ns;
		if (ns > best_ns || !best) {
			best_ns = ns;
			best = ways->all[i].group;
		}
	}
	return best_ns * 10 >= all_ns ? best : 0;
}

static void descend(struct descent *descent, const uint32_t *list, size_t count, uint32_t depth);

static void descend_group(struct descent *descent, struct ways *ways, uint32_t group, const uint32_t *list,
			  size_t count, uint32_t depth)
{
	uint32_t *inner = malloc((count + 1) * sizeof *inner);
	size_t kept = 0;

	if (!inner) {
		descent->no_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t word = word_at(descent->events, list[i], depth),
			 further = word_at(descent->events, list[i], depth + 1);

		if (further && way_of(ways, word, further)->group == group)
			inner[kept++] = list[i];
	}
	rename_group(ways, group, 0);
	if (kept >= LEAST_TURNS)
		descend(descent, inner, kept, depth + 1);
	free(inner);
}

static void keep(struct descent *descent, const uint32_t *list, size_t count, uint32_t depth,
		 struct rvp_step_loop *loop)
{
	descent->loop = *loop;
	descent->depth = depth;
	descent->list = malloc((count + 1) * sizeof *list);
	descent->no_memory |= !descent->list;
	if (descent->list)
		memcpy(descent->list, list, count * sizeof *list);
	descent->list_count = count;
}

/* True: the function has a loop, or there is no memory: go no further. */
static bool look_here(struct descent *descent, const uint32_t *list, size_t count, uint32_t depth)
{
	struct rvp_step_loop loop;
	const char *why;

	if (!rvp_step_loop_find(descent->events, list, count, depth, LEAST_TURNS,
				end_begins_ns(descent->events), &loop)) {
		descent->no_memory = true;
		return true;
	}
	if (!loop.count)
		return false;
	why = why_not(descent->events, &loop, depth);
	if (!*why) {
		keep(descent, list, count, depth, &loop);
		return true;
	}
	free(loop.begins);
	descent->why_none = why;
	return false;
}

static void descend(struct descent *descent, const uint32_t *list, size_t count, uint32_t depth)
{
	const struct rvp_step_events *events = descent->events;
	uint64_t all_ns = last_ns(events) - events->events[0].ns;
	struct ways ways = {0};
	uint32_t group;

	if (depth + 1 >= RVP_STEP_DEPTH_MAX || look_here(descent, list, count, depth))
		return;
	if (!find_ways(events, list, count, depth, &ways))
		descent->no_memory = true;
	else if (ways.count <= 4096)
		for (group_ways(&ways);
		     !descent->loop.count && !descent->no_memory && (group = next_group(&ways, all_ns));)
			descend_group(descent, &ways, group, list, count, depth);
	free(ways.all);
}

/* ---- what came before ---- */

/* The last `length` words of a path. */
static uint64_t tail_of(const struct rvp_step_events *events, uint32_t path, uint32_t length)
{
	uint32_t depth = events->paths[path].depth;

	return length <= depth ? key_from(events, path, depth - length) : 0;
}

/* Marks the paths that end like the one of `event`, and counts the turns that have just one of them. */
static size_t mark_tails(const struct descent *descent, uint32_t event, uint32_t length, bool *is_marked)
{
	const struct rvp_step_events *events = descent->events;
	uint64_t tail = tail_of(events, events->events[event].path, length);
	size_t once = 0;

	for (uint32_t i = 0; i < events->path_count; i++)
		is_marked[i] = tail_of(events, i, length) == tail;
	for (size_t turn = 0; turn < descent->loop.count; turn++) {
		size_t end = turn + 1 < descent->loop.count ? descent->loop.begins[turn + 1]
							    : descent->loop.end + 1,
		       count = 0;

		for (size_t i = descent->loop.begins[turn]; i < end; i++)
			count += is_marked[events->events[i].path];
		once += count == 1;
	}
	return once;
}

/* The shortest end of the path with which a turn begins that comes but once a turn. False: there is none. */
static bool find_tail(const struct descent *descent, bool *is_marked)
{
	uint32_t event = descent->loop.begins[descent->loop.count / 2];
	uint32_t depth = descent->events->paths[descent->events->events[event].path].depth;

	for (uint32_t length = 1; length <= depth - descent->depth; length++)
		if (mark_tails(descent, event, length, is_marked) * 20 >= descent->loop.count * 19)
			return true;
	return false;
}

/* Turns of about as many allocations. (Of bytes there may be far fewer: a cache that is copied was small
 * then.) */
static bool is_alike(const struct rvp_step_events *events, const struct rvp_step_loop *a,
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

/* The same function, come to by another way: a prefill. Earlier turns but the last must have about as many
 * allocations; one alone may be a batch. */
static bool find_earlier_turns(struct descent *descent)
{
	const struct rvp_step_events *events = descent->events;
	bool *is_marked = calloc(events->path_count, sizeof *is_marked);
	uint32_t before = descent->loop.begins[0], *begins = malloc((before + 1) * sizeof *begins);
	size_t count = 0;
	bool is_good = is_marked && begins;

	if (is_good && find_tail(descent, is_marked))
		for (uint32_t i = 0; i < before; i++)
			if (is_marked[events->events[i].path])
				begins[count++] = i;
	free(is_marked);
	descent->earlier = (struct rvp_step_loop){begins, count, before ? before - 1 : 0, 0};
	if (count > 1 && !is_alike(events, &descent->earlier, &descent->loop))
		descent->earlier.count = 0;
	return is_good;
}

/* The same loop, compiled once more in the same function. */
static bool find_earlier_loop(struct descent *descent)
{
	size_t before = 0;

	while (before < descent->list_count && descent->list[before] < descent->loop.begins[0])
		before++;
	if (!rvp_step_loop_find(descent->events, descent->list, before, descent->depth, LEAST_EARLIER_TURNS,
				0, &descent->earlier))
		return false;
	if (descent->earlier.count && !is_alike(descent->events, &descent->earlier, &descent->loop))
		descent->earlier.count = 0;
	return true;
}

static bool find_earlier(struct descent *descent)
{
	if (!find_earlier_turns(descent))
		return false;
	if (descent->earlier.count)
		return true;
	free(descent->earlier.begins);
	descent->earlier = (struct rvp_step_loop){0};
	return find_earlier_loop(descent);
}

/* ---- the steps ---- */

static void put_steps(const struct descent *descent, const struct rvp_step_loop *loop, uint32_t phase,
		      struct rvp_steps *steps)
{
	const struct rvp_step_events *events = descent->events;

	for (size_t i = 0; i < loop->count; i++) {
		size_t last = i + 1 < loop->count ? loop->begins[i + 1] - 1 : loop->end;

		steps->steps[steps->count++] =
		    (struct rvp_step){.begin_ns = events->events[loop->begins[i]].ns,
				      .end_ns = events->events[last].ns + events->events[last].quiet_ns,
				      .process = events->process,
				      .tid = events->tid,
				      .phase = phase,
				      .name = ""};
	}
}

static bool take_loop(struct descent *descent, struct rvp_steps *steps)
{
	if (!find_earlier(descent))
		return false;
	steps->steps = calloc(descent->loop.count + descent->earlier.count, sizeof *steps->steps);
	if (!steps->steps)
		return false;
	put_steps(descent, &descent->earlier, RVP_STEP_PHASE_PREFILL, steps);
	put_steps(descent, &descent->loop, RVP_STEP_PHASE_NONE, steps);
	steps->source = "detected";
	steps->confidence = 0.9 * descent->loop.score;
	return true;
}

static bool look(const struct rvp_step_events *events, struct rvp_steps *steps)
{
	struct descent descent = {.events = events, .why_none = "no loop shows in what is allocated"};
	uint32_t *list = malloc((events->count + 1) * sizeof *list);
	size_t count = 0;
	bool is_good;

	for (uint32_t i = 0; list && i < events->count; i++)
		if (events->paths[events->events[i].path].depth)
			list[count++] = i;
	if (list && count >= LEAST_TURNS)
		descend(&descent, list, count, 0);
	is_good = list && !descent.no_memory && (!descent.loop.count || take_loop(&descent, steps));
	if (is_good && !steps->count)
		steps->why_none = descent.why_none;
	free(list);
	free(descent.list);
	free(descent.loop.begins);
	free(descent.earlier.begins);
	return is_good;
}

static bool detect(const struct rvp_run *run, bool only_aligned, struct rvp_steps *steps)
{
	struct rvp_step_events events;
	bool is_good = rvp_step_events_gather(run, only_aligned, &events);

	if (is_good && *events.why_none)
		steps->why_none = events.why_none;
	else if (is_good)
		is_good = look(&events, steps);
	rvp_step_events_free(&events);
	return is_good;
}

/* Tensors first: where a framework asks for them, their order is the model's, and nothing of it is missing.
 */
bool rvp_steps_detect(const struct rvp_run *run, struct rvp_steps *steps)
{
	if (!detect(run, true, steps))
		return false;
	if (steps->count)
		return true;
	steps->why_none = "";
	return detect(run, false, steps);
}
