/* SPDX-License-Identifier: MIT */
/* analysis.c: see analysis.h. One pass: timeline, matcher, sites, observers.
 *
 * What was live at the peak is known without a second pass: each new maximum has a number, and a site whose
 * live amount is about to change first notes what it was, if it has not since the last maximum (settle_peak).
 * Between two changes a site's amount does not move, so what it notes is what it was at that maximum.
 *
 * With attribution a call path has a site for each purpose: the matcher numbers call paths (`base`),
 * classify() says at a block's birth in which site (`sites`) it is summed from then on.
 *
 * Invariants
 *   (A1) state.tracked is the sum of site.live over all sites, of state.by_purpose and of state.by_category;
 *        state.live is its part without mappings, and the sum of state.live_by_process.
 *   (A2) site.at_peak is right for maximum number site.peak_seen; maxima are of state.tracked.
 *   (A3) Without attribution `base` serves as `sites`, and block.split is block.site.
 */
#include "report/analysis.h"

#include "report/attribution.h"
#include "report/map_table.h"
#include "report/observer.h"
#include "report/run_source.h"
#include "report/series.h"
#include "report/totals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pass {
	struct rvp_run *run;
	const struct rvp_question *question;
	struct rvp_analysis *answer;
	struct rvp_site_table base, by_purpose;
	struct rvp_site_table *sites; /* one of the two */
	struct rvp_timeline *timeline;
	struct rvp_matcher *matcher;
	struct rvp_map_table maps;
	size_t next_change; /* of the attribution's */
	struct rvp_state state;
	struct rvp_tally *tallies; /* by process */
	struct rvp_tally tree;
	struct rvp_series series;
	uint64_t peak_number;
	struct rvp_amount **moments; /* a row a moment: live by site, site_counts[] of them */
	size_t *site_counts;
	size_t next_moment;
	bool no_memory;
};

static void settle_peak(const struct pass *pass, struct rvp_site *site)
{
	if (site->peak_seen == pass->peak_number)
		return;
	site->at_peak = site->live;
	site->peak_sampled_bytes = site->live_sampled_bytes;
	site->peak_variance = site->live_variance;
	site->peak_seen = pass->peak_number;
}

static void add(struct rvp_live *live, const struct rvp_weight *weight)
{
	live->amount.bytes += weight->amount.bytes;
	live->amount.count += weight->amount.count;
	if (weight->variance > 0) {
		live->sampled_bytes += weight->amount.bytes;
		live->variance += weight->variance;
	}
}

static void subtract(struct rvp_live *live, const struct rvp_weight *weight)
{
	live->amount.bytes -= weight->amount.bytes;
	live->amount.count -= weight->amount.count;
	if (weight->variance > 0) {
		live->sampled_bytes -= weight->amount.bytes;
		live->variance -= weight->variance;
	}
}

static bool see_peak(struct rvp_tally *tally, const struct rvp_live *live, uint64_t ns)
{
	if (tally->has_peak && live->amount.bytes <= tally->peak_live_bytes)
		return false;
	tally->has_peak = true;
	tally->peak_live_bytes = live->amount.bytes;
	tally->peak_variance = live->variance;
	tally->peak_sampled_bytes = live->sampled_bytes;
	tally->peak_ns = ns;
	return true;
}

static struct rvp_site *site_of(struct pass *pass, const struct rvp_event *event)
{
	struct rvp_site *site = &pass->sites->sites[event->block.split];

	settle_peak(pass, site);
	return site;
}

static void see_maximum(struct rvp_maximum *maximum, const struct rvp_live *live, uint64_t ns)
{
	if (live->amount.bytes > maximum->bytes)
		*maximum = (struct rvp_maximum){live->amount.bytes, ns};
}

static enum rvp_category category_of(const struct pass *pass, uint16_t purpose)
{
	if (purpose < RVP_CATEGORY_COUNT || !pass->question->attribution)
		return (enum rvp_category)purpose;
	return rvp_purpose_category(rvp_attribution_purposes(pass->question->attribution), purpose);
}

