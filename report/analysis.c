/* SPDX-License-Identifier: MIT */
/* analysis.c: see analysis.h. One pass: timeline, matcher, sites, observers.
 *
 * What was live at the peak is known without a second pass: each new maximum has a number, and a site whose
 * live amount is about to change first notes what it was, if it has not since the last maximum (settle_peak).
 * Between two changes a site's amount does not move, so what it notes is what it was at that maximum.
 *
 * With attribution a call path has a site for each purpose: the matcher numbers call paths (`base`),
 * rvp_pass_classify() says at a block's birth in which site (`sites`) it is summed from then on.
 *
 * Invariants
 *   (A1) state.tracked is the sum of site.live over all sites, of state.by_purpose and of state.by_category;
 *        state.live is its part without mappings, and the sum of state.live_by_process.
 *   (A2) site.at_peak is right for maximum number site.peak_seen; maxima are of state.tracked.
 *   (A3) Without attribution `base` serves as `sites`, and block.split is block.site.
 */
#include "report/analysis.h"

#include "report/attribution.h"
#include "report/grow.h"
#include "report/pass.h"
#include "report/run_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct rvp_site *site_of(struct rvp_pass *pass, const struct rvp_event *event)
{
	struct rvp_site *site = &pass->sites->sites[event->block.split];

	rvp_pass_settle_peak(pass, site);
	return site;
}

/* What was recorded each, and of what samples stand for no more than they can tell (peak_noise.h): never changed by asking. */
int64_t rvp_pass_quiet_bytes(struct rvp_pass *pass)
{
	const struct rvp_live *tracked = &pass->state.tracked;

	return (int64_t)(tracked->amount.bytes - tracked->sampled_bytes) +
	       rvp_peak_noise_level(&pass->noise, tracked->sampled_bytes);
}

void rvp_pass_see_tracked_peak(struct rvp_pass *pass, int64_t quiet_bytes, uint64_t tracked_bytes, uint64_t ns)
{
	struct rvp_analysis *answer = pass->answer;

	if (answer->tracked_peak_ns != RVP_NEVER &&
	    (quiet_bytes < pass->quiet_peak_bytes ||
	     (quiet_bytes == pass->quiet_peak_bytes && tracked_bytes <= answer->tracked_peak_bytes)))
		return;
	if (rvp_peak_noise_is_there(&pass->noise))
		rvp_peak_noise_see_peak(&pass->noise, pass->state.tracked.sampled_bytes, ns);
	pass->quiet_peak_bytes = quiet_bytes;
	answer->tracked_peak_bytes = tracked_bytes;
	answer->tracked_peak_ns = ns;
	pass->peak_number++;
}

/* Of a device: of moments with equal bytes the one at which most of them were given out. Else a segment would be shown
 * as it was when the driver had just given it, with nothing in it. */
static void see_device_peak(struct rvp_pass *pass, uint64_t ns)
{
	const struct rvp_device_sums *sums = &pass->devices.sums[pass->question->device];
	uint64_t tracked = pass->state.tracked.amount.bytes, number = pass->peak_number;
	uint64_t kept = pass->state.by_category[RVP_CATEGORY_ALLOCATOR].amount.bytes;
	uint64_t idle = kept + sums->unmapped_bytes;

	if (tracked - kept > pass->device_peak_live_bytes)
		pass->device_peak_live_bytes = tracked - kept;
	rvp_pass_see_tracked_peak(pass, (int64_t)tracked, tracked > idle ? tracked - idle : 0, ns);
	if (pass->peak_number == number)
		return;
	pass->device_peak_bytes = tracked;
	pass->device_peak_managed_bytes = sums->managed_bytes;
}

static void see_peak(struct rvp_pass *pass, uint64_t ns)
{
	if (pass->question->device)
		see_device_peak(pass, ns);
	else
		rvp_pass_see_tracked_peak(pass, rvp_pass_quiet_bytes(pass), pass->state.tracked.amount.bytes, ns);
}

/* Before the sums move. */
static void see_sample(struct rvp_pass *pass, const struct rvp_event *event, bool comes)
{
	if (event->weight.variance > 0)
		rvp_peak_noise_see_sample(&pass->noise,
					  &(struct rvp_peak_sample){.process = event->moment->process,
								    .birth_ns = event->block.birth_ns,
								    .variance = event->weight.variance,
								    .comes = comes});
}

