/* SPDX-License-Identifier: MIT */
/* steps_events.c: see steps_events.h.
 *
 * Python's call paths stand for the native ones where most allocations have one: the interpreter's own frames
 * say nothing of the program's loops. The native call path is then the last word. */
#include "report/steps_events.h"

#include "report/block_table.h"
#include "report/site_table.h"
#include "report/timeline.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 1024, LEAST_ALLOCS = 64, LEAST_ALIGNED = 256 };

/* ---- whose loop ---- */

struct thread_count {
	uint32_t process, tid;
	uint64_t count, python_count;
};

struct census {
	struct thread_count threads[THREADS];
	uint32_t count;
};

static struct thread_count *thread_of(struct census *census, uint32_t process, uint32_t tid)
{
	uint32_t at = (process * 2654435761u + tid) % THREADS;

	while (census->threads[at].count &&
	       (census->threads[at].process != process || census->threads[at].tid != tid))
		at = (at + 1) % THREADS;
	if (census->threads[at].count)
		return &census->threads[at];
	if (census->count >= THREADS * 3 / 4)
		return NULL;
	census->count++;
	census->threads[at].process = process;
	census->threads[at].tid = tid;
	return &census->threads[at];
}

static void count_alloc(struct census *census, const struct rvp_moment *moment)
{
	struct thread_count *thread = thread_of(census, moment->process, moment->tid);

	if (!thread)
		return;
	thread->count++;
	thread->python_count += moment->record->ALLOC.python != 0;
}

static bool is_aligned(const struct rvp_moment *moment)
{
	uint64_t family = moment->record->ALLOC.family;

	return family >= RVP_FAMILY_ALIGNED_ALLOC && family <= RVP_FAMILY_PVALLOC;
}

static bool take_census(const struct rvp_run *run, bool only_aligned, struct census *census)
{
	struct rvp_timeline *timeline = rvp_timeline_open(run, RVP_NO_PROCESS);
	struct rvp_moment moment;

	if (!timeline)
		return false;
	while (rvp_timeline_next(timeline, &moment))
		if (moment.kind == RVP_MOMENT_RECORD && moment.process != RVP_NO_PROCESS &&
		    moment.record->kind == RVP_ALLOC && (!only_aligned || is_aligned(&moment)))
			count_alloc(census, &moment);
	rvp_timeline_close(timeline);
	return true;
}

static const struct thread_count *busiest(const struct census *census)
{
	const struct thread_count *found = NULL;

	for (int i = 0; i < THREADS; i++)
		if (census->threads[i].count && (!found || census->threads[i].count > found->count))
			found = &census->threads[i];
	return found;
}

/* The main thread of the process of the busiest one, where it makes a tenth as many. */
static const struct thread_count *choose_thread(const struct rvp_run *run, const struct census *census)
{
	const struct thread_count *found = busiest(census);

	for (int i = 0; found && i < THREADS; i++) {
		const struct thread_count *thread = &census->threads[i];

		if (thread->count && thread->process == found->process &&
		    thread->tid == run->processes[found->process].pid && thread->count * 10 >= found->count)
			return thread;
	}
	return found;
}

/* ---- the events ---- */

struct gathering {
	struct rvp_step_events *out;
	struct rvp_site_table sites;
	struct rvp_block_table live; /* site: index of the event */
	size_t room;
	uint32_t seen; /* allocations of the thread */
	bool no_memory;
};

static bool grow(struct gathering *gathering)
{
	struct rvp_step_events *out = gathering->out;
	size_t room = gathering->room ? gathering->room * 2 : 4096;
	void *events = realloc(out->events, room * sizeof *out->events), *numbers;

	if (events)
		out->events = events;
	numbers = realloc(out->numbers, room * sizeof *out->numbers);
	if (numbers)
		out->numbers = numbers;
	if (!events || !numbers)
		return false;
	gathering->room = room;
	return true;
}

