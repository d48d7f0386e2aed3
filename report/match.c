/* SPDX-License-Identifier: MIT */
/* match.c: see match.h. One table of live blocks a process, dropped at its end.
 *
 * There are two ways. The long one takes any record and knows of all that can be out of order; the short one takes an
 * alloc of a free address or a free of a live one, which nearly all are, and declines the rest before it has changed
 * anything. Both lead to the same (tests/unit/check_report_runs.c). */
#include "report/matcher.h"

#include "report/run_source.h"

#include <stdlib.h>

struct rvp_matcher *rvp_matcher_open(const struct rvp_run *run, uint32_t stream_count,
				     struct rvp_site_table *sites, struct rvp_classifier classifier)
{
	struct rvp_matcher *matcher = calloc(1, sizeof *matcher);
	size_t processes = run->process_count + 1;

	if (!matcher)
		return NULL;
	matcher->run = run;
	matcher->sites = sites;
	matcher->classifier = classifier;
	matcher->inheritance = rvp_inherit(run);
	matcher->tables = calloc(processes, sizeof *matcher->tables);
	matcher->counts = calloc(processes, sizeof *matcher->counts);
	matcher->has_ended = calloc(processes, sizeof *matcher->has_ended);
	matcher->lanes = calloc(stream_count + 1, sizeof *matcher->lanes);
	if (matcher->inheritance && matcher->tables && matcher->counts && matcher->has_ended &&
	    matcher->lanes) {
		for (uint32_t i = 0; i < run->process_count; i++)
			matcher->counts[i].is_unsure = !rvp_inherits_surely(matcher->inheritance, i);
		return matcher;
	}
	rvp_matcher_close(matcher);
	return NULL;
}

static void make(struct rvp_matcher *matcher, struct rvp_event *event, enum rvp_event_kind kind,
		 const struct rvp_moment *moment, const struct rvp_block *block)
{
	event->kind = kind;
	event->is_temporary = false;
	event->moment = moment;
	event->block = *block;
	if (block->flags & RVP_BLOCK_SAMPLED)
		event->weight = rvp_weight_of(block, matcher->run->processes[moment->process].sample_bytes);
	else
		event->weight = (struct rvp_weight){.amount = {block->bytes, 1}};
}

/* An unknown free of this address, in another thread just before, was this block's. */
static bool take_early_free(struct rvp_matcher *matcher, const struct rvp_moment *moment, uint64_t address)
{
	if (!matcher->last_early_ns || !rvp_match_is_near(matcher->last_early_ns, moment->ns))
		return false;
	for (unsigned i = 0; i < RVP_EARLY_FREES; i++) {
		struct rvp_early_free *early = &matcher->early[i];

		if (early->ns && early->address == address && early->process == moment->process &&
		    early->stream != moment->stream && rvp_match_is_near(early->ns, moment->ns)) {
			early->ns = 0;
			return true;
		}
	}
	return false;
}

uint32_t rvp_match_find_site(struct rvp_matcher *matcher, uint32_t process, uint32_t stack, uint32_t python)
{
	uint32_t site = rvp_site_number(matcher->sites, process, stack, python);

	if (site != UINT32_MAX)
		*rvp_match_site_place(matcher, process, stack, python) =
		    (struct rvp_site_place){process, stack, python, site + 1};
	return site;
}

static bool make_block(struct rvp_matcher *matcher, const struct rvp_moment *moment, struct rvp_block *block)
{
	const struct rvp_record_ALLOC *record = &moment->record->ALLOC;

	*block = (struct rvp_block){
	    .address = record->address,
	    .bytes = record->bytes,
	    .birth_ns = moment->ns,
	    .site = rvp_match_site(matcher, moment->process, record->stack, record->python),
	    .stream = moment->stream,
	    .thread = (uint32_t)moment->thread_serial,
	    .birth = (uint32_t)matcher->counts[moment->process].alloc_count + 1,
	    .flags = moment->record->kind == RVP_SAMPLE ? RVP_BLOCK_SAMPLED : 0,
	};
	return block->site != UINT32_MAX;
}

static bool match_alloc(struct rvp_matcher *matcher, const struct rvp_moment *moment,
			struct rvp_event *events, unsigned *count)
{
	struct rvp_block_table *table = &matcher->tables[moment->process];
	struct rvp_match_counts *counts = &matcher->counts[moment->process];
	struct rvp_lane *lane = rvp_match_lane(matcher, moment);
	struct rvp_block block, *old;