static void come_alive(struct rvp_pass *pass, const struct rvp_event *event, struct rvp_site *site)
{
	struct rvp_live *own = &pass->state.live_by_process[event->moment->process];

	see_sample(pass, event, true);
	rvp_pass_enter(pass, site, &event->weight, event->moment->ns);
	if (!(event->block.flags & RVP_BLOCK_MAPPED)) {
		rvp_live_add(&pass->state.live, &event->weight);
		rvp_live_add(own, &event->weight);
		rvp_tally_see_peak(&pass->tallies[event->moment->process], own, event->moment->ns);
		rvp_tally_see_peak(&pass->tree, &pass->state.live, event->moment->ns);
	}
	see_peak(pass, event->moment->ns);
}

static void born(struct rvp_pass *pass, const struct rvp_event *event)
{
	struct rvp_site *site = site_of(pass, event);

	if (!site->first_ns)
		site->first_ns = event->moment->ns;
	site->last_ns = event->moment->ns;
	/* Mappings have totals of their own; the others are no allocs. */
	if (!(event->block.flags & (RVP_BLOCK_MAPPED | RVP_BLOCK_AGAIN | RVP_BLOCK_POOL))) {
		site->allocated.bytes += event->weight.amount.bytes;
		site->allocated.count += event->weight.amount.count;
	}
	site->is_estimate |= (event->block.flags & RVP_BLOCK_SAMPLED) != 0;
	if (event->block.bytes > site->largest_bytes)
		site->largest_bytes = event->block.bytes;
	come_alive(pass, event, site);
}

static void died(struct rvp_pass *pass, const struct rvp_event *event)
{
	struct rvp_site *site = site_of(pass, event);

	see_sample(pass, event, false);
	rvp_pass_take_out(pass, site, &event->weight);
	if (event->is_temporary) {
		site->temporary.bytes += event->weight.amount.bytes;
		site->temporary.count += event->weight.amount.count;
	}
	if (event->block.flags & RVP_BLOCK_MAPPED)
		return;
	rvp_live_subtract(&pass->state.live, &event->weight);
	rvp_live_subtract(&pass->state.live_by_process[event->moment->process], &event->weight);
	pass->tallies[event->moment->process].free_bytes += event->weight.amount.bytes;
}

static void restored(struct rvp_pass *pass, const struct rvp_event *event)
{
	if (!(event->block.flags & RVP_BLOCK_MAPPED))
		pass->tallies[event->moment->process].free_bytes -= event->weight.amount.bytes;
	come_alive(pass, event, site_of(pass, event));
}

static void resized(struct rvp_pass *pass, const struct rvp_event *event)
{
	struct rvp_live *own = &pass->state.live_by_process[event->moment->process];
	struct rvp_weight before = {.amount = {event->before_bytes, event->weight.amount.count}};
	struct rvp_site *site = site_of(pass, event);

	rvp_pass_take_out(pass, site, &before);
	rvp_live_subtract(&pass->state.live, &before);
	rvp_live_subtract(own, &before);
	rvp_pass_enter(pass, site, &event->weight, event->moment->ns);
	rvp_live_add(&pass->state.live, &event->weight);
	rvp_live_add(own, &event->weight);
	rvp_tally_see_peak(&pass->tallies[event->moment->process], own, event->moment->ns);
	rvp_tally_see_peak(&pass->tree, &pass->state.live, event->moment->ns);
	see_peak(pass, event->moment->ns);
}

/* What a call path gave out beyond what was recorded. */
struct fold_sum {
	uint32_t stack, python;
	uint64_t alloc_count, alloc_bytes;
};