/* Leaves out what is below the next size, and tells the live blocks of their events' new places. */
static bool thin_out(struct gathering *gathering)
{
	struct rvp_step_events *out = gathering->out;
	uint32_t *place = malloc(out->count * sizeof *place);
	size_t kept = 0;

	if (!place)
		return false;
	out->least_bytes = out->least_bytes ? out->least_bytes * 2 : 64;
	for (size_t i = 0; i < out->count; i++) {
		bool stays = out->events[i].bytes >= out->least_bytes;

		place[i] = stays ? (uint32_t)kept : RVP_STEP_NEVER;
		out->events[kept] = out->events[i];
		out->numbers[kept] = out->numbers[i];
		kept += stays;
	}
	for (size_t i = 0; gathering->live.places && i <= gathering->live.mask; i++)
		if (gathering->live.places[i].flags & RVP_BLOCK_OCCUPIED &&
		    gathering->live.places[i].site != RVP_STEP_NEVER)
			gathering->live.places[i].site = place[gathering->live.places[i].site];
	out->count = kept;
	free(place);
	return true;
}

static bool make_room(struct gathering *gathering)
{
	while (gathering->out->count >= RVP_STEP_EVENTS_MAX)
		if (!thin_out(gathering))
			return false;
	return gathering->out->count < gathering->room || grow(gathering);
}

static void take_alloc(struct gathering *gathering, const struct rvp_moment *moment)
{
	const struct rvp_record_ALLOC *record = &moment->record->ALLOC;
	struct rvp_step_events *out = gathering->out;
	uint32_t site, index = (uint32_t)out->count;
	struct rvp_block *old = rvp_block_find(&gathering->live, record->address);

	if (gathering->seen < RVP_STEP_NEVER - 1)
		gathering->seen++;
	if (record->bytes < out->least_bytes || !make_room(gathering))
		return;
	index = (uint32_t)out->count;
	site = rvp_site_number(&gathering->sites, moment->process, (uint32_t)record->stack,
			       (uint32_t)record->python);
	if (old)
		rvp_block_remove(&gathering->live, old);
	gathering->no_memory |=
	    site == UINT32_MAX ||
	    !rvp_block_put(&gathering->live, (struct rvp_block){.address = record->address, .site = index});
	out->numbers[index] = gathering->seen - 1;
	out->events[index] = (struct rvp_step_event){
	    .ns = moment->ns,
	    .path = site,
	    .bytes = record->bytes < UINT32_MAX ? (uint32_t)record->bytes : UINT32_MAX,
	    .death = RVP_STEP_NEVER};
	out->count++;
}

/* Any thread may give a block back; what the thread itself gives back says that it is still at it. */
static void take_free(struct gathering *gathering, const struct rvp_moment *moment)
{
	struct rvp_step_events *out = gathering->out;
	struct rvp_block *block = rvp_block_find(&gathering->live, moment->record->FREE.address);

	if (moment->tid == out->tid && out->count) {
		struct rvp_step_event *last = &out->events[out->count - 1];
		uint64_t ns = moment->ns - last->ns;

		last->quiet_ns = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
	}
	if (!block)
		return;
	if (block->site < out->count)
		out->events[block->site].death = gathering->seen;
	rvp_block_remove(&gathering->live, block);
}

static bool listen(const struct rvp_run *run, struct gathering *gathering)
{
	const struct rvp_process *process = &run->processes[gathering->out->process];
	uint64_t least = process->mode == RVP_MODE_FULL ? 0 : process->threshold_bytes;
	struct rvp_timeline *timeline = rvp_timeline_open(run, gathering->out->process);
	struct rvp_moment moment;

	if (!timeline)
		return false;
	while (!gathering->no_memory && gathering->sites.count <= RVP_STEP_SITES_MAX &&
	       rvp_timeline_next(timeline, &moment)) {
		if (moment.kind != RVP_MOMENT_RECORD)
			continue;
		if (moment.record->kind == RVP_ALLOC && moment.tid == gathering->out->tid &&
		    (gathering->out->is_aligned ? is_aligned(&moment) : moment.record->ALLOC.bytes >= least))
			take_alloc(gathering, &moment);
		if (moment.record->kind == RVP_FREE)
			take_free(gathering, &moment);
	}
	rvp_timeline_close(timeline);
	return !gathering->no_memory;
}

/* ---- call paths ---- */

static uint64_t mixed(uint64_t word)
{
	word ^= word >> 31;
	word *= 0x9e3779b97f4a7c15u;
	return word ^ word >> 29;
}