/* Into a site, its purpose and what is tracked; not yet into the sums of blocks alone. */
static void enter(struct pass *pass, struct rvp_site *site, const struct rvp_weight *weight, uint64_t ns)
{
	enum rvp_category category = category_of(pass, site->purpose);

	site->live.bytes += weight->amount.bytes;
	site->live.count += weight->amount.count;
	if (weight->variance > 0) {
		site->live_sampled_bytes += weight->amount.bytes;
		site->live_variance += weight->variance;
	}
	add(&pass->state.tracked, weight);
	add(&pass->state.by_purpose[site->purpose], weight);
	add(&pass->state.by_category[category], weight);
	see_maximum(&pass->answer->max_by_purpose[site->purpose], &pass->state.by_purpose[site->purpose], ns);
	see_maximum(&pass->answer->max_by_category[category], &pass->state.by_category[category], ns);
}

static void take_out(struct pass *pass, struct rvp_site *site, const struct rvp_weight *weight)
{
	site->live.bytes -= weight->amount.bytes;
	site->live.count -= weight->amount.count;
	if (weight->variance > 0) {
		site->live_sampled_bytes -= weight->amount.bytes;
		site->live_variance -= weight->variance;
	}
	subtract(&pass->state.tracked, weight);
	subtract(&pass->state.by_purpose[site->purpose], weight);
	subtract(&pass->state.by_category[category_of(pass, site->purpose)], weight);
}

static void see_tracked_peak(struct pass *pass, uint64_t ns)
{
	struct rvp_analysis *answer = pass->answer;

	if (answer->tracked_peak_ns != RVP_NEVER &&
	    pass->state.tracked.amount.bytes <= answer->tracked_peak_bytes)
		return;
	answer->tracked_peak_bytes = pass->state.tracked.amount.bytes;
	answer->tracked_peak_ns = ns;
	pass->peak_number++;
}

static void come_alive(struct pass *pass, const struct rvp_event *event, struct rvp_site *site)
{
	struct rvp_live *own = &pass->state.live_by_process[event->moment->process];

	enter(pass, site, &event->weight, event->moment->ns);
	if (!(event->block.flags & RVP_BLOCK_MAPPED)) {
		add(&pass->state.live, &event->weight);
		add(own, &event->weight);
		see_peak(&pass->tallies[event->moment->process], own, event->moment->ns);
		see_peak(&pass->tree, &pass->state.live, event->moment->ns);
	}
	see_tracked_peak(pass, event->moment->ns);
}

static void born(struct pass *pass, const struct rvp_event *event)
{
	struct rvp_site *site = site_of(pass, event);

	if (!site->first_ns)
		site->first_ns = event->moment->ns;
	site->last_ns = event->moment->ns;
	if (!(event->block.flags & RVP_BLOCK_MAPPED)) { /* mappings have totals of their own */
		site->allocated.bytes += event->weight.amount.bytes;
		site->allocated.count += event->weight.amount.count;
	}
	site->is_estimate |= (event->block.flags & RVP_BLOCK_SAMPLED) != 0;
	if (event->block.bytes > site->largest_bytes)
		site->largest_bytes = event->block.bytes;
	come_alive(pass, event, site);
}

static void died(struct pass *pass, const struct rvp_event *event)
{
	struct rvp_site *site = site_of(pass, event);

	take_out(pass, site, &event->weight);
	if (event->is_temporary) {
		site->temporary.bytes += event->weight.amount.bytes;
		site->temporary.count += event->weight.amount.count;
	}
	if (event->block.flags & RVP_BLOCK_MAPPED)
		return;
	subtract(&pass->state.live, &event->weight);
	subtract(&pass->state.live_by_process[event->moment->process], &event->weight);
	pass->tallies[event->moment->process].free_bytes += event->weight.amount.bytes;
}

static void restored(struct pass *pass, const struct rvp_event *event)
{
	if (!(event->block.flags & RVP_BLOCK_MAPPED))
		pass->tallies[event->moment->process].free_bytes -= event->weight.amount.bytes;
	come_alive(pass, event, site_of(pass, event));
}

