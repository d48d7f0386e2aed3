/* SPDX-License-Identifier: MIT */
/* inherit.c: see inherit.h.
 *
 * Each child has a table of wanted addresses. A process is walked alone, children before it; at the moment of
 * a child's fork what the child wants is looked up in what is live. What is not live there and was never
 * touched by the process itself is wanted from its own parent in turn (`handed on`), and comes back down at
 * the end.
 *
 * A child that was made behind our hooks (_Fork, raw clone) has no FORK record: it was born at some moment
 * between its start by the kernel's clock, that hundredth of a second and its first record, and what was live
 * at any moment of that may be its own. Which block of an address that was, and so its size, is not
 * sure: no total that holds one is called exact.
 *
 * Invariants
 *   (I1) A wanted block is RVP_BLOCK_SUSPECT until it is found.
 *   (I2) Processes are walked by falling begin time: a child begins no earlier than its parent.
 */
#include "report/inherit.h"

#include "report/run_source.h"
#include "report/timeline.h"

#include <stdlib.h>

enum {
	WANTED = RVP_BLOCK_SUSPECT,
	GONE = 8,  /* the parent itself had given it back before the fork */
	WENT = 16, /* of a mark: given back at birth_ns, and bytes is one more than the block had */
};

struct birth { /* of a child by fork */
	uint32_t child, parent;
	uint64_t fork_ns;
	uint64_t from_ns; /* earliest; fork_ns where the fork was recorded */
};

struct rvp_inheritance {
	size_t process_count;
	struct rvp_block_table *wanted; /* by process; after rvp_inherit only what was found */
	struct birth *births;           /* by parent, then fork_ns */
	size_t birth_count;
	bool *is_unsure; /* by process */
};

struct walk {
	const struct rvp_run *run;
	struct rvp_inheritance *inheritance;
	uint32_t process;
	struct rvp_block_table live;
	struct rvp_block_table
	    touched;                  /* addresses that some child wants and this process had or gave back */
	struct rvp_block *last_freed; /* by stream */
	const struct birth *birth, *births_end;
	bool has_children, no_memory;
};

static int compare_births(const void *left, const void *right)
{
	const struct birth *a = left, *b = right;

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return a->fork_ns < b->fork_ns ? -1 : a->fork_ns > b->fork_ns;
}

/* The last FORK record of `parent` before the child began: one that names it, else one that names nobody. */
static bool find_fork(const struct rvp_run *run, const struct rvp_process *parent,
		      const struct rvp_process *child, uint64_t *fork_ns)
{
	const struct rvp_process_source *source = parent->source;
	const struct rvp_process_source *born = child->source;
	uint64_t born_ns =
	    born->has_process_record ? rvp_process_ns(run, child, born->process_stamp) : child->begin_ns;
	bool is_found = false, is_named = false;

	for (size_t i = 0; i < source->fork_count; i++) {
		const struct rvp_fork *one = &source->forks[i];
		uint64_t ns = rvp_process_ns(run, parent, one->stamp);
		bool names_it = one->child_pid == child->pid;

		if ((one->child_pid && !names_it) || ns > born_ns || (is_named && !names_it))
			continue;
		if (is_found && is_named == names_it && ns < *fork_ns)
			continue;
		is_found = true;
		is_named = names_it;
		*fork_ns = ns;
	}
	return is_found;
}

/* A child whose parent is gone has another parent's pid: then the process that says it made it. */
static uint32_t find_maker(const struct rvp_run *run, const struct rvp_process *child)
{
	uint64_t fork_ns, best_ns = 0;
	uint32_t best = RVP_NO_PROCESS;

	for (uint32_t i = 0; i < run->process_count; i++) {
		const struct rvp_process_source *source = run->processes[i].source;
		bool names_it = false;

		for (size_t k = 0; k < source->fork_count && !names_it; k++)
			names_it = source->forks[k].child_pid == child->pid;
		if (i == child->number || !names_it || !find_fork(run, &run->processes[i], child, &fork_ns))
			continue;
		if (best == RVP_NO_PROCESS || fork_ns > best_ns) {
			best = i;
			best_ns = fork_ns;
		}
	}
	return best;
}

/* Start times are in hundredths of a second, cut. */
static const uint64_t start_tick_ns = 10000000;

