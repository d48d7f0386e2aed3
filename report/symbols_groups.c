/* SPDX-License-Identifier: MIT */
/* symbols_groups.c: a table of groups by the text of their stacks (function, file, line of every frame).
 *
 *   (G1) Two sites are in one group exactly when their stacks are equal frame by frame.
 *   (G2) Every site is in exactly one group.
 *   (G3) A group keeps one of its sites, not the frames: a run may have 100,000 stacks of 50 frames. */
#include "report/symbols_groups.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct rvp_frame_list *stack)
{
	uint64_t hash = stack->count;

	for (size_t i = 0; i < stack->count; i++)
		hash = mix(hash, stack->frames[i].hash);
	return hash;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_stack(const struct rvp_frame_list *a, const struct rvp_frame_list *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->frames[i].hash != b->frames[i].hash || a->frames[i].line != b->frames[i].line ||
		    !same_text(a->frames[i].function, b->frames[i].function) ||
		    !same_text(a->frames[i].file, b->frames[i].file))
			return false;
	return true;
}

struct rvp_frame_list rvp_group_stack(const struct rvp_groups *groups, const struct rvp_group *group)
{
	return rvp_stacks_of(groups->stacks, group->site);
}

static bool same_purpose(const struct rvp_site *a, const struct rvp_site *b)
{
	return a->purpose == b->purpose && a->evidence == b->evidence;
}

/* The place in the table of the group with the site's stack and purpose, or where it belongs. */
static uint32_t *place_of(const struct rvp_groups *groups, uint64_t hash, const struct rvp_frame_list *stack,
			  const struct rvp_site *site)
{
	size_t at = hash & (groups->table_room - 1);

	for (; groups->table[at]; at = (at + 1) & (groups->table_room - 1)) {
		const struct rvp_group *group = &groups->groups[groups->table[at] - 1];
		struct rvp_frame_list other;

		if (group->hash != hash || !same_purpose(group->site, site))
			continue;
		other = rvp_group_stack(groups, group);
		if (same_stack(&other, stack))
			break;
	}
	return &groups->table[at];
}

static bool grow_table(struct rvp_groups *groups)
{
	size_t room = groups->table_room ? groups->table_room * 2 : 1024;
	uint32_t *table;

	if (groups->count * 2 < groups->table_room)
		return true;
	table = calloc(room, sizeof *table);
	if (!table)
		return false;
	free(groups->table);
	groups->table = table;
	groups->table_room = room;
	for (size_t i = 0; i < groups->count; i++) {
		size_t at = groups->groups[i].hash & (room - 1);

		while (table[at])
			at = (at + 1) & (room - 1);
		table[at] = (uint32_t)i + 1;
	}
	return true;
}

static bool grow_groups(struct rvp_groups *groups)
{
	size_t room = groups->room ? groups->room * 2 : 256;
	struct rvp_group *grown;

	if (groups->count < groups->room)
		return true;
	grown = reallocarray(groups->groups, room, sizeof *grown);
	if (!grown)
		return false;
	groups->groups = grown;
	groups->room = room;
	return true;
}

/* A group of its own for `site`; NULL without memory. */
static struct rvp_group *add_group(struct rvp_groups *groups, uint64_t hash, const struct rvp_site *site)
{
	struct rvp_group group = {.hash = hash, .site = site, .last_process = RVP_NO_PROCESS};

	if (groups->moment_count)
		group.at_moments = calloc(groups->moment_count, sizeof *group.at_moments);
	if ((groups->moment_count && !group.at_moments) || !grow_groups(groups)) {
		free(group.at_moments);
		return NULL;
	}
	groups->groups[groups->count] = group;
	return &groups->groups[groups->count++];
}

static void add(struct rvp_amount *sum, struct rvp_amount part)
{
	sum->bytes += part.bytes;
	sum->count += part.count;
}

static void add_site(struct rvp_group *group, const struct rvp_site *site, size_t moment_count)
{
	add(&group->allocated, site->allocated);
	add(&group->temporary, site->temporary);
	add(&group->at_peak, site->at_peak);
	add(&group->at_end, site->at_end);
	for (size_t i = 0; i < moment_count && site->held; i++)
		add(&group->at_moments[i], rvp_site_at(site, i));
	group->is_estimate |= site->is_estimate;
	if (site->largest_bytes > group->largest_bytes)
		group->largest_bytes = site->largest_bytes;
	if (site->process != group->last_process) /* sites_by_process */
		group->process_count++;
	group->last_process = site->process;
}

static uint64_t hash_in(const struct rvp_frame_list *stack, const struct rvp_site *site)
{
	return hash_of(stack) + site->purpose * 0x9e3779b97f4a7c15u + site->evidence;
}

static bool take_site(struct rvp_groups *groups, const struct rvp_site *site)
{
	struct rvp_frame_list stack = rvp_stacks_of(groups->stacks, site);
	uint64_t hash = hash_in(&stack, site);
	struct rvp_group *group;
	uint32_t *place;

	if (!grow_table(groups))
		return false;
	place = place_of(groups, hash, &stack, site);
	if (*place) {
		group = &groups->groups[*place - 1];
	} else {
		group = add_group(groups, hash, site);
		if (!group)
			return false;
		*place = (uint32_t)groups->count;
	}
	add_site(group, site, groups->moment_count);
	return true;
}