/* What a call path gave out beyond what was recorded. */
struct fold_sum {
	uint32_t stack, python;
	uint64_t alloc_count, alloc_bytes;
};

static void fold(struct pass *pass, uint32_t process, const struct fold_sum *sum, uint64_t ns)
{
	uint32_t number = rvp_site_number(pass->sites, process, sum->stack, sum->python);

	if (number == UINT32_MAX) {
		pass->no_memory = true;
		return;
	}
	struct rvp_site *site = &pass->sites->sites[number];

	if (!site->first_ns)
		site->first_ns = ns;
	site->last_ns = ns;
	site->is_estimate |= pass->run->processes[process].mode == RVP_MODE_SAMPLED;
	site->allocated.count += sum->alloc_count;
	site->allocated.bytes += sum->alloc_bytes;
}

/* The sums that the process kept beside its log; a living one may add while we read. */
static void fold_table(struct pass *pass, uint32_t process)
{
	const struct rvp_log *log = &pass->run->processes[process].source->log;

	for (size_t i = 0; i < log->fold_count; i++) {
		uint64_t key = atomic_load(&log->folds[i].key), path = key ? key - 1 : 0;

		fold(pass, process,
		     &(struct fold_sum){.stack = (uint32_t)(path >> 32),
					.python = (uint32_t)path,
					.alloc_count = atomic_load(&log->folds[i].alloc_count),
					.alloc_bytes = atomic_load(&log->folds[i].alloc_bytes)},
		     pass->run->processes[process].end_ns);
	}
}

static void fold_record(struct pass *pass, const struct rvp_moment *moment)
{
	const struct rvp_record_FOLD *record = &moment->record->FOLD;
	struct fold_sum sum = {.stack = record->stack <= UINT32_MAX ? (uint32_t)record->stack : 0,
			       .python = record->python <= UINT32_MAX ? (uint32_t)record->python : 0,
			       .alloc_count = record->alloc_count,
			       .alloc_bytes = record->alloc_bytes};

	if (moment->process != RVP_NO_PROCESS)
		fold(pass, moment->process, &sum, moment->ns);
}

static void leave_estimate(struct rvp_live *live, const struct rvp_site *site)
{
	live->sampled_bytes -= site->live_sampled_bytes;
	live->variance -= site->live_variance;
}

static void leave_estimates(struct pass *pass, struct rvp_site *site)
{
	leave_estimate(&pass->state.tracked, site);
	leave_estimate(&pass->state.by_purpose[site->purpose], site);
	leave_estimate(&pass->state.by_category[category_of(pass, site->purpose)], site);
	site->live_sampled_bytes = 0;
	site->live_variance = 0;
}

/* Its blocks leave the tree; what they were is what the process left. */
static void end_process(struct pass *pass, uint32_t process)
{
	struct rvp_live *own = &pass->state.live_by_process[process];

	fold_table(pass, process);
	for (uint32_t at = pass->sites->first_of_process[process]; at;
	     at = pass->sites->sites[at - 1].next_of_process) {
		struct rvp_site *site = &pass->sites->sites[at - 1];
		struct rvp_weight left = {.amount = site->live};

		settle_peak(pass, site);
		site->at_end = site->live;
		pass->answer->tracked_end_bytes += left.amount.bytes;
		pass->answer->tracked_end_count += left.amount.count;
		take_out(pass, site, &left);
		leave_estimates(pass, site);
	}
	rvp_tally_end(&pass->tallies[process], own->amount, own->variance);
	pass->state.live.amount.bytes -= own->amount.bytes;
	pass->state.live.amount.count -= own->amount.count;
	pass->state.live.sampled_bytes -= own->sampled_bytes;
	pass->state.live.variance -= own->variance;
	*own = (struct rvp_live){0};
}

static void tell(struct pass *pass, const struct rvp_event *event)
{
	struct rvp_observer **observers = pass->question->observers;

	pass->state.sites = pass->sites->sites;
	if (pass->series.rows)
		pass->series.observer.see(&pass->series.observer, event, &pass->state);
	for (; observers && *observers; observers++)
		(*observers)->see(*observers, event, &pass->state);
}