static uint64_t start_ns(const struct rvp_run *run, const struct rvp_process *child)
{
	uint64_t boottime_ns =
	    child->start_ticks < UINT64_MAX / start_tick_ns ? child->start_ticks * start_tick_ns : 0;

	return rvp_clock_unix_of_boottime(&run->source->clock, child->clock, boottime_ns);
}

static void add_birth(struct rvp_inheritance *inheritance, const struct rvp_run *run,
		      const struct rvp_process *child)
{
	struct birth birth = {.child = child->number, .parent = child->parent, .fork_ns = child->begin_ns};

	if (birth.parent == RVP_NO_PROCESS)
		birth.parent = find_maker(run, child);
	if (birth.parent == RVP_NO_PROCESS)
		return;
	if (find_fork(run, &run->processes[birth.parent], child, &birth.fork_ns)) {
		birth.from_ns = birth.fork_ns;
	} else {
		birth.from_ns = start_ns(run, child);
		if (birth.from_ns > birth.fork_ns)
			birth.from_ns = birth.fork_ns;
		if (birth.fork_ns - birth.from_ns > start_tick_ns)
			birth.fork_ns = birth.from_ns + start_tick_ns;
	}
	inheritance->births[inheritance->birth_count++] = birth;
}

static void list_births(struct rvp_inheritance *inheritance, const struct rvp_run *run)
{
	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].is_fork && run->processes[i].source->has_log)
			add_birth(inheritance, run, &run->processes[i]);
	if (inheritance->birth_count)
		qsort(inheritance->births, inheritance->birth_count, sizeof *inheritance->births,
		      compare_births);
}

static const struct birth *first_birth(const struct rvp_inheritance *inheritance, uint32_t parent)
{
	size_t low = 0, high = inheritance->birth_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (inheritance->births[middle].parent < parent)
			low = middle + 1;
		else
			high = middle;
	}
	return inheritance->births + low;
}

static void want(struct walk *walk, uint64_t address)
{
	struct rvp_block_table *wanted = &walk->inheritance->wanted[walk->process];

	if (!walk->run->processes[walk->process].is_fork || rvp_block_find(wanted, address))
		return;
	if (!rvp_block_put(wanted, &(struct rvp_block){.address = address, .flags = WANTED}))
		walk->no_memory = true;
}

/* When the child was born is known to a hundredth of a second: what was live then may have had another size.
 */
static bool is_unsure(const struct birth *birth)
{
	return birth->from_ns < birth->fork_ns;
}

/* The process gave it back when the child may have been there already. */
static bool went_at_birth(const struct rvp_block *mark, const struct birth *birth)
{
	return mark && mark->bytes && mark->flags & WENT && mark->birth_ns >= birth->from_ns &&
	       is_unsure(birth);
}

static void look_up(struct walk *walk, struct rvp_block *wanted)
{
	const struct rvp_block *found = rvp_block_find(&walk->live, wanted->address);
	const struct rvp_block *mark = rvp_block_find(&walk->touched, wanted->address);

	walk->inheritance->is_unsure[walk->birth->child] |= is_unsure(walk->birth);
	if (found) {
		wanted->bytes = found->bytes;
		wanted->flags = RVP_BLOCK_OCCUPIED | (found->flags & RVP_BLOCK_SAMPLED);
	} else if (went_at_birth(mark, walk->birth)) {
		wanted->bytes = mark->bytes - 1;
		wanted->flags = RVP_BLOCK_OCCUPIED | (mark->flags & RVP_BLOCK_SAMPLED);
	} else if (mark && mark->bytes) {
		wanted->flags = RVP_BLOCK_OCCUPIED | GONE;
	} else {
		want(walk, wanted->address);
	}
}

static void look_up_for_child(struct walk *walk, uint32_t child)
{
	struct rvp_block_table *table = &walk->inheritance->wanted[child];

	for (uint32_t i = 0; i < table->block_count; i++)
		if (table->blocks[i].flags & WANTED)
			look_up(walk, &table->blocks[i]);
}

static void look_up_until(struct walk *walk, uint64_t ns)
{
	for (; walk->birth < walk->births_end && walk->birth->fork_ns < ns; walk->birth++)
		look_up_for_child(walk, walk->birth->child);
}

/* Children's wants, so that the walk can see which of them this process has touched. */
static void list_wanted_by_children(struct walk *walk)
{
	for (const struct birth *birth = walk->birth; birth < walk->births_end; birth++) {
		const struct rvp_block_table *table = &walk->inheritance->wanted[birth->child];

		for (uint32_t i = 0; i < table->block_count; i++) {
			if (!(table->blocks[i].flags & WANTED))
				continue;
			uint64_t address = table->blocks[i].address;

			walk->has_children = true;
			if (!rvp_block_find(&walk->touched, address) &&
			    !rvp_block_put(&walk->touched, &(struct rvp_block){.address = address}))
				walk->no_memory = true;
		}
	}
}

