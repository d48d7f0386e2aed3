/* SPDX-License-Identifier: MIT */
/* ledger.c: see ledger.h. Rows of one snapshot of maps come one after the other at one time: an entry is
 * taken again at each, so that it holds all of them in the end. A look from inside is whole when something
 * else happens; it is taken apart then, before this is entered. */
#include "report/ledger.h"

#include "report/map_table.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t same_moment_ns = 50000000;

static void forget_sums(struct rvp_ledger_entry *entry)
{
	free(entry->sums);
	entry->sums = NULL;
	entry->sums_are_whole = false;
}

static void take(const struct rvp_ledger *ledger, struct rvp_ledger_entry *entry,
		 const struct rvp_state *state)
{
	const struct rvp_tree_rss *resident = &state->resident;

	forget_sums(entry);
	entry->is_set = true;
	entry->ns = resident->last_sample_ns;
	entry->regions_ns = resident->region_processes ? ledger->regions_ns : 0;
	entry->regions_rss_bytes = ledger->regions_rss_bytes;
	entry->rss_bytes = resident->rss_bytes;
	entry->swap_bytes = resident->swap_bytes;
	entry->live_bytes = state->live.amount.bytes;
	memcpy(entry->mapped_bytes, resident->mapped_bytes, sizeof entry->mapped_bytes);
	memcpy(entry->region_bytes, resident->region_bytes, sizeof entry->region_bytes);
}

/* ---- from inside ---- */

static bool is_close(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) <= same_moment_ns;
}

/* The living processes' looks as one. What a process holds is its look's word while that is fresh. */
static void take_sums(struct rvp_ledger *ledger, struct rvp_ledger_entry *entry, uint64_t ns,
		      const struct rvp_state *state)
{
	entry->sums = calloc(1, sizeof *entry->sums);
	entry->sums_are_whole = entry->sums != NULL;
	entry->rss_bytes = 0;
	for (size_t i = 0; entry->sums && i < state->run->process_count; i++) {
		const struct rvp_tree_rss_process *process = &state->resident.processes[i];
		const struct rvp_look *look = &ledger->looks[i];
		uint64_t sample_bytes = process->anon_bytes + process->file_bytes + process->shmem_bytes;

		if (!process->is_alive)
			continue;
		if (!look->sums_ns) {
			entry->sums_are_whole &= !sample_bytes;
			entry->rss_bytes += sample_bytes;
			continue;
		}
		rvp_ledger_add_sums(entry->sums, look->sums);
		entry->rss_bytes += is_close(ns, look->sums_ns) ? look->sums->rss_bytes : sample_bytes;
	}
	if (!entry->sums) {
		ledger->no_memory = true;
		entry->rss_bytes = state->resident.rss_bytes;
		return;
	}
	entry->sums->rss_bytes = entry->rss_bytes;
	entry->swap_bytes =
	    entry->sums->swap_bytes > entry->swap_bytes ? entry->sums->swap_bytes : entry->swap_bytes;
}

/* What an entry knows: nothing, RSS, the map, the pages. */
static int rank_of(const struct rvp_ledger_entry *entry)
{
	return !entry->is_set ? 0 : entry->sums ? 3 : entry->regions_ns ? 2 : 1;
}

/* Knowing more is worth a twentieth of the figure; a higher one counts more. */
static bool is_better(const struct rvp_ledger_entry *peak, uint64_t rss_bytes, int rank)
{
	uint64_t twentieth = peak->rss_bytes / 20, least = peak->rss_bytes;

	if (!peak->is_set)
		return true;
	if (rank > rank_of(peak))
		least -= twentieth + 1;
	else if (rank < rank_of(peak))
		least += twentieth;
	return rss_bytes > least || (peak->rss_bytes == 0 && rank > rank_of(peak));
}

/* A whole look: it may be the peak's. */
static void close_look(struct rvp_ledger *ledger, const struct rvp_state *state)
{
	uint32_t process = ledger->open_process;
	struct rvp_look *look = &ledger->looks[process];
	struct rvp_ledger_entry entry = {0};

	ledger->open_process = RVP_NO_PROCESS;
	if (!look->has_pages || !state->resident.processes[process].is_alive)
		return;
	if (!rvp_look_close(look, process, &ledger->ranges, state)) {
		ledger->no_memory = true;
		return;
	}
	take(ledger, &entry, state);
	take_sums(ledger, &entry, look->sums_ns, state);
	entry.ns = look->sums_ns;
	if (entry.sums && is_better(&ledger->peak, entry.rss_bytes, 3)) {
		forget_sums(&ledger->peak);
		ledger->peak = entry;
		return;
	}
	forget_sums(&entry);
}