static void fold(struct rvp_pass *pass, uint32_t process, const struct fold_sum *sum, uint64_t ns)
{
	if (pass->question->device)
		return; /* the host's */
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
static void fold_table(struct rvp_pass *pass, uint32_t process)
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

static void fold_record(struct rvp_pass *pass, const struct rvp_moment *moment)
{
	const struct rvp_record_FOLD *record = &moment->record->FOLD;
	struct fold_sum sum = {.stack = record->stack <= UINT32_MAX ? (uint32_t)record->stack : 0,
			       .python = record->python <= UINT32_MAX ? (uint32_t)record->python : 0,
			       .alloc_count = record->alloc_count,
			       .alloc_bytes = record->alloc_bytes};

	if (moment->process != RVP_NO_PROCESS)
		fold(pass, moment->process, &sum, moment->ns);
}

/* Its blocks leave the tree; what they were is what the process left. */
static void end_process(struct rvp_pass *pass, uint32_t process)
{
	struct rvp_live *own = &pass->state.live_by_process[process];

	fold_table(pass, process);
	rvp_peak_noise_end_process(&pass->noise, process, own->variance);
	for (uint32_t at = pass->sites->first_of_process[process]; at;
	     at = pass->sites->sites[at - 1].next_of_process) {
		struct rvp_site *site = &pass->sites->sites[at - 1];
		struct rvp_weight left = {.amount = site->live};

		rvp_pass_settle_peak(pass, site);
		site->at_end = site->live;
		pass->answer->tracked_end_bytes += left.amount.bytes;
		pass->answer->tracked_end_count += left.amount.count;
		rvp_pass_take_out(pass, site, &left);
		rvp_pass_leave_estimates(pass, site);
	}
	rvp_tally_end(&pass->tallies[process], own->amount, own->variance);
	pass->state.live.amount.bytes -= own->amount.bytes;
	pass->state.live.amount.count -= own->amount.count;
	pass->state.live.sampled_bytes -= own->sampled_bytes;
	pass->state.live.variance -= own->variance;
	*own = (struct rvp_live){0};
}

static void tell(struct rvp_pass *pass, const struct rvp_event *event)
{
	struct rvp_observer **observers = pass->question->observers;

	pass->state.sites = pass->sites->sites;
	pass->state.site_count = pass->sites->count;
	if (pass->series.rows)
		rvp_series_see(&pass->series, event->moment->ns, &pass->state);
	for (; observers && *observers; observers++)
		(*observers)->see(*observers, event, &pass->state);
}

static void other(struct rvp_pass *pass, const struct rvp_event *event)
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

static void apply(struct rvp_pass *pass, const struct rvp_event *event)
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
	case RVP_EVENT_RESIZED:
		if (counts(event))
			resized(pass, event);
		break;
	default: other(pass, event); break;
	}
	if (event->kind != RVP_EVENT_END)
		tell(pass, event);
}

static bool is_of_block(const struct rvp_event *event)
{
	return event->kind <= RVP_EVENT_INHERITED_RESTORED || event->kind == RVP_EVENT_RESIZED;
}

static void take_event(struct rvp_pass *pass, const struct rvp_event *event)
{
	if (is_of_block(event) && rvp_block_device(&event->block) != pass->question->device) {
		if (pass->question->shows_devices)
			tell(pass, event);
		return;
	}
	if (pass->question->attribution)
		rvp_attribution_see(pass->question->attribution, event);
	apply(pass, event);
}

static void take(struct rvp_pass *pass, const struct rvp_moment *moment)
{
	struct rvp_event events[RVP_EVENTS_MAX];
	unsigned count;

	if (!rvp_match(pass->matcher, moment, events, &count))
		pass->no_memory = true;
	/* At the end of a process its mappings are still there, as its blocks are. */
	if (moment->kind != RVP_MOMENT_END)
		pass->no_memory |= !rvp_map_table_take(&pass->maps, moment);
	for (unsigned i = 0; i < count && !pass->no_memory; i++)
		take_event(pass, &events[i]);
	if (moment->kind == RVP_MOMENT_END)
		pass->no_memory |= !rvp_map_table_take(&pass->maps, moment);
	for (size_t i = 0; i < pass->maps.count && !pass->no_memory; i++)
		take_event(pass, &pass->maps.events[i]);
	/* Likewise. */
	pass->no_memory |= !rvp_device_blocks_take(&pass->devices, moment);
	for (size_t i = 0; i < pass->devices.count && !pass->no_memory; i++)
		take_event(pass, &pass->devices.events[i]);
}