	if (!make_block(matcher, moment, &block))
		return false;
	counts->alloc_count++;
	counts->alloc_bytes += block.bytes;
	lane->last_alloc = block.address;
	lane->has_last_alloc = true;
	old = rvp_block_find(table, block.address);
	if (old) {
		counts->inversion++;
		block.flags |= RVP_BLOCK_SUSPECT;
		make(matcher, &events[(*count)++], RVP_EVENT_DIED, moment, old);
		rvp_block_remove(table, old);
	}
	make(matcher, &events[*count], RVP_EVENT_BORN, moment, &block);
	block.split = matcher->classifier.classify(matcher->classifier.context, &events[*count]);
	events[(*count)++].block.split = block.split;
	if (!old && take_early_free(matcher, moment, block.address)) {
		counts->inversion++;
		counts->unknown_free--;
		make(matcher, &events[(*count)++], RVP_EVENT_DIED, moment, &block);
		return true;
	}
	return rvp_block_put(table, &block) != NULL;
}

static void remember_early(struct rvp_matcher *matcher, const struct rvp_moment *moment, uint64_t address)
{
	matcher->early[matcher->next_early++ % RVP_EARLY_FREES] =
	    (struct rvp_early_free){address, moment->ns, moment->process, moment->stream};
	matcher->last_early_ns = moment->ns;
}

static void match_unknown_free(struct rvp_matcher *matcher, const struct rvp_moment *moment,
			       struct rvp_event *events, unsigned *count)
{
	uint64_t address = moment->record->FREE.address;
	struct rvp_lane *lane = rvp_match_lane(matcher, moment);
	struct rvp_block *inherited = rvp_inherited(matcher->inheritance, moment->process, address);

	if (!inherited) {
		matcher->counts[moment->process].unknown_free++;
		remember_early(matcher, moment, address);
		return;
	}
	make(matcher, &events[(*count)++], RVP_EVENT_INHERITED_DIED, moment, inherited);
	lane->last_freed = *inherited;
	lane->has_last_freed = lane->last_freed_was_inherited = true;
	rvp_inherited_take(matcher->inheritance, moment->process, inherited);
}

static void match_free(struct rvp_matcher *matcher, const struct rvp_moment *moment, struct rvp_event *events,
		       unsigned *count)
{
	struct rvp_block_table *table = &matcher->tables[moment->process];
	struct rvp_block *block = rvp_block_find(table, moment->record->FREE.address);
	struct rvp_lane *lane = rvp_match_lane(matcher, moment);

	matcher->counts[moment->process].free_count++;
	lane->has_last_freed = false;
	if (!block) {
		match_unknown_free(matcher, moment, events, count);
		return;
	}
	if (block->flags & RVP_BLOCK_SUSPECT && block->stream != moment->stream &&
	    rvp_match_is_near(block->birth_ns, moment->ns)) {
		block->flags &= ~(uint32_t)RVP_BLOCK_SUSPECT;
		return;
	}
	make(matcher, &events[*count], RVP_EVENT_DIED, moment, block);
	events[(*count)++].is_temporary = rvp_match_is_temporary(lane, moment, block, moment->record->FREE.family);
	rvp_match_note_freed(lane, block);
	rvp_block_remove(table, block);
}

static bool match_unfree(struct rvp_matcher *matcher, const struct rvp_moment *moment,
			 struct rvp_event *events, unsigned *count)
{
	struct rvp_block_table *table = &matcher->tables[moment->process];
	struct rvp_lane *lane = rvp_match_lane(matcher, moment);
	uint64_t address = moment->record->UNFREE.address;

	matcher->counts[moment->process].free_count--;
	if (!lane->has_last_freed || lane->last_freed.address != address || rvp_block_find(table, address))
		return true;
	lane->has_last_freed = false;
	if (lane->last_freed_was_inherited) {
		make(matcher, &events[(*count)++], RVP_EVENT_INHERITED_RESTORED, moment, &lane->last_freed);
		return rvp_inherited_put(matcher->inheritance, moment->process, lane->last_freed);
	}
	make(matcher, &events[(*count)++], RVP_EVENT_RESTORED, moment, &lane->last_freed);
	return rvp_block_put(table, &lane->last_freed) != NULL;
}

static void pass(const struct rvp_moment *moment, enum rvp_event_kind kind, struct rvp_event *events,
		 unsigned *count)
{
	events[0].kind = kind;
	events[0].is_temporary = false;
	events[0].moment = moment;
	*count = 1;
}

static void end_process(struct rvp_matcher *matcher, uint32_t process)
{
	matcher->has_ended[process] = true;
	rvp_block_table_free(&matcher->tables[process]);
}

