/* SPDX-License-Identifier: MIT */
/* steps_events.c: see steps_events.h.
 *
 * Python's call paths stand for the native ones where most allocations have one: the interpreter's own frames
 * say nothing of the program's loops. The native call path is then the last word. */
#include "report/steps_events.h"

#include "report/block_table.h"
#include "report/site_table.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 1024, LEAST_ALLOCS = 64, LEAST_ALIGNED = 256, GROUP = 32 };

/* ---- whose loop ---- */

struct tally {
	uint64_t count, python_count;
};

struct thread_count {
	uint32_t process, tid;
	struct tally tallies[2]; /* of all, of those with an alignment */
};

struct rvp_step_census {
	struct thread_count threads[THREADS];
	struct thread_count *last;
	uint32_t count;
};

struct rvp_step_census *rvp_step_census_open(void)
{
	return calloc(1, sizeof(struct rvp_step_census));
}

static bool is_there(const struct thread_count *thread)
{
	return thread->tallies[0].count > 0;
}

static struct thread_count *thread_of(struct rvp_step_census *census, uint32_t process, uint32_t tid)
{
	uint32_t at = (process * 2654435761u + tid) % THREADS;
	struct thread_count *thread = census->last;

	if (thread && thread->tid == tid && thread->process == process)
		return thread;
	for (thread = &census->threads[at]; is_there(thread); thread = &census->threads[at]) {
		if (thread->process == process && thread->tid == tid)
			return census->last = thread;
		at = (at + 1) % THREADS;
	}
	if (census->count >= THREADS * 3 / 4)
		return NULL;
	census->count++;
	*thread = (struct thread_count){.process = process, .tid = tid};
	return census->last = thread;
}

static bool is_aligned_family(uint64_t family)
{
	return family >= RVP_FAMILY_ALIGNED_ALLOC && family <= RVP_FAMILY_PVALLOC;
}

void rvp_step_census_take(struct rvp_step_census *census, const struct rvp_moment *moment)
{
	struct thread_count *thread;

	if (moment->kind != RVP_MOMENT_RECORD || moment->process == RVP_NO_PROCESS ||
	    moment->record->kind != RVP_ALLOC)
		return;
	thread = thread_of(census, moment->process, moment->tid);
	for (int i = 0; thread && i <= is_aligned_family(moment->record->ALLOC.family); i++) {
		thread->tallies[i].count++;
		thread->tallies[i].python_count += moment->record->ALLOC.python != 0;
	}
}

void rvp_step_census_take_run(struct rvp_step_census *census, const struct rvp_moment *moment,
			      const struct rvp_brief *briefs, size_t count)
{
	struct thread_count *thread = NULL;

	for (size_t k = 0; k < count; k++) {
		const struct rvp_compact_event *event = &briefs[k].event;

		if (!event->is_alloc || (!thread && !(thread = thread_of(census, moment->process, moment->tid))))
			continue;
		for (int i = 0; i <= is_aligned_family(event->family); i++) {
			thread->tallies[i].count++;
			thread->tallies[i].python_count += event->python != 0;
		}
	}
}

static const struct thread_count *busiest(const struct rvp_step_census *census, bool only_aligned)
{
	const struct thread_count *found = &census->threads[0];

	for (int i = 1; i < THREADS; i++)
		if (census->threads[i].tallies[only_aligned].count > found->tallies[only_aligned].count)
			found = &census->threads[i];
	return found;
}

/* The main thread of the process of the busiest one, where it makes a tenth as many. */
static const struct thread_count *choose_thread(const struct rvp_run *run,
						const struct rvp_step_census *census, bool only_aligned)
{
	const struct thread_count *found = busiest(census, only_aligned);
	uint64_t count = found->tallies[only_aligned].count;

	for (int i = 0; count && i < THREADS; i++) {
		const struct thread_count *thread = &census->threads[i];

		if (thread->process == found->process && thread->tid == run->processes[found->process].pid &&
		    thread->tallies[only_aligned].count * 10 >= count)
			return thread;
	}
	return found;
}

/* ---- the events ---- */