static bool is_of_a_look(const struct rvp_event *event)
{
	if (event->kind != RVP_EVENT_RECORD || event->moment->process == RVP_NO_PROCESS)
		return false;
	switch (event->moment->record->kind) {
	case RVP_SNAPSHOT:
	case RVP_REGION:
	case RVP_OWN_RANGE:
	case RVP_RESIDENT: return true;
	default: return false;
	}
}

static void name_mark(struct rvp_ledger *ledger, struct rvp_ledger_entry *entry,
		      const struct rvp_record_MARK *mark)
{
	size_t length = mark->label.length, most = sizeof entry->label - 1;

	memset(entry->label, 0, sizeof entry->label);
	memcpy(entry->label, mark->label.bytes, length < most ? length : most);
	ledger->mark_count++;
}

static void take_mark(struct rvp_ledger *ledger, const struct rvp_event *event, const struct rvp_state *state)
{
	const struct rvp_record_MARK *mark = &event->moment->record->MARK;
	struct rvp_ledger_entry *entry = &ledger->marks[ledger->mark_count % RVP_LEDGER_MARKS_MAX];
	const struct rvp_look *look;

	if (event->moment->process == RVP_NO_PROCESS) { /* the watcher's, right behind its maps */
		take(ledger, entry, state);
		name_mark(ledger, entry, mark);
		return;
	}
	look = &ledger->looks[event->moment->process];
	if (mark->kind != RVP_MARK_LABEL || !look->sums_ns || !is_close(look->sums_ns, event->moment->ns))
		return;
	take(ledger, entry, state);
	take_sums(ledger, entry, event->moment->ns, state);
	name_mark(ledger, entry, mark);
}

static void see_inside(struct rvp_ledger *ledger, const struct rvp_event *event,
		       const struct rvp_state *state)
{
	uint32_t process = event->moment->process;

	if (ledger->open_process != RVP_NO_PROCESS &&
	    (process != ledger->open_process || !is_of_a_look(event) ||
	     event->moment->ns != ledger->looks[process].ns))
		close_look(ledger, state);
	if (is_of_a_look(event) && event->moment->record->kind != RVP_SNAPSHOT)
		ledger->open_process = process;
	if (is_of_a_look(event) && !rvp_look_take(&ledger->looks[process], event, state))
		ledger->no_memory = true;
	if (event->kind == RVP_EVENT_RECORD && event->moment->record->kind == RVP_MARK)
		take_mark(ledger, event, state);
	rvp_ledger_ranges_see(&ledger->ranges, event);
	ledger->no_memory |= ledger->ranges.no_memory;
}

/* ---- from samples and maps ---- */

static void see_peak(struct rvp_ledger *ledger, const struct rvp_event *event, const struct rvp_state *state)
{
	bool is_region =
	    event->moment->kind == RVP_MOMENT_RECORD && event->moment->record->kind == RVP_REGION;
	struct rvp_ledger_entry *peak = &ledger->peak;

	if (!state->resident.is_sampled)
		return;

	bool is_same = is_region && !peak->sums && peak->regions_ns == ledger->regions_ns;

	if (is_same || is_better(peak, state->resident.rss_bytes, is_region ? 2 : 1))
		take(ledger, peak, state);
}

static void see_end(struct rvp_ledger *ledger, const struct rvp_event *event, const struct rvp_state *state)
{
	uint32_t process = event->moment->process;

	if (!state->resident.is_sampled || !state->resident.rss_bytes)
		return; /* what comes after the last process is no end of it */
	take(ledger, &ledger->end, state);
	if (event->kind == RVP_EVENT_END && ledger->looks[process].sums_ns && !ledger->no_memory)
		take_sums(ledger, &ledger->end, event->moment->ns, state);
}