/* The earliest of what is to be done before a moment that lies behind it. */
static uint64_t due_ns(const struct rvp_pass *pass)
{
	uint64_t due = RVP_NEVER, change;

	if (pass->next_moment < pass->question->moment_count)
		due = pass->question->moments_ns[pass->next_moment];
	change = pass->question->attribution ? rvp_pass_next_recast_ns(pass) : RVP_NEVER;
	return change < due ? change : due;
}

static void do_what_is_due(struct rvp_pass *pass, uint64_t ns)
{
	if (pass->next_moment < pass->question->moment_count)
		rvp_pass_take_moments_before(pass, ns);
	if (pass->question->attribution)
		rvp_pass_recast_before(pass, ns);
	pass->due_ns = due_ns(pass);
}

void rvp_pass_take_brief(struct rvp_pass *pass, struct rvp_moment *moment, const struct rvp_brief *brief, uint32_t guess)
{
	struct rvp_event event;

	moment->ns = brief->ns;
	moment->record = &pass->record;
	if (pass->due_ns < moment->ns)
		do_what_is_due(pass, moment->ns);
	rvp_brief_expand(brief, &pass->record);
	if (rvp_match_brief(pass->matcher, moment, brief, guess, &event))
		take_event(pass, &event);
	else
		take(pass, moment);
}

static void run_through(struct rvp_pass *pass)
{
	struct rvp_moment moment;
	const struct rvp_brief *briefs;
	size_t count;

	pass->due_ns = due_ns(pass);
	while (!pass->no_memory && (count = rvp_timeline_take(pass->timeline, &moment, &briefs))) {
		if (briefs) {
			rvp_pass_take_run(pass, &moment, briefs, count);
			continue;
		}
		if (pass->due_ns < moment.ns)
			do_what_is_due(pass, moment.ns);
		take(pass, &moment);
	}
	while (pass->next_moment < pass->question->moment_count && !pass->no_memory)
		rvp_pass_take_moment(pass, pass->next_moment++);
}

static void finish_observers(struct rvp_pass *pass)
{
	struct rvp_observer **observers = pass->question->observers;

	pass->state.sites = pass->sites->sites;
	pass->state.site_count = pass->sites->count;
	for (; observers && *observers; observers++)
		if ((*observers)->finish)
			(*observers)->finish(*observers, &pass->state);
}

/* What was given out to the program: what an allocator holds is not, until it gives it out again. */
static void sum_device(struct rvp_pass *pass, struct rvp_counters *counters, uint64_t *end_bytes)
{
	const struct rvp_analysis *answer = pass->answer;

	for (size_t i = 0; i < answer->site_count; i++) {
		const struct rvp_site *site = &answer->sites[i];

		if (rvp_pass_category(pass, site->purpose) == RVP_CATEGORY_ALLOCATOR)
			continue;
		counters->alloc_count += site->allocated.count;
		counters->alloc_bytes += site->allocated.bytes;
		*end_bytes += site->at_end.bytes;
	}
}

/* What the counters say is the host's; of a device nothing is sampled. */
static void give_device(struct rvp_pass *pass)
{
	struct rvp_analysis *answer = pass->answer;
	struct rvp_totals *totals = &answer->totals;
	uint64_t end_bytes = 0;

	answer->device = pass->question->device;
	answer->tracked_peak_bytes = pass->device_peak_bytes;
	answer->device_peak_live_bytes = pass->device_peak_live_bytes;
	answer->device_peak_managed_bytes = pass->device_peak_managed_bytes;
	answer->device_unknown_frees = pass->devices.sums[pass->question->device].unknown_frees;
	totals->counters = (struct rvp_counters){0};
	sum_device(pass, &totals->counters, &end_bytes);
	totals->counters_are_exact = totals->timeline_is_exact = totals->error_is_known = !totals->lost_records;
	totals->free_bytes = totals->counters.alloc_bytes - end_bytes;
	totals->loss[RVP_LOSS_UNKNOWN_FREE] = totals->loss[RVP_LOSS_INVERSION] = 0; /* runs were passed over */
}

static void finish(struct rvp_pass *pass)
{
	struct rvp_analysis *answer = pass->answer;

	finish_observers(pass);
	for (uint32_t i = 0; i < pass->run->process_count; i++)
		if (!pass->tallies[i].has_ended)
			end_process(pass, i);
	for (size_t i = 0; i < pass->sites->count; i++)
		rvp_pass_settle_peak(pass, &pass->sites->sites[i]);
	rvp_pass_give_moments(pass);
	answer->sites = pass->sites->sites;
	answer->site_count = pass->sites->count;
	answer->site_room = pass->sites->room;
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
	if (pass->question->device)
		give_device(pass);
}

