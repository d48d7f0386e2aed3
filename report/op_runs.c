/* SPDX-License-Identifier: MIT */
/* op_runs.c: see op_runs.h. Each open scope has a frame; its number is the scope's `reason`. A block that is born in one
 * refers to the innermost frame. When a scope ends its frame stays, as a way from its blocks to the frames outside of it,
 * until the last block is gone.
 *
 * Invariants
 *   (O1) frame.users counts the live blocks and the frames that name it; one without users that is not open is free.
 *   (O2) frame.live_bytes is the sum of the live blocks born in it and in all that lie inside of it.
 */
#include "report/op_runs.h"

#include "report/analysis.h"
#include "report/grow.h"
#include "report/observer.h"

#include <errno.h>
#include <stdlib.h>

struct frame {
	uint32_t outer; /* number of the frame outside of it; 0: none. Of a free one: the next free one */
	uint32_t users, node, thread;
	bool is_open, is_operator, is_estimate;
	uint64_t inner_ns; /* of the operators right inside */
	uint64_t live_bytes, peak_bytes;
};

struct op_runs {
	struct rvp_observer observer; /* first: the observer is the op_runs */
	struct rvp_scope_listener listener;
	struct rvp_scope_stacks stacks;
	const struct rvp_state *state; /* of the event at hand */
	struct rvp_op_sink *const *sinks;
	struct rvp_op_trees *trees;
	struct frame *frames; /* from 1 */
	size_t count, room;
	uint32_t free;
	struct rvp_block_table *blocks; /* by process; block.site is the frame */
	size_t process_count;
	bool no_memory;
};

/* ---- frames ---- */

static uint32_t new_frame(struct op_runs *runs)
{
	uint32_t number = runs->free;

	if (number) {
		runs->free = runs->frames[number].outer;
		return number;
	}
	if (!runs->count)
		runs->count = 1;
	if (runs->count >= UINT32_MAX ||
	    !rvp_grow((void **)&runs->frames, &runs->room, runs->count + 1, sizeof *runs->frames)) {
		runs->no_memory = true;
		return 0;
	}
	return (uint32_t)runs->count++;
}

static void leave_frame(struct op_runs *runs, uint32_t number)
{
	while (number) {
		struct frame *frame = &runs->frames[number];
		uint32_t outer = frame->outer;

		if (--frame->users)
			return;
		frame->outer = runs->free;
		runs->free = number;
		number = outer;
	}
}

/* ---- trees ---- */

static uint32_t thread_of(struct op_runs *runs, const struct rvp_moment *moment)
{
	struct rvp_op_trees *trees = runs->trees;
	size_t at = trees->count;

	while (at-- > 0)
		if (trees->threads[at].tid == moment->tid && trees->threads[at].process == moment->process)
			return (uint32_t)at;
	if (!rvp_grow((void **)&trees->threads, &trees->room, trees->count + 1, sizeof *trees->threads)) {
		runs->no_memory = true;
		return UINT32_MAX;
	}
	trees->threads[trees->count] = (struct rvp_op_thread){.process = moment->process, .tid = moment->tid};
	return (uint32_t)trees->count++;
}

/* Scopes without a name go by their category. */
static uint32_t name_of(struct op_runs *runs, const struct rvp_scope *scope)
{
	struct rvp_text text = scope->name.length ? scope->name : scope->category;

	if (!text.length)
		text = (struct rvp_text){.bytes = scope->is_operator ? "operator" : "scope",
					 .length = scope->is_operator ? 8 : 5};
	return rvp_name_number(&runs->trees->names, text.bytes, text.length);
}

static void place_in_tree(struct op_runs *runs, struct frame *frame, const struct frame *outer,
			  const struct rvp_scope *scope, const struct rvp_moment *moment)
{
	uint32_t name;

	frame->thread = outer ? outer->thread : thread_of(runs, moment);
	name = frame->thread == UINT32_MAX ? UINT32_MAX : name_of(runs, scope);
	frame->node = name == UINT32_MAX ? name
					 : rvp_scope_tree_child(&runs->trees->threads[frame->thread].tree,
								outer ? outer->node : 0, name);
	runs->no_memory |= frame->node == UINT32_MAX;
	if (frame->node == UINT32_MAX)
		frame->thread = frame->node = 0;
}

/* ---- scopes ---- */

/* The frame of a scope that has just begun: the innermost one, if it has none yet. */
static void begin(struct op_runs *runs, const struct rvp_moment *moment)
{
	size_t count;
	struct rvp_scope *scopes = rvp_scopes_of(&runs->stacks, moment, &count);
	uint32_t number, outer;

	if (!count || scopes[count - 1].reason)
		return;
	outer = count > 1 ? scopes[count - 2].reason : 0;
	number = new_frame(runs);
	if (!number)
		return;
	runs->frames[number] = (struct frame){
	    .outer = outer, .users = 1, .is_open = true, .is_operator = scopes[count - 1].is_operator};
	if (outer)
		runs->frames[outer].users++;
	if (runs->trees)
		place_in_tree(runs, &runs->frames[number], outer ? &runs->frames[outer] : NULL, &scopes[count - 1],
			      moment);
	scopes[count - 1].reason = number;
}

static void add_to_outer_operator(struct op_runs *runs, const struct frame *frame, uint64_t ns)
{
	uint32_t outer = frame->outer;

	while (outer && !runs->frames[outer].is_operator)
		outer = runs->frames[outer].outer;
	if (outer)
		runs->frames[outer].inner_ns += ns;
}