static void see_cgroup(struct rvp_ledger *ledger, const struct rvp_state *state)
{
	const struct rvp_record_CGROUP *now = &state->resident.cgroup;

	if (!ledger->has_cgroup || now->current_bytes > ledger->cgroup_peak.current_bytes)
		ledger->cgroup_peak = *now;
	ledger->cgroup = *now;
	ledger->has_cgroup = true;
}

static void see_resident(struct rvp_ledger *ledger, const struct rvp_event *event,
			 const struct rvp_state *state)
{
	if (event->kind == RVP_EVENT_RECORD && event->moment->record->kind == RVP_REGION) {
		ledger->regions_ns = event->moment->ns;
		ledger->regions_rss_bytes = state->resident.rss_bytes;
	}
	see_peak(ledger, event, state);
	see_end(ledger, event, state);
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		if (state->resident.region_bytes[i] > ledger->max_region_bytes[i])
			ledger->max_region_bytes[i] = state->resident.region_bytes[i];
	if (state->resident.has_cgroup)
		see_cgroup(ledger, state);
}

static bool concerns_resident(const struct rvp_event *event)
{
	if (event->kind == RVP_EVENT_BEGIN || event->kind == RVP_EVENT_END)
		return true;
	if (event->kind != RVP_EVENT_RECORD)
		return false;
	switch (event->moment->record->kind) {
	case RVP_SNAPSHOT:
	case RVP_WATCH:
	case RVP_REGION:
	case RVP_CGROUP: return true;
	default: return false;
	}
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_ledger *ledger = (struct rvp_ledger *)observer;

	if (!ledger->no_memory)
		see_inside(ledger, event, state);
	if (concerns_resident(event))
		see_resident(ledger, event, state);
	if (state->live.amount.bytes > ledger->live_peak_bytes) {
		ledger->live_peak_bytes = state->live.amount.bytes;
		take(ledger, &ledger->at_live_peak, state);
	}
	if (event->kind == RVP_EVENT_END) /* its pages are nobody's now */
		ledger->looks[event->moment->process].sums_ns = 0;
}

/* Processes that live on: the end is now. */
static void finish(struct rvp_observer *observer, const struct rvp_state *state)
{
	struct rvp_ledger *ledger = (struct rvp_ledger *)observer;

	if (ledger->no_memory)
		return;
	if (ledger->open_process != RVP_NO_PROCESS)
		close_look(ledger, state);
	if (state->run->alive_count && ledger->end.is_set)
		take_sums(ledger, &ledger->end, state->run->end_ns, state);
}

bool rvp_ledger_closes(const struct rvp_ledger_entry *entry)
{
	if (entry->sums)
		return entry->sums_are_whole;
	/* A program that grows has other parts a moment later. */
	uint64_t moved = entry->rss_bytes > entry->regions_rss_bytes
			     ? entry->rss_bytes - entry->regions_rss_bytes
			     : entry->regions_rss_bytes - entry->rss_bytes;

	return entry->regions_ns && is_close(entry->ns, entry->regions_ns) && moved <= entry->rss_bytes / 100;
}

int64_t rvp_ledger_entry_unexplained(const struct rvp_ledger_entry *entry)
{
	uint64_t sum = 0;

	if (entry->sums)
		return rvp_ledger_unexplained(entry->sums);
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		sum += entry->region_bytes[i];
	return (int64_t)(entry->rss_bytes - sum);
}

bool rvp_ledger_open(struct rvp_ledger *ledger, const struct rvp_run *run)
{
	*ledger =
	    (struct rvp_ledger){.observer = {.see = see, .finish = finish}, .open_process = RVP_NO_PROCESS};
	ledger->looks = calloc(run->process_count + 1, sizeof *ledger->looks);
	return ledger->looks && rvp_ledger_ranges_open(&ledger->ranges, run->process_count);
}

void rvp_ledger_close(struct rvp_ledger *ledger)
{
	size_t count = ledger->looks ? ledger->ranges.process_count : 0;

	for (size_t i = 0; i < count; i++)
		rvp_look_free(&ledger->looks[i]);
	free(ledger->looks);
	rvp_ledger_ranges_free(&ledger->ranges);
	forget_sums(&ledger->peak);
	forget_sums(&ledger->end);
	for (int i = 0; i < RVP_LEDGER_MARKS_MAX; i++)
		forget_sums(&ledger->marks[i]);
	memset(ledger, 0, sizeof *ledger);
}