/* T of the processes in sampled mode, the largest; 0: there is none. */
static uint64_t most_sample_bytes(const struct rvp_run *run)
{
	uint64_t most = 0;

	for (size_t i = 0; i < run->process_count; i++)
		if (run->processes[i].mode == RVP_MODE_SAMPLED && run->processes[i].sample_bytes > most)
			most = run->processes[i].sample_bytes;
	return most;
}

static bool open_pass(struct rvp_pass *pass)
{
	size_t processes = pass->run->process_count + 1;
	const struct rvp_question *question = pass->question;

	pass->state.run = pass->run;
	pass->state.is_attributed = question->attribution != NULL;
	pass->sites = question->attribution ? &pass->by_purpose : &pass->base;
	pass->answer->tracked_peak_ns = RVP_NEVER;
	pass->state.live_by_process = calloc(processes, sizeof *pass->state.live_by_process);
	pass->tallies = calloc(processes, sizeof *pass->tallies);
	pass->answer->moment_live_bytes = calloc(question->moment_count + 1, sizeof *pass->answer->moment_live_bytes);
	pass->answer->processes = calloc(processes, sizeof *pass->answer->processes);
	if (!pass->state.live_by_process || !pass->tallies || !pass->answer->moment_live_bytes || !pass->answer->processes)
		return false;
	if (question->series_rows && !rvp_series_open(&pass->series, pass->run, question->series_rows))
		return false;
	if (!rvp_site_table_open(&pass->base, processes, question->attribution != NULL) ||
	    !rvp_site_table_open(&pass->by_purpose, processes, false) ||
	    !rvp_map_table_open(&pass->maps, processes, &pass->base,
				(struct rvp_classifier){rvp_pass_classify, pass}) ||
	    !rvp_device_blocks_open(&pass->devices, pass->run, &pass->base,
				    (struct rvp_classifier){rvp_pass_classify, pass}) ||
	    !rvp_tree_rss_open(&pass->state.resident, pass->run) ||
	    !rvp_peak_noise_open(&pass->noise, processes, most_sample_bytes(pass->run)))
		return false;
	pass->timeline = rvp_timeline_open(pass->run, RVP_NO_PROCESS);
	if (!pass->timeline)
		return false;
	pass->matcher = rvp_matcher_open(pass->run, rvp_timeline_streams(pass->timeline), &pass->base,
					 (struct rvp_classifier){rvp_pass_classify, pass});
	if (pass->matcher)
		rvp_timeline_expect(pass->timeline, rvp_match_blocks(pass->matcher));
	pass->state.matcher = pass->matcher;
	pass->state.maps = &pass->maps;
	pass->state.devices = &pass->devices;
	pass->state.device = question->device;
	return pass->matcher != NULL;
}

static void close_pass(struct rvp_pass *pass)
{
	rvp_timeline_close(pass->timeline);
	rvp_matcher_close(pass->matcher);
	rvp_tree_rss_free(&pass->state.resident);
	rvp_peak_noise_free(&pass->noise);
	rvp_map_table_free(&pass->maps);
	rvp_device_blocks_free(&pass->devices);
	rvp_site_table_free(&pass->base);
	rvp_site_table_free(&pass->by_purpose);
	free(pass->lasting);
	free(pass->tallies);
	free(pass->state.live_by_process);
	free(pass->series.rows);
}

struct rvp_status rvp_analyse(struct rvp_run *run, const struct rvp_question *question,
			      struct rvp_analysis *answer)
{
	struct rvp_pass pass = {.run = run, .question = question, .answer = answer};

	memset(answer, 0, sizeof *answer);
	if (question->attribution)
		rvp_attribution_begin_pass(question->attribution);
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
	free(answer->held);
	rvp_line_free(answer->sites, answer->site_room, sizeof *answer->sites);
	free(answer->moment_live_bytes);
	free(answer->series);
	free(answer->processes);
	memset(answer, 0, sizeof *answer);
}