static void ended(struct rvp_scope_listener *listener, const struct rvp_scope *scope, const struct rvp_scope_end *end)
{
	struct op_runs *runs = (struct op_runs *)((char *)listener - offsetof(struct op_runs, listener));
	struct frame *frame = &runs->frames[scope->reason];
	struct rvp_op_run run = {.scope = scope, .process = end->process, .is_open = end->is_open, .end_ns = end->ns};

	if (!scope->reason)
		return;
	run.ns = end->ns > scope->begin_ns ? end->ns - scope->begin_ns : 0;
	run.self_ns = run.ns > frame->inner_ns ? run.ns - frame->inner_ns : 0;
	run.workspace_bytes = frame->peak_bytes;
	run.is_estimate = frame->is_estimate;
	if (runs->state && end->process < runs->process_count)
		run.live_bytes = runs->state->live_by_process[end->process].amount.bytes;
	frame->is_open = false;
	if (frame->is_operator)
		add_to_outer_operator(runs, frame, run.ns);
	if (runs->trees && !run.is_open)
		rvp_scope_tree_add(&runs->trees->threads[frame->thread].tree, frame->node, run.ns);
	for (struct rvp_op_sink *const *sink = runs->sinks; sink && *sink; sink++)
		(*sink)->see(*sink, &run);
	leave_frame(runs, scope->reason);
}

/* ---- blocks ---- */

static bool counts(const struct op_runs *runs, const struct rvp_event *event)
{
	return event->moment->process < runs->process_count && !rvp_block_device(&event->block) &&
	       event->block.split != RVP_NOT_COUNTED;
}

static void born(struct op_runs *runs, const struct rvp_event *event)
{
	size_t count;
	struct rvp_scope *scopes = rvp_scopes_of(&runs->stacks, event->moment, &count);
	uint32_t number = count ? scopes[count - 1].reason : 0;
	struct rvp_block_table *table = &runs->blocks[event->moment->process];
	struct rvp_block *block;

	if (!number)
		return;
	block = rvp_block_add(table, event->block.address);
	if (!block) {
		runs->no_memory |= !rvp_block_find(table, event->block.address);
		return;
	}
	block->site = number;
	runs->frames[number].users++;
	for (; number; number = runs->frames[number].outer) {
		struct frame *frame = &runs->frames[number];

		frame->live_bytes += event->weight.amount.bytes;
		frame->is_estimate |= event->weight.variance > 0;
		if (frame->live_bytes > frame->peak_bytes)
			frame->peak_bytes = frame->live_bytes;
	}
}

static void died(struct op_runs *runs, const struct rvp_event *event)
{
	struct rvp_block_table *table = &runs->blocks[event->moment->process];
	struct rvp_block *block = table->count ? rvp_block_find(table, event->block.address) : NULL;
	uint32_t number = block ? block->site : 0;

	if (!block)
		return;
	rvp_block_remove(table, block);
	for (uint32_t at = number; at; at = runs->frames[at].outer)
		runs->frames[at].live_bytes -= event->weight.amount.bytes;
	leave_frame(runs, number);
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct op_runs *runs = (struct op_runs *)observer;

	runs->state = state;
	if (event->kind == RVP_EVENT_BORN || event->kind == RVP_EVENT_DIED) {
		if (counts(runs, event))
			(event->kind == RVP_EVENT_BORN ? born : died)(runs, event);
		return;
	}
	if (!rvp_scope_stacks_see(&runs->stacks, event))
		runs->no_memory = true;
	if (event->kind == RVP_EVENT_RECORD && event->moment->record->kind == RVP_SCOPE)
		begin(runs, event->moment);
}

static void finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	struct op_runs *runs = (struct op_runs *)observer;

	runs->state = state;
	rvp_scope_stacks_empty(&runs->stacks);
}

/* ---- all of it ---- */

static void close_runs(struct op_runs *runs)
{
	for (size_t i = 0; runs->blocks && i < runs->process_count; i++)
		rvp_block_table_free(&runs->blocks[i]);
	free(runs->blocks);
	free(runs->frames);
	rvp_scope_stacks_free(&runs->stacks);
}

static bool open_runs(struct op_runs *runs, const struct rvp_run *run)
{
	runs->observer = (struct rvp_observer){.see = see, .finish = finish};
	runs->listener.ended = ended;
	runs->process_count = run->process_count;
	runs->blocks = calloc(run->process_count + 1, sizeof *runs->blocks);
	if (!rvp_scope_stacks_open(&runs->stacks, run, NULL) || !runs->blocks)
		return false;
	runs->stacks.listener = &runs->listener;
	return true;
}

struct rvp_status rvp_op_runs_read(struct rvp_run *run, struct rvp_op_sink *const *sinks, struct rvp_op_trees *trees)
{
	struct op_runs runs = {.sinks = sinks, .trees = trees};
	struct rvp_observer *observers[] = {&runs.observer, NULL};
	struct rvp_analysis answer;
	struct rvp_status status = rvp_fail("read the operators", NULL, ENOMEM);

	if (open_runs(&runs, run))
		status = rvp_analyse(run, &(struct rvp_question){.observers = observers}, &answer);
	if (!rvp_failed(status))
		rvp_analysis_free(&answer);
	if (!rvp_failed(status) && runs.no_memory)
		status = rvp_fail("read the operators", NULL, ENOMEM);
	close_runs(&runs);
	return status;
}

void rvp_op_trees_free(struct rvp_op_trees *trees)
{
	for (size_t i = 0; i < trees->count; i++)
		rvp_scope_tree_free(&trees->threads[i].tree);
	free(trees->threads);
	rvp_name_table_free(&trees->names);
	*trees = (struct rvp_op_trees){0};
}