static void other(struct pass *pass, const struct rvp_event *event)
{
	if (event->kind == RVP_EVENT_RECORD && event->moment->record->kind == RVP_FOLD)
		fold_record(pass, event->moment);
	if (event->kind == RVP_EVENT_END) {
		rvp_tree_rss_note_last(&pass->state.resident, event->moment->process, event->moment->ns);
		tell(pass, event);
	}
	rvp_tree_rss_take(&pass->state.resident, event);
	if (event->kind == RVP_EVENT_END)
		end_process(pass, event->moment->process);
}

static bool counts(const struct rvp_event *event)
{
	return event->block.split != RVP_NOT_COUNTED;
}

static void apply(struct pass *pass, const struct rvp_event *event)
{
	switch (event->kind) {
	case RVP_EVENT_BORN:
		if (counts(event))
			born(pass, event);
		break;
	case RVP_EVENT_DIED:
		if (counts(event))
			died(pass, event);
		break;
	case RVP_EVENT_RESTORED:
		if (counts(event))
			restored(pass, event);
		break;
	case RVP_EVENT_INHERITED_DIED:
		pass->tallies[event->moment->process].inherited_free_bytes += event->weight.amount.bytes;
		break;
	case RVP_EVENT_INHERITED_RESTORED:
		pass->tallies[event->moment->process].inherited_free_bytes -= event->weight.amount.bytes;
		break;
	default: other(pass, event); break;
	}
	if (event->kind != RVP_EVENT_END)
		tell(pass, event);
}

/* In which site a block is summed: asked at its birth. A file's mapping is resident memory of category file
 * unless evidence says what it is. */
static uint32_t classify(void *context, const struct rvp_event *birth)
{
	struct pass *pass = context;
	struct rvp_verdict verdict;
	uint32_t number;

	if (!pass->question->attribution)
		return birth->block.flags & RVP_BLOCK_FILE ? RVP_NOT_COUNTED : birth->block.site;
	verdict = rvp_attribution_judge(pass->question->attribution, birth);
	if (verdict.purpose == RVP_CATEGORY_UNKNOWN && birth->block.flags & RVP_BLOCK_FILE)
		return RVP_NOT_COUNTED;
	number = rvp_site_with_purpose(pass->sites, &pass->base.sites[birth->block.site], verdict.purpose,
				       verdict.evidence, verdict.confidence, verdict.reason);
	pass->no_memory |= number == UINT32_MAX;
	return number;
}

static struct rvp_block *block_of(struct pass *pass, const struct rvp_block_key *key)
{
	struct rvp_block *block = rvp_matched_block(pass->matcher, key->process, key->address);

	if (!block || block->birth_ns != key->birth_ns)
		block = rvp_mapped_block(&pass->maps, key->process, key->address);
	return block && block->birth_ns == key->birth_ns && block->split != RVP_NOT_COUNTED ? block : NULL;
}

/* A block changes its purpose in the middle of its life. */
static void change(struct pass *pass, const struct rvp_recast *to)
{
	struct rvp_block *block = block_of(pass, &to->key);
	struct rvp_weight weight;
	uint32_t number;

	if (!block)
		return;
	number = rvp_site_with_purpose(pass->sites, &pass->base.sites[block->site], to->verdict.purpose,
				       to->verdict.evidence, to->verdict.confidence, to->verdict.reason);
	if (number == UINT32_MAX) {
		pass->no_memory = true;
		return;
	}
	struct rvp_site *old = &pass->sites->sites[block->split], *site = &pass->sites->sites[number];

	weight = rvp_weight_of(block, pass->run->processes[to->key.process].sample_bytes);
	if (block->flags & RVP_BLOCK_MAPPED)
		weight = (struct rvp_weight){.amount = {block->bytes, 1}};
	settle_peak(pass, old);
	settle_peak(pass, site);
	take_out(pass, old, &weight);
	enter(pass, site, &weight, to->ns);
	if (!site->first_ns)
		site->first_ns = site->last_ns = to->ns;
	block->split = number;
}