static void touch(struct walk *walk, uint64_t address)
{
	struct rvp_block *mark = walk->has_children ? rvp_block_find(&walk->touched, address) : NULL;

	if (mark)
		mark->bytes = 1;
}

static void mark_as_gone(struct walk *walk, const struct rvp_block *block, uint64_t ns)
{
	struct rvp_block *mark = walk->has_children ? rvp_block_find(&walk->touched, block->address) : NULL;

	if (!mark)
		return;
	mark->bytes = block->bytes + 1;
	mark->birth_ns = ns;
	mark->flags = RVP_BLOCK_OCCUPIED | WENT | (block->flags & RVP_BLOCK_SAMPLED);
}

static void see_alloc(struct walk *walk, const struct rvp_record *record)
{
	struct rvp_block *block = rvp_block_find(&walk->live, record->ALLOC.address);
	uint32_t flags = record->kind == RVP_SAMPLE ? RVP_BLOCK_SAMPLED : 0;

	touch(walk, record->ALLOC.address);
	if (!block)
		block = rvp_block_put(&walk->live, &(struct rvp_block){.address = record->ALLOC.address});
	if (!block) {
		walk->no_memory = true;
		return;
	}
	block->bytes = record->ALLOC.bytes;
	block->flags = RVP_BLOCK_OCCUPIED | flags;
}

/* What a free of an unknown block touches, as an UNFREE has to leave it: it was there and still is. */
static struct rvp_block touched_by(struct walk *walk, uint64_t address)
{
	const struct rvp_block *mark = walk->has_children ? rvp_block_find(&walk->touched, address) : NULL;

	return (struct rvp_block){.address = address, .flags = mark && !mark->bytes ? WANTED : 0};
}

static void untouch(struct walk *walk, uint64_t address)
{
	struct rvp_block *mark = rvp_block_find(&walk->touched, address);

	if (mark)
		mark->bytes = 0;
}

static void see_free(struct walk *walk, const struct rvp_moment *moment)
{
	uint64_t address = moment->record->FREE.address;
	struct rvp_block *block = rvp_block_find(&walk->live, address);

	if (!block) {
		walk->last_freed[moment->stream] = touched_by(walk, address);
		touch(walk, address);
		want(walk, address);
		return;
	}
	mark_as_gone(walk, block, moment->ns);
	walk->last_freed[moment->stream] = *block;
	rvp_block_remove(&walk->live, block);
}

static void see_unfree(struct walk *walk, const struct rvp_moment *moment)
{
	struct rvp_block *block = &walk->last_freed[moment->stream];

	if (block->address != moment->record->UNFREE.address)
		block->flags = 0;
	if (block->flags & WANTED)
		untouch(walk, block->address);
	else if (block->flags && !rvp_block_find(&walk->live, block->address) && !rvp_block_put(&walk->live, block))
		walk->no_memory = true;
	block->flags = 0;
}

static void see(struct walk *walk, const struct rvp_moment *moment)
{
	look_up_until(walk, moment->ns);
	switch (moment->record->kind) {
	case RVP_ALLOC:
	case RVP_SAMPLE: see_alloc(walk, moment->record); break;
	case RVP_FREE: see_free(walk, moment); break;
	case RVP_UNFREE: see_unfree(walk, moment); break;
	default: break;
	}
}

static bool walk_records(struct walk *walk)
{
	struct rvp_timeline *timeline = rvp_timeline_open(walk->run, walk->process);
	struct rvp_moment moment;

	if (!timeline)
		return false;
	walk->last_freed = calloc(rvp_timeline_streams(timeline) + 1, sizeof *walk->last_freed);
	while (walk->last_freed && !walk->no_memory && rvp_timeline_next(timeline, &moment))
		see(walk, &moment);
	look_up_until(walk, RVP_NEVER);
	rvp_timeline_close(timeline);
	bool is_done = walk->last_freed && !walk->no_memory;

	free(walk->last_freed);
	return is_done;
}

