/* SPDX-License-Identifier: MIT */
/* kernels_ranges.c: see kernels_ranges.h. */
#include "report/kernels_ranges.h"

#include "report/grow.h"
#include "report/run_source.h"
#include "report/scope_stacks.h"

#include <stdlib.h>
#include <string.h>

static const char between[] = " > ";

struct nest {
	struct rvp_text name;
	uint32_t parent;
};

/* Where the scopes of a thread are. */
struct thread {
	uint32_t process, tid, stream;
	bool is_used;
	uint64_t serial;
};

struct rvp_kernel_ranges {
	const struct rvp_run *run;
	struct rvp_timeline *timeline; /* NULL: no process has scopes, or all was read */
	struct rvp_scope_stacks stacks;
	struct rvp_moment next; /* the first one that was not taken */
	uint64_t asked_ns;
	struct nest *nests;
	size_t nest_count, nest_room;
	uint32_t *nest_places; /* by hash: number; 0: free */
	size_t nest_place_count;
	struct thread *threads; /* by hash */
	size_t thread_count, thread_place_count;
	uint64_t cut_count;
	bool no_memory, is_wanted;
};

/* ---- nests ---- */

static uint64_t hash_of(uint32_t parent, struct rvp_text name)
{
	uint64_t hash = 1469598103934665603u ^ parent;

	for (size_t i = 0; i < name.length; i++)
		hash = (hash ^ (unsigned char)name.bytes[i]) * 1099511628211u;
	return hash ^ hash >> 32;
}

static uint32_t *place_of(const struct rvp_kernel_ranges *ranges, uint32_t parent, struct rvp_text name)
{
	size_t at = hash_of(parent, name) & (ranges->nest_place_count - 1);

	for (; ranges->nest_places[at]; at = (at + 1) & (ranges->nest_place_count - 1)) {
		const struct nest *nest = &ranges->nests[ranges->nest_places[at]];

		if (nest->parent == parent && nest->name.length == name.length &&
		    (!name.length || !memcmp(nest->name.bytes, name.bytes, name.length)))
			break;
	}
	return &ranges->nest_places[at];
}

static bool widen_nests(struct rvp_kernel_ranges *ranges)
{
	size_t count = ranges->nest_place_count ? ranges->nest_place_count * 2 : 256;
	uint32_t *places = calloc(count, sizeof *places);

	if (!places)
		return false;
	free(ranges->nest_places);
	ranges->nest_places = places;
	ranges->nest_place_count = count;
	for (size_t i = RVP_RANGE_FIRST; i < ranges->nest_count; i++)
		*place_of(ranges, ranges->nests[i].parent, ranges->nests[i].name) = (uint32_t)i;
	return true;
}

static uint32_t nest_of(struct rvp_kernel_ranges *ranges, uint32_t parent, struct rvp_text name)
{
	uint32_t *place;

	if (ranges->nest_count * 2 >= ranges->nest_place_count && !widen_nests(ranges)) {
		ranges->no_memory = true;
		return parent;
	}
	place = place_of(ranges, parent, name);
	if (*place)
		return *place;
	if (ranges->nest_count == RVP_RANGES_MAX) {
		ranges->cut_count++;
		return parent;
	}
	if (!rvp_grow((void **)&ranges->nests, &ranges->nest_room, ranges->nest_count + 1, sizeof *ranges->nests)) {
		ranges->no_memory = true;
		return parent;
	}
	ranges->nests[ranges->nest_count] = (struct nest){name, parent};
	*place = (uint32_t)ranges->nest_count++;
	return *place;
}

/* ---- threads ---- */

static struct thread *thread_at(const struct rvp_kernel_ranges *ranges, uint32_t process, uint32_t tid)
{
	uint64_t hash = ((uint64_t)process << 32 | tid) * 0x9e3779b97f4a7c15u;
	size_t at = (hash ^ hash >> 32) & (ranges->thread_place_count - 1);

	while (ranges->threads[at].is_used &&
	       (ranges->threads[at].process != process || ranges->threads[at].tid != tid))
		at = (at + 1) & (ranges->thread_place_count - 1);
	return &ranges->threads[at];
}

static bool widen_threads(struct rvp_kernel_ranges *ranges)
{
	size_t old_count = ranges->thread_place_count, count = old_count ? old_count * 2 : 64;
	struct thread *old = ranges->threads, *threads = calloc(count, sizeof *threads);

	if (!threads)
		return false;
	ranges->threads = threads;
	ranges->thread_place_count = count;
	for (size_t i = 0; i < old_count; i++)
		if (old[i].is_used)
			*thread_at(ranges, old[i].process, old[i].tid) = old[i];
	free(old);
	return true;
}

static void see_thread(struct rvp_kernel_ranges *ranges, const struct rvp_moment *moment)
{
	struct thread *thread;

	if (ranges->thread_count * 2 >= ranges->thread_place_count && !widen_threads(ranges)) {
		ranges->no_memory = true;
		return;
	}
	thread = thread_at(ranges, moment->process, moment->tid);
	ranges->thread_count += !thread->is_used;
	*thread = (struct thread){moment->process, moment->tid, moment->stream, true, moment->thread_serial};
}

/* ---- reading on ---- */

static void take(struct rvp_kernel_ranges *ranges)
{
	static const enum rvp_event_kind kinds[] = {[RVP_MOMENT_RECORD] = RVP_EVENT_RECORD,
						    [RVP_MOMENT_BEGIN] = RVP_EVENT_BEGIN,
						    [RVP_MOMENT_END] = RVP_EVENT_END};
	struct rvp_event event = {.kind = kinds[ranges->next.kind], .moment = &ranges->next};

	if (event.kind == RVP_EVENT_RECORD && ranges->next.record->kind == RVP_SCOPE)
		see_thread(ranges, &ranges->next);
	ranges->no_memory |= !rvp_scope_stacks_see(&ranges->stacks, &event);
}