static void change_before(struct pass *pass, uint64_t ns)
{
	size_t count;
	const struct rvp_recast *changes = rvp_attribution_recasts(pass->question->attribution, &count);

	for (; pass->next_change < count && changes[pass->next_change].ns < ns; pass->next_change++)
		change(pass, &changes[pass->next_change]);
}

static void take_moment(struct pass *pass, size_t number)
{
	size_t count = pass->sites->count;

	pass->moments[number] = calloc(count + 1, sizeof **pass->moments);
	if (!pass->moments[number]) {
		pass->no_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		pass->moments[number][i] = pass->sites->sites[i].live;
	pass->site_counts[number] = count;
	pass->answer->moment_live_bytes[number] = pass->state.tracked.amount.bytes;
}

/* A moment is over when something happens behind it. */
static void take_moments_before(struct pass *pass, uint64_t ns)
{
	const struct rvp_question *question = pass->question;

	while (pass->next_moment < question->moment_count && question->moments_ns[pass->next_moment] < ns)
		take_moment(pass, pass->next_moment++);
}

static void take_event(struct pass *pass, const struct rvp_event *event)
{
	if (pass->question->attribution)
		rvp_attribution_see(pass->question->attribution, event);
	apply(pass, event);
}

static void take(struct pass *pass, const struct rvp_moment *moment)
{
	struct rvp_event events[RVP_EVENTS_MAX];
	unsigned count;

	if (!rvp_match(pass->matcher, moment, events, &count) || !rvp_map_table_take(&pass->maps, moment))
		pass->no_memory = true;
	for (unsigned i = 0; i < count && !pass->no_memory; i++)
		take_event(pass, &events[i]);
	for (size_t i = 0; i < pass->maps.count && !pass->no_memory; i++)
		take_event(pass, &pass->maps.events[i]);
}

static void run_through(struct pass *pass)
{
	struct rvp_moment moment;

	while (!pass->no_memory && rvp_timeline_next(pass->timeline, &moment)) {
		if (pass->next_moment < pass->question->moment_count)
			take_moments_before(pass, moment.ns);
		if (pass->question->attribution)
			change_before(pass, moment.ns);
		take(pass, &moment);
	}
	while (pass->next_moment < pass->question->moment_count && !pass->no_memory)
		take_moment(pass, pass->next_moment++);
}

static void finish_observers(struct pass *pass)
{
	struct rvp_observer **observers = pass->question->observers;

	pass->state.sites = pass->sites->sites;
	for (; observers && *observers; observers++)
		if ((*observers)->finish)
			(*observers)->finish(*observers, &pass->state);
}

static bool give_moments(struct pass *pass)
{
	size_t count = pass->question->moment_count, sites = pass->sites->count;

	if (!count)
		return true;
	struct rvp_amount *table = calloc(sites * count + 1, sizeof *table);

	if (!table)
		return false;
	for (size_t i = 0; i < sites; i++) {
		pass->sites->sites[i].at_moments = table + i * count;
		for (size_t k = 0; k < count; k++)
			if (i < pass->site_counts[k])
				table[i * count + k] = pass->moments[k][i];
	}
	pass->answer->moment_table = table;
	pass->answer->moment_count = count;
	return true;
}

static void finish(struct pass *pass)
{
	struct rvp_analysis *answer = pass->answer;

	finish_observers(pass);
	for (uint32_t i = 0; i < pass->run->process_count; i++)
		if (!pass->tallies[i].has_ended)
			end_process(pass, i);
	for (size_t i = 0; i < pass->sites->count; i++)
		settle_peak(pass, &pass->sites->sites[i]);
	pass->no_memory |= !give_moments(pass);
	answer->sites = pass->sites->sites;
	answer->site_count = pass->sites->count;
	pass->sites->sites = NULL;
	answer->series = pass->series.rows;
	answer->series_count = pass->series.count;
	pass->series.rows = NULL;
	answer->peak_rss_bytes = rvp_tree_rss_peak_bytes(&pass->state.resident);
	answer->peak_rss_ns = pass->state.resident.peak_ns;
	answer->mean_rss_bytes = rvp_tree_rss_mean_bytes(&pass->state.resident, pass->run->end_ns);
	for (uint32_t i = 0; i < pass->run->process_count; i++)
		rvp_totals_of_process(&answer->processes[i], pass->run, i, &pass->tallies[i],
				      rvp_match_counts(pass->matcher, i));
	rvp_totals_of_run(&answer->totals, pass->run, answer->processes, &pass->tree);
}

static bool open_pass(struct pass *pass)
{
	size_t processes = pass->run->process_count + 1, moments = pass->question->moment_count + 1;
	const struct rvp_question *question = pass->question;

	pass->state.run = pass->run;
	pass->state.is_attributed = question->attribution != NULL;
	pass->sites = question->attribution ? &pass->by_purpose : &pass->base;
	pass->answer->tracked_peak_ns = RVP_NEVER;
	pass->state.live_by_process = calloc(processes, sizeof *pass->state.live_by_process);
	pass->tallies = calloc(processes, sizeof *pass->tallies);
	pass->moments = calloc(moments, sizeof *pass->moments);
	pass->site_counts = calloc(moments, sizeof *pass->site_counts);
	pass->answer->moment_live_bytes = calloc(moments, sizeof *pass->answer->moment_live_bytes);
	pass->answer->processes = calloc(processes, sizeof *pass->answer->processes);
	if (!pass->state.live_by_process || !pass->tallies || !pass->moments || !pass->site_counts ||
	    !pass->answer->moment_live_bytes || !pass->answer->processes)
		return false;
	if (question->series_rows && !rvp_series_open(&pass->series, pass->run, question->series_rows))
		return false;
	if (!rvp_site_table_open(&pass->base, processes) ||
	    !rvp_site_table_open(&pass->by_purpose, processes) ||
	    !rvp_map_table_open(&pass->maps, processes, &pass->base,
				(struct rvp_classifier){classify, pass}) ||
	    !rvp_tree_rss_open(&pass->state.resident, pass->run))
		return false;
	pass->timeline = rvp_timeline_open(pass->run, RVP_NO_PROCESS);
	if (!pass->timeline)
		return false;
	pass->matcher = rvp_matcher_open(pass->run, rvp_timeline_streams(pass->timeline), &pass->base,
					 (struct rvp_classifier){classify, pass});
	pass->state.matcher = pass->matcher;
	return pass->matcher != NULL;
}

static void close_pass(struct pass *pass)
{
	rvp_timeline_close(pass->timeline);
	rvp_matcher_close(pass->matcher);
	rvp_tree_rss_free(&pass->state.resident);
	rvp_map_table_free(&pass->maps);
	rvp_site_table_free(&pass->base);
	rvp_site_table_free(&pass->by_purpose);
	for (size_t i = 0; pass->moments && i < pass->question->moment_count; i++)
		free(pass->moments[i]);
	free(pass->moments);
	free(pass->site_counts);
	free(pass->tallies);
	free(pass->state.live_by_process);
	free(pass->series.rows);
}

struct rvp_status rvp_analyse(struct rvp_run *run, const struct rvp_question *question,
			      struct rvp_analysis *answer)
{
	struct pass pass = {.run = run, .question = question, .answer = answer};

	memset(answer, 0, sizeof *answer);
	pass.no_memory = !open_pass(&pass);
	if (!pass.no_memory)
		run_through(&pass);
	if (!pass.no_memory)
		finish(&pass);
	close_pass(&pass);
	if (!pass.no_memory)
		return RVP_OK;
	rvp_analysis_free(answer);
	return rvp_fail("analyse", run->folder, ENOMEM);
}

void rvp_analysis_free(struct rvp_analysis *answer)
{
	free(answer->moment_table);
	free(answer->sites);
	free(answer->moment_live_bytes);
	free(answer->series);
	free(answer->processes);
	memset(answer, 0, sizeof *answer);
}