const struct rvp_group *rvp_group_of(const struct rvp_groups *groups, const struct rvp_site *site)
{
	struct rvp_frame_list stack = rvp_stacks_of(groups->stacks, site);
	uint32_t *place = groups->table ? place_of(groups, hash_in(&stack, site), &stack, site) : NULL;

	return place && *place ? &groups->groups[*place - 1] : NULL;
}

bool rvp_groups_share_stack(const struct rvp_groups *groups, const struct rvp_group *a,
			    const struct rvp_group *b)
{
	struct rvp_frame_list first = rvp_group_stack(groups, a), second = rvp_group_stack(groups, b);

	return same_stack(&first, &second);
}

struct place {
	uint32_t process, site;
};

static int by_process(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->site < b->site ? -1 : a->site > b->site;
}

/* The sites by process, so that add_site can count processes. NULL without memory. */
static struct place *sites_by_process(const struct rvp_analysis *answer)
{
	struct place *places = malloc((answer->site_count + 1) * sizeof *places);

	for (size_t i = 0; places && i < answer->site_count; i++)
		places[i] = (struct place){answer->sites[i].process, (uint32_t)i};
	if (places && answer->site_count)
		qsort(places, answer->site_count, sizeof *places, by_process);
	return places;
}

struct rvp_status rvp_groups_make(struct rvp_groups *groups, struct rvp_stacks *stacks,
				  const struct rvp_analysis *answer, size_t moment_count)
{
	struct place *places = sites_by_process(answer);
	bool is_good = places != NULL;

	*groups = (struct rvp_groups){.moment_count = moment_count, .stacks = stacks};
	for (size_t i = 0; is_good && i < answer->site_count; i++)
		is_good = take_site(groups, &answer->sites[places[i].site]);
	free(places);
	if (is_good)
		return RVP_OK;
	rvp_groups_free(groups);
	return rvp_fail("name the call stacks", NULL, ENOMEM);
}

void rvp_groups_free(struct rvp_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		free(groups->groups[i].at_moments);
	free(groups->groups);
	free(groups->table);
	*groups = (struct rvp_groups){0};
}

static struct rvp_change growth_of(const struct rvp_groups *groups, const struct rvp_group *group)
{
	const struct rvp_amount *first = &group->at_moments[0];
	const struct rvp_amount *last =
	    groups->grows_to_end ? &group->at_end : &group->at_moments[groups->moment_count - 1];

	return (struct rvp_change){(int64_t)(last->bytes - first->bytes),
				   (int64_t)(last->count - first->count)};
}

struct rvp_change rvp_group_amount(const struct rvp_groups *groups, const struct rvp_group *group,
				   enum rvp_measure measure)
{
	const struct rvp_amount *amount = NULL;

	switch (measure) {
	case RVP_AT_PEAK: amount = &group->at_peak; break;
	case RVP_AT_END: amount = &group->at_end; break;
	case RVP_ALLOCATED:
	case RVP_ALLOCATED_COUNT: amount = &group->allocated; break;
	case RVP_TEMPORARY: amount = &group->temporary; break;
	case RVP_AT_MOMENT: amount = groups->moment_count ? &group->at_moments[0] : NULL; break;
	case RVP_GROWTH:
		if (groups->moment_count)
			return growth_of(groups, group);
		break;
	case RVP_MEASURE_COUNT: break;
	}
	if (!amount)
		return (struct rvp_change){0};
	return (struct rvp_change){(int64_t)amount->bytes, (int64_t)amount->count};
}

struct ranked {
	int64_t first, second;
	uint32_t number;
};

static int by_rank(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->first != b->first)
		return a->first > b->first ? -1 : 1;
	if (a->second != b->second)
		return a->second > b->second ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

uint32_t *rvp_groups_by(const struct rvp_groups *groups, enum rvp_measure measure, size_t *count)
{
	bool by_count = measure == RVP_ALLOCATED_COUNT || measure == RVP_TEMPORARY;
	struct ranked *ranked = malloc((groups->count + 1) * sizeof *ranked);
	uint32_t *order = malloc((groups->count + 1) * sizeof *order);
	size_t kept = 0;

	for (size_t i = 0; ranked && order && i < groups->count; i++) {
		struct rvp_change amount = rvp_group_amount(groups, &groups->groups[i], measure);

		if (!amount.bytes && !amount.count)
			continue;
		ranked[kept++] = (struct ranked){by_count ? amount.count : amount.bytes,
						 by_count ? amount.bytes : amount.count, (uint32_t)i};
	}
	if (ranked && order && kept)
		qsort(ranked, kept, sizeof *ranked, by_rank);
	for (size_t i = 0; ranked && order && i < kept; i++)
		order[i] = ranked[i].number;
	*count = kept;
	if (!ranked) {
		free(order);
		order = NULL;
	}
	free(ranked);
	return order;
}

void rvp_frame_text(const struct rvp_frame *frame, char *text, size_t text_bytes)
{
	char path[PATH_BYTES];

	if (frame->file && frame->line)
		snprintf(text, text_bytes, "%s (%s:%u)", frame->function,
			 rvp_path_tidy(frame->file, path, sizeof path), frame->line);
	else if (frame->file)
		snprintf(text, text_bytes, "%s (%s)", frame->function,
			 rvp_path_tidy(frame->file, path, sizeof path));
	else if (frame->module && frame->kind == RVP_FRAME_FUNCTION)
		snprintf(text, text_bytes, "%s [%s]", frame->function, rvp_symbols_base_name(frame->module));
	else
		snprintf(text, text_bytes, "%s", frame->function);
}
