/* SPDX-License-Identifier: MIT */
/* steps_detect.c: see steps_detect.h.
 *
 * A program's loops nest as its functions do. So the call paths are gone down from the root: at each function
 * the words (places in it that allocations came by) are looked at as a sequence, and the first function where
 * that is a loop (steps_loop.c) has the outermost one; the layers of a model are turns of a function further
 * down. Two places that call the same function (steps_ways.c) are gone down together.
 *
 * A loop is the program's steps when it goes on to the end of what the thread did (nine tenths: a loop that
 * reads a vocabulary ends when the model is loaded), takes a tenth of its time or more, and its turns can be
 * a model's (steps_turns.c). Else there are none, with the reason.
 *
 * What came before by another way, but through the same function or by a loop alike, are steps too: the
 * prefill.
 */
#include "report/file_array.h"
#include "report/steps_detect.h"

#include "report/steps_events.h"
#include "report/steps_holes.h"
#include "report/steps_loop.h"
#include "report/steps_turns.h"
#include "report/steps_ways.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_TURNS = 8, LEAST_EARLIER_TURNS = 3 };

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

/* Steps go on to the last tenth of what the thread did: a loop that reads a vocabulary ends when the model is
 * loaded. Of tensors alone what counts is the last one that was made: an interpreter takes long to give back.
 */
static uint64_t end_begins_ns(const struct rvp_step_events *events)
{
	uint64_t begin = events->events[0].ns;
	uint64_t end =
	    events->is_aligned ? events->events[events->count - 1].ns : rvp_step_events_end_ns(events);

	return begin + (end - begin) / 10 * 9;
}

/* ---- down the call paths ---- */

static void descend(struct descent *descent, const uint32_t *list, size_t count, uint32_t depth);

/* Into the functions that a group calls. */
static void descend_group(struct descent *descent, const struct rvp_step_ways *ways, uint32_t group,
			  const uint32_t *list, size_t count, uint32_t depth)
{
	const struct rvp_step_events *events = descent->events;
	uint32_t *inner = malloc((count + 1) * sizeof *inner);
	size_t kept = 0;

	if (!inner) {
		descent->no_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t path = events->events[list[i]].path;

		if (ways->group_of[path] == group && events->paths[path].depth > depth + 1)
			inner[kept++] = list[i];
	}
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
	why = rvp_step_why_not(descent->events, &loop, depth);
	if (!*why)
		why = rvp_step_holes_mend(descent->events, &loop);
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
	uint64_t all_ns = rvp_step_events_end_ns(events) - events->events[0].ns;
	struct rvp_step_ways ways;
	uint32_t group;

	if (depth + 1 >= RVP_STEP_DEPTH_MAX)
		return;
	if (!rvp_step_ways_find(events, list, count, depth, &ways))
		descent->no_memory = true;
	else if (ways.common)
		descend(descent, list, count, depth + ways.common);
	else if (!look_here(descent, list, count, depth))
		while (!descent->loop.count && !descent->no_memory &&
		       (group = rvp_step_ways_next(&ways, all_ns / 10)))
			descend_group(descent, &ways, group, list, count, depth);
	rvp_step_ways_free(&ways);
}

/* ---- what came before ---- */

/* The last `length` words of a path. */
static uint64_t tail_of(const struct rvp_step_events *events, uint32_t path, uint32_t length)
{
	uint32_t depth = events->paths[path].depth;

	return length <= depth ? rvp_step_path_key(events, path, depth - length) : 0;
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
	if (count > 1 && !rvp_step_turns_alike(events, &descent->earlier, &descent->loop))
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
	if (descent->earlier.count &&
	    !rvp_step_turns_alike(descent->events, &descent->earlier, &descent->loop))
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
	steps->steps =
	    rvp_file_array(NULL, (descent->loop.count + descent->earlier.count) * sizeof *steps->steps);
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
	if (list && count >= LEAST_TURNS && !rvp_step_may_be(events))
		descent.why_none = "what repeats does little but allocate";
	else if (list && count >= LEAST_TURNS)
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

static bool detect(const struct rvp_run *run, const struct rvp_step_census *census, bool only_aligned,
		   struct rvp_steps *steps)
{
	struct rvp_step_events events;
	bool is_good = rvp_step_events_gather(run, census, only_aligned, &events);

	if (is_good && *events.why_none)
		steps->why_none = events.why_none;
	else if (is_good)
		is_good = look(&events, steps);
	rvp_step_events_free(&events);
	return is_good;
}

/* Tensors first: where a framework asks for them, their order is the model's, and nothing of it is missing.
 */
bool rvp_steps_detect(const struct rvp_run *run, const struct rvp_step_census *census,
		      struct rvp_steps *steps)
{
	if (!detect(run, census, true, steps))
		return false;
	if (steps->count)
		return true;
	steps->why_none = "";
	return detect(run, census, false, steps);
}