/* Allocs and frees that come in runs are of no use here. */
static void find_next(struct rvp_kernel_ranges *ranges)
{
	const struct rvp_brief *briefs;
	size_t count;

	do
		count = rvp_timeline_take(ranges->timeline, &ranges->next, &briefs);
	while (count && briefs);
	if (count)
		return;
	rvp_timeline_close(ranges->timeline);
	ranges->timeline = NULL;
}

static void read_up_to(struct rvp_kernel_ranges *ranges, uint64_t ns)
{
	while (ranges->timeline && ranges->next.ns <= ns) {
		take(ranges);
		find_next(ranges);
	}
}

/* A scope that is open has its number in `reason`, once it was asked for. */
static uint32_t innermost(struct rvp_kernel_ranges *ranges, const struct thread *thread)
{
	struct rvp_moment moment = {
	    .process = thread->process, .stream = thread->stream, .thread_serial = thread->serial};
	size_t count;
	struct rvp_scope *scopes = rvp_scopes_of(&ranges->stacks, &moment, &count);
	uint32_t number = RVP_RANGE_NONE;

	for (size_t i = 0; i < count && i < RVP_RANGE_DEPTH_MAX; i++) {
		if (!scopes[i].reason)
			scopes[i].reason = nest_of(ranges, number, scopes[i].name);
		number = scopes[i].reason;
	}
	return number;
}

uint32_t rvp_kernel_range_at(struct rvp_kernel_ranges *ranges, uint32_t process, uint32_t tid, uint64_t ns)
{
	const struct thread *thread;

	if (!ranges->is_wanted)
		return RVP_RANGE_UNKNOWN;
	if (!ranges->run->processes[process].source->has_scopes)
		return RVP_RANGE_NONE;
	if (ns < ranges->asked_ns)
		return RVP_RANGE_UNKNOWN;
	ranges->asked_ns = ns;
	read_up_to(ranges, ns);
	if (ranges->no_memory)
		return RVP_RANGE_UNKNOWN;
	thread = ranges->thread_place_count ? thread_at(ranges, process, tid) : NULL;
	return thread && thread->is_used ? innermost(ranges, thread) : RVP_RANGE_NONE;
}

/* ---- names ---- */

size_t rvp_kernel_range_count(const struct rvp_kernel_ranges *ranges)
{
	return ranges->nest_count;
}

uint32_t rvp_kernel_range_parent(const struct rvp_kernel_ranges *ranges, uint32_t number)
{
	return number < ranges->nest_count ? ranges->nests[number].parent : RVP_RANGE_NONE;
}

uint64_t rvp_kernel_ranges_cut(const struct rvp_kernel_ranges *ranges)
{
	return ranges->cut_count;
}

/* Puts what fits in front of `at`; false: not all of it did. */
static bool put_before(char **at, const char *begin, const char *text, size_t length)
{
	size_t room = (size_t)(*at - begin), fits = length < room ? length : room;

	*at -= fits;
	memcpy(*at, text + (length - fits), fits);
	return fits == length;
}

const char *rvp_kernel_range_text(const struct rvp_kernel_ranges *ranges, uint32_t number, char *text, size_t text_bytes)
{
	char *at = text + text_bytes - 1;
	bool is_whole = true;

	*at = '\0';
	for (uint32_t inner = RVP_RANGE_NONE; is_whole && number >= RVP_RANGE_FIRST && number < ranges->nest_count;
	     inner = number, number = ranges->nests[number].parent) {
		struct rvp_text name = ranges->nests[number].name;

		is_whole = (!inner || put_before(&at, text, between, sizeof between - 1)) &&
			   (!name.length || put_before(&at, text, name.bytes, name.length));
	}
	if (!is_whole && text_bytes > 3)
		memcpy(at, "...", 3);
	return memmove(text, at, strlen(at) + 1);
}

/* ---- open, close ---- */

static bool has_scopes(const struct rvp_run *run)
{
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].source->has_scopes)
			return true;
	return false;
}

static bool begin_reading(struct rvp_kernel_ranges *ranges)
{
	if (!ranges->is_wanted || !has_scopes(ranges->run))
		return true;
	ranges->timeline = rvp_timeline_open(ranges->run, RVP_NO_PROCESS);
	if (!ranges->timeline)
		return false;
	find_next(ranges);
	return true;
}

struct rvp_kernel_ranges *rvp_kernel_ranges_open(const struct rvp_run *run, bool is_wanted)
{
	struct rvp_kernel_ranges *ranges = calloc(1, sizeof *ranges);

	if (!ranges)
		return NULL;
	ranges->run = run;
	ranges->is_wanted = is_wanted;
	if (!rvp_scope_stacks_open(&ranges->stacks, run, NULL) ||
	    !rvp_grow((void **)&ranges->nests, &ranges->nest_room, RVP_RANGE_FIRST, sizeof *ranges->nests) ||
	    !begin_reading(ranges)) {
		rvp_kernel_ranges_close(ranges);
		return NULL;
	}
	ranges->nest_count = RVP_RANGE_FIRST;
	return ranges;
}

void rvp_kernel_ranges_close(struct rvp_kernel_ranges *ranges)
{
	if (!ranges)
		return;
	rvp_timeline_close(ranges->timeline);
	rvp_scope_stacks_free(&ranges->stacks);
	free(ranges->nests);
	free(ranges->nest_places);
	free(ranges->threads);
	free(ranges);
}