struct gathering {
	struct rvp_step_events *out;
	struct rvp_site_table sites;
	struct rvp_block_table *tables; /* by process */
	struct rvp_block_table *live;   /* of the thread's process; site: index of the event */
	uint64_t least_bytes;           /* smaller requests are not looked at */
	uint64_t threshold_bytes;       /* of the process: larger ones were to be recorded each */
	size_t room;
	uint32_t seen; /* allocations of the thread */
	bool no_memory, large_were_sampled;
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

/* Leaves out what is below the next size and forgets its blocks; tells the other live blocks of their events' new
 * places. */
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
	for (uint32_t i = 0; i < gathering->live->block_count; i++) {
		struct rvp_block *block = &gathering->live->blocks[i];

		if (!(block->flags & RVP_BLOCK_OCCUPIED))
			continue;
		if (place[block->site] == RVP_STEP_NEVER)
			rvp_block_remove(gathering->live, block);
		else
			block->site = place[block->site];
	}
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

/* Whether the search looks at such an alloc. */
static bool is_wanted(const struct gathering *gathering, uint64_t bytes, uint64_t family)
{
	return gathering->out->is_aligned ? is_aligned_family(family) : bytes >= gathering->least_bytes;
}

static void take_alloc(struct gathering *gathering, const struct rvp_brief *brief)
{
	const struct rvp_compact_event *event = &brief->event;
	struct rvp_step_events *out = gathering->out;
	uint32_t site, index;
	struct rvp_block *old;

	if (gathering->seen < RVP_STEP_NEVER - 1)
		gathering->seen++;
	if (event->bytes < out->least_bytes || !make_room(gathering))
		return;
	index = (uint32_t)out->count;
	site = rvp_site_number(&gathering->sites, out->process, event->stack, event->python);
	old = rvp_block_find(gathering->live, event->address);
	if (old)
		rvp_block_remove(gathering->live, old);
	gathering->no_memory |=
	    site == UINT32_MAX ||
	    !rvp_block_put(gathering->live, &(struct rvp_block){.address = event->address, .site = index});
	out->numbers[index] = gathering->seen - 1;
	out->events[index] = (struct rvp_step_event){
	    .ns = brief->ns,
	    .path = site,
	    .bytes = event->bytes < UINT32_MAX ? (uint32_t)event->bytes : UINT32_MAX,
	    .death = RVP_STEP_NEVER};
	out->count++;
}

/* Any thread may give a block back; what the thread itself gives back says that it is still at it. */
static void take_free(struct gathering *gathering, uint32_t tid, uint64_t address, uint64_t now_ns, uint32_t guess)
{
	struct rvp_step_events *out = gathering->out;
	struct rvp_block *block = rvp_block_find_by(gathering->live, guess, address);

	if (tid == out->tid && out->count) {
		struct rvp_step_event *last = &out->events[out->count - 1];
		uint64_t ns = now_ns - last->ns;

		last->quiet_ns = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
	}
	if (!block)
		return;
	if (block->site < out->count)
		out->events[block->site].death = gathering->seen;
	rvp_block_remove(gathering->live, block);
}

static bool goes_on(const struct gathering *gathering)
{
	return !gathering->no_memory && gathering->sites.count <= RVP_STEP_SITES_MAX;
}

/* Blocks are met at random: those of a group are fetched first. */
static void take_run(struct gathering *gathering, const struct rvp_moment *moment, const struct rvp_brief *briefs,
		     size_t count)
{
	bool is_own = moment->tid == gathering->out->tid;
	uint32_t guesses[GROUP];

	for (size_t part; count; briefs += part, count -= part) {
		part = count < GROUP ? count : GROUP;
		for (size_t i = 0; i < part; i++)
			guesses[i] = rvp_block_guess(gathering->live, briefs[i].event.address);
		for (size_t i = 0; i < part && goes_on(gathering); i++) {
			const struct rvp_compact_event *event = &briefs[i].event;

			if (!event->is_alloc)
				take_free(gathering, moment->tid, event->address, briefs[i].ns, guesses[i]);
			else if (is_own && is_wanted(gathering, event->bytes, event->family))
				take_alloc(gathering, &briefs[i]);
		}
	}
}

static void take_record(struct gathering *gathering, const struct rvp_moment *moment)
{
	const struct rvp_record *record = moment->record;
	struct rvp_step_events *out = gathering->out;
	bool is_own = moment->tid == out->tid;

	if (record->kind == RVP_ALLOC && is_own && is_wanted(gathering, record->ALLOC.bytes, record->ALLOC.family))
		take_alloc(gathering, &(struct rvp_brief){.event = {.address = record->ALLOC.address,
								    .bytes = record->ALLOC.bytes,
								    .stack = (uint32_t)record->ALLOC.stack,
								    .python = (uint32_t)record->ALLOC.python},
							  .ns = moment->ns});
	if (record->kind == RVP_SAMPLE && is_own) {
		out->has_holes |= is_aligned_family(record->SAMPLE.family);
		gathering->large_were_sampled |= record->SAMPLE.bytes >= gathering->threshold_bytes;
	}
	if (record->kind == RVP_FREE)
		take_free(gathering, moment->tid, record->FREE.address, moment->ns, 0);
}

static bool listen(const struct rvp_run *run, struct gathering *gathering)
{
	const struct rvp_process *process = &run->processes[gathering->out->process];
	struct rvp_timeline *timeline = rvp_timeline_open(run, gathering->out->process);
	const struct rvp_brief *briefs;
	struct rvp_moment moment;
	size_t count;

	if (!timeline)
		return false;
	gathering->threshold_bytes = process->threshold_bytes;
	gathering->least_bytes = process->mode == RVP_MODE_FULL ? 0 : process->threshold_bytes;
	rvp_timeline_expect(timeline, gathering->tables);
	while (goes_on(gathering) && (count = rvp_timeline_take(timeline, &moment, &briefs))) {
		if (briefs)
			take_run(gathering, &moment, briefs, count);
		else if (moment.kind == RVP_MOMENT_RECORD)
			take_record(gathering, &moment);
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

static uint32_t path_of(const struct rvp_process *process, const struct rvp_site_key *site, bool is_python,
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
		sum += path_of(process, &sites->keys[i], is_python, NULL);
	out->words = calloc(sum + RVP_STEP_DEPTH_MAX, sizeof *out->words);
	if (!out->words)
		return false;
	sum = 0;
	for (size_t i = 0; i < sites->count; i++) {
		uint32_t depth = path_of(process, &sites->keys[i], is_python, out->words + sum);

		out->paths[i] = (struct rvp_step_path){(uint32_t)sum, depth};
		sum += depth;
	}
	out->path_count = sites->count;
	return true;
}

static bool gather(const struct rvp_run *run, struct rvp_step_events *out, bool is_python)
{
	struct gathering gathering = {.out = out, .tables = calloc(run->process_count + 1, sizeof *gathering.tables)};
	bool is_good = gathering.tables && rvp_site_table_open(&gathering.sites, run->process_count, true);

	gathering.live = gathering.tables ? &gathering.tables[out->process] : NULL;
	is_good = is_good && listen(run, &gathering);
	if (is_good && gathering.sites.count > RVP_STEP_SITES_MAX)
		out->why_none = "there are too many call paths";
	else if (is_good && gathering.large_were_sampled)
		out->why_none = "large blocks came too fast to be recorded each";
	else if (is_good)
		is_good = write_paths(run, out, &gathering.sites, is_python);
	if (gathering.live)
		rvp_block_table_free(gathering.live);
	free(gathering.tables);
	rvp_site_table_free(&gathering.sites);
	return is_good;
}

bool rvp_step_events_gather(const struct rvp_run *run, const struct rvp_step_census *census,
			    bool only_aligned, struct rvp_step_events *out)
{
	const struct thread_count *thread = choose_thread(run, census, only_aligned);
	const struct tally *tally = &thread->tallies[only_aligned];

	*out = (struct rvp_step_events){
	    .why_none = "", .is_aligned = only_aligned, .process = thread->process, .tid = thread->tid};
	if (tally->count < (only_aligned ? LEAST_ALIGNED : LEAST_ALLOCS)) {
		out->why_none = "too few allocations were recorded";
		return true;
	}
	if (run->processes[thread->process].mode != RVP_MODE_FULL) {
		out->is_sampled = !only_aligned;
		out->sure_bytes = only_aligned ? run->processes[thread->process].threshold_bytes : 0;
	}
	return gather(run, out, tally->python_count * 2 > tally->count);
}

void rvp_step_events_free(struct rvp_step_events *events)
{
	free(events->events);
	free(events->numbers);
	free(events->paths);
	free(events->words);
	*events = (struct rvp_step_events){.why_none = ""};
}

uint64_t rvp_step_events_end_ns(const struct rvp_step_events *events)
{
	const struct rvp_step_event *last = &events->events[events->count - 1];

	return last->ns + last->quiet_ns;
}

uint64_t rvp_step_path_key(const struct rvp_step_events *events, uint32_t path, uint32_t depth)
{
	uint64_t key = 0;

	for (uint32_t i = depth; i < events->paths[path].depth; i++)
		key =
		    (key ^ events->words[events->paths[path].first + i]) * 0x9e3779b97f4a7c15u + (key >> 29);
	return key;
}