static bool walk_process(struct rvp_inheritance *inheritance, const struct rvp_run *run, uint32_t process)
{
	struct walk walk = {.run = run, .inheritance = inheritance, .process = process};
	bool is_done = true;

	walk.birth = first_birth(inheritance, process);
	walk.births_end = first_birth(inheritance, process + 1);
	list_wanted_by_children(&walk);
	if (walk.has_children || (run->processes[process].is_fork && run->processes[process].source->has_log))
		is_done = walk_records(&walk);
	rvp_block_table_free(&walk.live);
	rvp_block_table_free(&walk.touched);
	return is_done && !walk.no_memory;
}

/* What a parent got from its own parent comes down to the child that asked for it. */
static void hand_down(struct rvp_inheritance *inheritance, const struct birth *birth)
{
	struct rvp_block_table *table = &inheritance->wanted[birth->child];

	for (uint32_t i = 0; i < table->block_count; i++) {
		struct rvp_block *wanted = &table->blocks[i];
		const struct rvp_block *found;

		if (!(wanted->flags & WANTED))
			continue;
		found = rvp_block_find(&inheritance->wanted[birth->parent], wanted->address);
		if (!found || found->flags & (WANTED | GONE))
			continue;
		wanted->bytes = found->bytes;
		wanted->flags = found->flags;
	}
}

struct order {
	uint64_t begin_ns;
	uint32_t process;
};

static int compare_order(const void *left, const void *right)
{
	const struct order *a = left, *b = right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns > b->begin_ns ? -1 : 1;
	return a->process > b->process ? -1 : a->process < b->process;
}

static bool walk_all(struct rvp_inheritance *inheritance, const struct rvp_run *run)
{
	struct order *order = calloc(run->process_count + 1, sizeof *order);
	bool is_done = order != NULL;

	for (uint32_t i = 0; is_done && i < run->process_count; i++)
		order[i] = (struct order){run->processes[i].begin_ns, i};
	if (is_done)
		qsort(order, run->process_count, sizeof *order, compare_order);
	for (size_t i = 0; is_done && i < run->process_count; i++)
		is_done = walk_process(inheritance, run, order[i].process);
	for (size_t i = run->process_count; is_done && i-- > 0;) {
		const struct birth *end = first_birth(inheritance, order[i].process + 1);

		for (const struct birth *at = first_birth(inheritance, order[i].process); at < end; at++)
			hand_down(inheritance, at);
	}
	free(order);
	return is_done;
}

struct rvp_inheritance *rvp_inherit(const struct rvp_run *run)
{
	struct rvp_inheritance *inheritance = calloc(1, sizeof *inheritance);

	if (!inheritance)
		return NULL;
	inheritance->process_count = run->process_count;
	inheritance->wanted = calloc(run->process_count + 1, sizeof *inheritance->wanted);
	inheritance->births = calloc(run->process_count + 1, sizeof *inheritance->births);
	inheritance->is_unsure = calloc(run->process_count + 1, sizeof *inheritance->is_unsure);
	if (inheritance->wanted && inheritance->births && inheritance->is_unsure) {
		list_births(inheritance, run);
		if (!inheritance->birth_count || walk_all(inheritance, run))
			return inheritance;
	}
	rvp_inheritance_free(inheritance);
	return NULL;
}

bool rvp_inherits_surely(const struct rvp_inheritance *inheritance, uint32_t process)
{
	return !inheritance->is_unsure[process];
}

struct rvp_block *rvp_inherited(const struct rvp_inheritance *inheritance, uint32_t process, uint64_t address)
{
	struct rvp_block *block = rvp_block_find(&inheritance->wanted[process], address);

	return block && !(block->flags & (WANTED | GONE)) ? block : NULL;
}

void rvp_inherited_take(struct rvp_inheritance *inheritance, uint32_t process, struct rvp_block *block)
{
	rvp_block_remove(&inheritance->wanted[process], block);
}

bool rvp_inherited_put(struct rvp_inheritance *inheritance, uint32_t process, struct rvp_block block)
{
	return rvp_inherited(inheritance, process, block.address) ||
	       rvp_block_put(&inheritance->wanted[process], &block) != NULL;
}

void rvp_inheritance_free(struct rvp_inheritance *inheritance)
{
	if (!inheritance)
		return;
	for (size_t i = 0; inheritance->wanted && i < inheritance->process_count; i++)
		rvp_block_table_free(&inheritance->wanted[i]);
	free(inheritance->wanted);
	free(inheritance->births);
	free(inheritance->is_unsure);
	free(inheritance);
}
