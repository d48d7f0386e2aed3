/* SPDX-License-Identifier: MIT */
/* steps_ways.c: see steps_ways.h. There are far fewer paths than events: words are looked at by path. */
#include "report/steps_ways.h"

#include <stdlib.h>

struct place {
	uint64_t word;
	uint32_t path;
};

static uint64_t word_at(const struct rvp_step_events *events, uint32_t path, uint32_t depth)
{
	const struct rvp_step_path *of = &events->paths[path];

	return depth < of->depth ? events->words[of->first + depth] : 0;
}

/* A path that comes here is a group of its own, at first; group g is led by path g - 1. */
static void add_up(const struct rvp_step_events *events, const uint32_t *list, size_t count,
		   struct rvp_step_ways *ways)
{
	for (size_t i = 0; i < count; i++) {
		const struct rvp_step_event *event = &events->events[list[i]];
		uint64_t next =
		    i + 1 < count ? events->events[list[i + 1]].ns : rvp_step_events_end_ns(events);

		ways->group_of[event->path] = event->path + 1;
		ways->ns[event->path] += next - event->ns;
	}
}

static uint32_t leader_of(struct rvp_step_ways *ways, uint32_t path)
{
	while (ways->group_of[path] != path + 1) {
		uint32_t above = ways->group_of[path] - 1;

		ways->group_of[path] = ways->group_of[above];
		path = above;
	}
	return path;
}

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	return a->word < b->word ? -1 : a->word > b->word;
}

/* Joins what has the same word at `depth`; what has none there stays as it is. */
static void join(const struct rvp_step_events *events, struct rvp_step_ways *ways, uint32_t depth,
		 struct place *places)
{
	size_t count = 0;

	for (uint32_t i = 0; i < events->path_count; i++)
		if (ways->group_of[i] && word_at(events, i, depth))
			places[count++] = (struct place){word_at(events, i, depth), i};
	qsort(places, count, sizeof *places, compare_places);
	for (size_t i = 1; i < count; i++)
		if (places[i].word == places[i - 1].word)
			ways->group_of[leader_of(ways, places[i].path)] =
			    leader_of(ways, places[i - 1].path) + 1;
}

static uint32_t common_depths(const struct rvp_step_events *events, const struct rvp_step_ways *ways,
			      uint32_t depth)
{
	uint32_t first = 0, common = UINT32_MAX;

	while (!ways->group_of[first])
		first++;
	for (uint32_t i = first; i < events->path_count && common; i++) {
		uint32_t count = 0;

		if (!ways->group_of[i])
			continue;
		while (count < common && word_at(events, i, depth + count + 1) &&
		       word_at(events, i, depth + count) == word_at(events, first, depth + count))
			count++;
		common = count;
	}
	return common;
}

static void add_up_groups(struct rvp_step_ways *ways)
{
	for (uint32_t i = 0; i < ways->path_count; i++) {
		uint32_t leader = ways->group_of[i] ? leader_of(ways, i) : i;

		if (leader == i)
			continue;
		ways->group_of[i] = leader + 1;
		ways->ns[leader] += ways->ns[i];
		ways->ns[i] = 0;
	}
}

bool rvp_step_ways_find(const struct rvp_step_events *events, const uint32_t *list, size_t count,
			uint32_t depth, struct rvp_step_ways *ways)
{
	struct place *places = malloc((events->path_count + 1) * sizeof *places);

	*ways = (struct rvp_step_ways){.group_of = calloc(events->path_count + 1, sizeof *ways->group_of),
				       .ns = calloc(events->path_count + 1, sizeof *ways->ns),
				       .path_count = events->path_count};
	if (places && ways->group_of && ways->ns) {
		add_up(events, list, count, ways);
		ways->common = common_depths(events, ways, depth);
		join(events, ways, depth, places);
		join(events, ways, depth + 1, places);
		add_up_groups(ways);
	}
	free(places);
	return places && ways->group_of && ways->ns;
}

uint32_t rvp_step_ways_next(struct rvp_step_ways *ways, uint64_t least_ns)
{
	uint32_t best = 0;

	for (uint32_t i = 0; i < ways->path_count; i++)
		if (ways->ns[i] && ways->ns[i] >= least_ns && (!best || ways->ns[i] > ways->ns[best - 1]))
			best = i + 1;
	if (best)
		ways->ns[best - 1] = 0;
	return best;
}

void rvp_step_ways_free(struct rvp_step_ways *ways)
{
	free(ways->group_of);
	free(ways->ns);
	*ways = (struct rvp_step_ways){0};
}