/* The words of a path from the root into `words` (NULL: only counted), at most RVP_STEP_DEPTH_MAX. */
static uint32_t native_path(const struct rvp_process *process, uint32_t stack, uint64_t *words)
{
	uint32_t depth = 0, left;
	const struct rvp_node *node;

	for (node = rvp_node_at(process, stack); node; node = rvp_node_at(process, node->parent))
		depth++;
	left = depth;
	for (node = rvp_node_at(process, stack); words && node; node = rvp_node_at(process, node->parent))
		if (--left < RVP_STEP_DEPTH_MAX)
			words[left] = node->pc;
	return depth < RVP_STEP_DEPTH_MAX ? depth : RVP_STEP_DEPTH_MAX;
}

static uint32_t python_path(const struct rvp_process *process, uint32_t python, uint32_t stack,
			    uint64_t *words)
{
	uint32_t depth = 0, left;
	const struct rvp_python_node *node;

	for (node = rvp_python_node_at(process, python); node;
	     node = rvp_python_node_at(process, node->parent))
		depth++;
	left = depth;
	for (node = rvp_python_node_at(process, python); words && node;
	     node = rvp_python_node_at(process, node->parent))
		if (--left < RVP_STEP_DEPTH_MAX - 1)
			words[left] = mixed((uint64_t)node->code << 32 | node->instruction);
	if (depth > RVP_STEP_DEPTH_MAX - 1)
		depth = RVP_STEP_DEPTH_MAX - 1;
	if (words && depth)
		words[depth] = mixed(~(uint64_t)stack);
	return depth ? depth + 1 : 0;
}

static uint32_t path_of(const struct rvp_process *process, const struct rvp_site *site, bool is_python,
			uint64_t *words)
{
	return is_python ? python_path(process, site->python, site->stack, words)
			 : native_path(process, site->stack, words);
}

static bool write_paths(const struct rvp_run *run, struct rvp_step_events *out,
			const struct rvp_site_table *sites, bool is_python)
{
	const struct rvp_process *process = &run->processes[out->process];
	size_t sum = 0;

	out->paths = calloc(sites->count + 1, sizeof *out->paths);
	out->words = NULL;
	if (!out->paths)
		return false;
	for (size_t i = 0; i < sites->count; i++)
		sum += path_of(process, &sites->sites[i], is_python, NULL);
	out->words = calloc(sum + RVP_STEP_DEPTH_MAX, sizeof *out->words);
	if (!out->words)
		return false;
	sum = 0;
	for (size_t i = 0; i < sites->count; i++) {
		uint32_t depth = path_of(process, &sites->sites[i], is_python, out->words + sum);

		out->paths[i] = (struct rvp_step_path){(uint32_t)sum, depth};
		sum += depth;
	}
	out->path_count = sites->count;
	return true;
}

static bool gather(const struct rvp_run *run, struct rvp_step_events *out, bool is_python)
{
	struct gathering gathering = {.out = out};
	bool is_good = rvp_site_table_open(&gathering.sites, run->process_count);

	is_good = is_good && listen(run, &gathering);
	if (is_good && gathering.sites.count > RVP_STEP_SITES_MAX)
		out->why_none = "there are too many call paths";
	else if (is_good)
		is_good = write_paths(run, out, &gathering.sites, is_python);
	rvp_block_table_free(&gathering.live);
	rvp_site_table_free(&gathering.sites);
	return is_good;
}

bool rvp_step_events_gather(const struct rvp_run *run, bool only_aligned, struct rvp_step_events *out)
{
	struct census *census = calloc(1, sizeof *census);
	const struct thread_count *thread;
	bool is_good;

	*out = (struct rvp_step_events){.why_none = "", .is_aligned = only_aligned};
	is_good = census && take_census(run, only_aligned, census);
	thread = is_good ? choose_thread(run, census) : NULL;
	if (is_good && (!thread || thread->count < (only_aligned ? LEAST_ALIGNED : LEAST_ALLOCS))) {
		out->why_none = "too few allocations were recorded";
	} else if (is_good) {
		out->process = thread->process;
		out->tid = thread->tid;
		out->is_sampled = !only_aligned && run->processes[thread->process].mode != RVP_MODE_FULL;
		is_good = gather(run, out, thread->python_count * 2 > thread->count);
	}
	free(census);
	return is_good;
}

void rvp_step_events_free(struct rvp_step_events *events)
{
	free(events->events);
	free(events->numbers);
	free(events->paths);
	free(events->words);
	*events = (struct rvp_step_events){.why_none = ""};
}