static bool match_record(struct rvp_matcher *matcher, const struct rvp_moment *moment,
			 struct rvp_event *events, unsigned *count)
{
	switch (moment->record->kind) {
	case RVP_ALLOC:
	case RVP_SAMPLE: return match_alloc(matcher, moment, events, count);
	case RVP_FREE: match_free(matcher, moment, events, count); return true;
	case RVP_UNFREE: return match_unfree(matcher, moment, events, count);
	default: pass(moment, RVP_EVENT_RECORD, events, count); return true;
	}
}

bool rvp_match(struct rvp_matcher *matcher, const struct rvp_moment *moment, struct rvp_event *events,
	       unsigned *count)
{
	*count = 0;
	if (moment->kind == RVP_MOMENT_BEGIN) {
		pass(moment, RVP_EVENT_BEGIN, events, count);
		return true;
	}
	if (moment->kind == RVP_MOMENT_END) {
		end_process(matcher, moment->process);
		pass(moment, RVP_EVENT_END, events, count);
		return true;
	}
	if (moment->process == RVP_NO_PROCESS) {
		pass(moment, RVP_EVENT_RECORD, events, count);
		return true;
	}
	return matcher->has_ended[moment->process] || match_record(matcher, moment, events, count);
}

/* ---- the short way ---- */

static bool bear(struct rvp_matcher *matcher, const struct rvp_moment *moment, const struct rvp_brief *brief,
		 struct rvp_event *event)
{
	struct rvp_block_table *table = &matcher->tables[moment->process];
	struct rvp_match_counts *counts = &matcher->counts[moment->process];
	struct rvp_lane *lane = rvp_match_lane(matcher, moment);
	uint32_t site;

	if (rvp_block_find(table, brief->event.address) ||
	    (matcher->last_early_ns && rvp_match_is_near(matcher->last_early_ns, moment->ns)))
		return false;
	site = rvp_match_site(matcher, moment->process, brief->event.stack, brief->event.python);
	if (site == UINT32_MAX)
		return false;
	event->kind = RVP_EVENT_BORN;
	event->is_temporary = false;
	event->moment = moment;
	event->block = (struct rvp_block){.address = brief->event.address,
					  .bytes = brief->event.bytes,
					  .birth_ns = moment->ns,
					  .site = site,
					  .stream = moment->stream,
					  .thread = (uint32_t)moment->thread_serial,
					  .birth = (uint32_t)counts->alloc_count + 1};
	event->weight = (struct rvp_weight){.amount = {brief->event.bytes, 1}};
	event->block.split = matcher->classifier.classify(matcher->classifier.context, event);
	if (!rvp_block_put(table, &event->block))
		return false;
	counts->alloc_count++;
	counts->alloc_bytes += brief->event.bytes;
	lane->last_alloc = brief->event.address;
	lane->has_last_alloc = true;
	return true;
}

static bool bury(struct rvp_matcher *matcher, const struct rvp_moment *moment, const struct rvp_brief *brief,
		 uint32_t guess, struct rvp_event *event)
{
	struct rvp_block_table *table = &matcher->tables[moment->process];
	struct rvp_block *block = rvp_block_find_by(table, guess, brief->event.address);
	struct rvp_lane *lane = rvp_match_lane(matcher, moment);

	if (!block || block->flags & RVP_BLOCK_SUSPECT)
		return false;
	make(matcher, event, RVP_EVENT_DIED, moment, block);
	event->is_temporary = rvp_match_is_temporary(lane, moment, block, brief->event.family);
	matcher->counts[moment->process].free_count++;
	rvp_match_note_freed(lane, block);
	rvp_block_remove(table, block);
	return true;
}

bool rvp_match_brief(struct rvp_matcher *matcher, const struct rvp_moment *moment, const struct rvp_brief *brief,
		     uint32_t guess, struct rvp_event *event)
{
	return brief->event.is_alloc ? bear(matcher, moment, brief, event)
					: bury(matcher, moment, brief, guess, event);
}

const struct rvp_block_table *rvp_match_blocks(const struct rvp_matcher *matcher)
{
	return matcher->tables;
}

struct rvp_block *rvp_matched_block(const struct rvp_matcher *matcher, uint32_t process, uint64_t address)
{
	return rvp_block_find(&matcher->tables[process], address);
}

const struct rvp_match_counts *rvp_match_counts(const struct rvp_matcher *matcher, uint32_t process)
{
	return &matcher->counts[process];
}

void rvp_matcher_close(struct rvp_matcher *matcher)
{
	if (!matcher)
		return;
	for (size_t i = 0; matcher->tables && i < matcher->run->process_count; i++)
		rvp_block_table_free(&matcher->tables[i]);
	rvp_inheritance_free(matcher->inheritance);
	free(matcher->tables);
	free(matcher->counts);
	free(matcher->has_ended);
	free(matcher->lanes);
	free(matcher);
}
