/* SPDX-License-Identifier: MIT */
/* ledger.c: see ledger.h. Rows of one snapshot of maps come one after the other at one time: an entry is
 * taken again at each, so that it holds all of them in the end. A look from inside is whole when something
 * else happens; it is taken apart then, before this is entered. */
#include "report/ledger.h"

#include "report/map_table.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t same_moment_ns = 50000000;
enum {
	STALE_PARTS = 100,
	STALE_LEAST_BYTES = 1 << 20,
	FIRST_MOVED_BYTES = 2 << 20,
	KEPT_LEAST_BYTES = 16 << 20,
	KEPT_PARTS = 10
};

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
	entry->regions_are_whole = resident->region_processes == resident->sampled_processes;
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

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t held_by(const struct rvp_tree_rss_process *process)
{
	return process->anon_bytes + process->file_bytes + process->shmem_bytes;
}

static bool is_stale(const struct rvp_look *look, uint64_t sample_bytes, uint64_t tree_bytes)
{
	return distance(look->sums->rss_bytes, sample_bytes) > tree_bytes / STALE_PARTS + STALE_LEAST_BYTES;
}

/* What one living process adds to the sums. False: there is no look of what it holds now; an old one is
 * better than none unless another may come. */
static bool add_process(const struct rvp_look *look, const struct rvp_tree_rss_process *process, uint64_t ns,
			const struct rvp_state *state, struct rvp_ledger_entry *entry, bool may_wait)
{
	uint64_t sample_bytes = held_by(process);
	bool is_now = look->sums_ns && is_close(ns, look->sums_ns);
	bool is_known = is_now || (look->sums_ns ? !is_stale(look, sample_bytes, state->resident.rss_bytes)
						 : !sample_bytes);

	entry->rss_bytes += is_now ? look->sums->rss_bytes : sample_bytes;
	if (look->sums_ns && (is_known || !may_wait))
		rvp_ledger_add_sums(entry->sums, look->sums);
	return is_known;
}

static void add_silent(const struct rvp_tree_rss_process *process, struct rvp_ledger_entry *entry)
{
	struct rvp_ledger_amount *amount = &entry->sums->parts[RVP_PART_SILENT];

	entry->rss_bytes += held_by(process);
	amount->bytes += held_by(process);
	amount->resident_bytes += held_by(process);
}

/* The living processes' looks as one. `missing` gets what those hold that have none; may be NULL. */
static void take_sums(struct rvp_ledger *ledger, struct rvp_ledger_entry *entry, uint64_t ns,
		      const struct rvp_state *state, uint64_t *missing)
{
	entry->sums = calloc(1, sizeof *entry->sums);
	entry->sums_are_whole = entry->sums != NULL;
	entry->rss_bytes = 0;
	for (size_t i = 0; entry->sums && i < state->run->process_count; i++) {
		const struct rvp_tree_rss_process *process = &state->resident.processes[i];
		bool is_known = true;

		if (process->is_alive && !state->run->processes[i].folder)
			add_silent(process, entry);
		else if (process->is_alive)
			is_known = add_process(&ledger->looks[i], process, ns, state, entry, missing != NULL);
		entry->sums_are_whole &= is_known;
		if (missing)
			missing[i] = is_known ? 0 : held_by(process);
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

/* Nothing but what it held when it began is known. */
static bool is_first_alone(const struct rvp_ledger *ledger, uint32_t process, const struct rvp_state *state)
{
	return ledger->peak_missing[process] == state->run->processes[process].first_rss_bytes;
}

/* The first look of a process that had none at the peak: what it holds since. How much more or less that is
 * stays in what is unexplained; where only its beginning was known, it is what it held. */
static void fill_peak(struct rvp_ledger *ledger, uint32_t process, const struct rvp_state *state)
{
	const struct rvp_ledger_sums *sums = ledger->looks[process].sums;
	uint64_t had_bytes = ledger->peak_missing[process], rss_bytes = ledger->peak.rss_bytes;
	bool is_first = is_first_alone(ledger, process, state);

	if (!had_bytes || !ledger->peak.sums)
		return;
	if (is_first ? distance(sums->rss_bytes, had_bytes) > FIRST_MOVED_BYTES
		     : is_stale(&ledger->looks[process], had_bytes, rss_bytes))
		return;
	rvp_ledger_add_sums(ledger->peak.sums, sums);
	if (is_first)
		rss_bytes += sums->rss_bytes - had_bytes;
	ledger->peak.rss_bytes = ledger->peak.sums->rss_bytes = rss_bytes;
	ledger->peak_missing[process] = 0;
	ledger->peak.sums_are_whole = !--ledger->peak_missing_count;
}

static void take_peak(struct rvp_ledger *ledger, const struct rvp_ledger_entry *entry, size_t process_count)
{
	forget_sums(&ledger->peak);
	ledger->peak = *entry;
	memcpy(ledger->peak_missing, ledger->now_missing, process_count * sizeof *ledger->now_missing);
	ledger->peak_missing_count = 0;
	for (size_t i = 0; i < process_count; i++)
		ledger->peak_missing_count += ledger->peak_missing[i] != 0;
}

/* What an entry knows: nothing, RSS, the map, the pages, the pages of all. */
static int rank_of(const struct rvp_ledger_entry *entry)
{
	if (entry->sums)
		return entry->sums_are_whole ? 4 : 3;
	return !entry->is_set ? 0 : entry->regions_ns ? 2 : 1;
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

/* A peak that nobody looked at while it was: a tree grows by a child of one that rests. What is known of each
 * is put together, and may be filled up. */
static void take_peak_of_looks(struct rvp_ledger *ledger, uint64_t ns, const struct rvp_state *state)
{
	struct rvp_ledger_entry entry = {0};

	take(ledger, &entry, state);
	take_sums(ledger, &entry, ns, state, ledger->now_missing);
	if (entry.sums)
		take_peak(ledger, &entry, state->run->process_count);
}

bool rvp_ledger_keeps_much(const struct rvp_ledger_sums *sums)
{
	uint64_t bytes = sums ? sums->parts[RVP_PART_FREE].resident_bytes : 0;

	return bytes >= KEPT_LEAST_BYTES || (bytes && bytes >= sums->rss_bytes / KEPT_PARTS);
}

/* Of this look, which is the last so far. */
static void find_pins(struct rvp_ledger *ledger, uint32_t process, const struct rvp_state *state)
{
	const struct rvp_look *look = &ledger->looks[process];

	ledger->end_pin_count = 0;
	ledger->end_has_trimmable = false;
	if (!rvp_ledger_keeps_much(look->sums))
		return;
	ledger->end_pin_count = rvp_pins_find(ledger->end_pins, look, process, &ledger->ranges, state);
	ledger->end_has_trimmable =
	    rvp_trimmable_bytes(&ledger->end_trimmable_bytes, look, process, &ledger->ranges, state);
}

static void take_looked_peak(struct rvp_ledger *ledger, const struct rvp_ledger_entry *entry,
			     const struct rvp_state *state)
{
	take_peak(ledger, entry, state->run->process_count);
	memcpy(ledger->peak_pins, ledger->end_pins, sizeof ledger->peak_pins);
	ledger->peak_pin_count = ledger->end_pin_count;
	ledger->peak_trimmable_bytes = ledger->end_trimmable_bytes;
	ledger->peak_has_trimmable = ledger->end_has_trimmable;
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
	find_pins(ledger, process, state);
	fill_peak(ledger, process, state);
	take(ledger, &entry, state);
	take_sums(ledger, &entry, look->sums_ns, state, ledger->now_missing);
	entry.ns = look->sums_ns;
	if (entry.sums && is_better(&ledger->peak, entry.rss_bytes, rank_of(&entry)))
		take_looked_peak(ledger, &entry, state);
	else
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
	take_sums(ledger, entry, event->moment->ns, state, NULL);
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

	if (!is_same && !is_better(peak, state->resident.rss_bytes, is_region ? 2 : 1))
		return;
	take(ledger, peak, state);
	ledger->peak_missing_count = ledger->peak_pin_count = 0;
	ledger->peak_has_trimmable = false;
	if (state->run->process_count > 1 && !is_region && !ledger->no_memory)
		take_peak_of_looks(ledger, event->moment->ns, state);
}

static void see_end(struct rvp_ledger *ledger, const struct rvp_event *event, const struct rvp_state *state)
{
	uint32_t process = event->moment->process;

	if (!state->resident.is_sampled || !state->resident.rss_bytes)
		return; /* what comes after the last process is no end of it */
	take(ledger, &ledger->end, state);
	if (event->kind == RVP_EVENT_END && ledger->looks[process].sums_ns && !ledger->no_memory)
		take_sums(ledger, &ledger->end, event->moment->ns, state, NULL);
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
	if (event->kind == RVP_EVENT_RECORD && event->moment->record->kind == RVP_WATCH)
		rvp_pss_take(&ledger->pss_now, &ledger->pss, event->moment->ns,
			     &event->moment->record->WATCH);
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
	if (ledger->peak.sums && !ledger->peak.sums_are_whole && ledger->peak.regions_ns)
		forget_sums(&ledger->peak); /* the maps know of more */
	if (state->run->alive_count && ledger->end.is_set)
		take_sums(ledger, &ledger->end, state->run->end_ns, state, NULL);
}

bool rvp_ledger_closes(const struct rvp_ledger_entry *entry)
{
	if (entry->sums)
		return entry->sums_are_whole;
	/* A program that grows has other parts a moment later. */
	uint64_t moved = entry->rss_bytes > entry->regions_rss_bytes
			     ? entry->rss_bytes - entry->regions_rss_bytes
			     : entry->regions_rss_bytes - entry->rss_bytes;

	return entry->regions_ns && entry->regions_are_whole && is_close(entry->ns, entry->regions_ns) &&
	       moved <= entry->rss_bytes / 100;
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
	ledger->peak_missing = calloc(run->process_count + 1, sizeof *ledger->peak_missing);
	ledger->now_missing = calloc(run->process_count + 1, sizeof *ledger->now_missing);
	return ledger->looks && ledger->peak_missing && ledger->now_missing &&
	       rvp_ledger_ranges_open(&ledger->ranges, run->process_count);
}

void rvp_ledger_close(struct rvp_ledger *ledger)
{
	size_t count = ledger->looks ? ledger->ranges.process_count : 0;

	for (size_t i = 0; i < count; i++)
		rvp_look_free(&ledger->looks[i]);
	free(ledger->looks);
	free(ledger->peak_missing);
	free(ledger->now_missing);
	rvp_ledger_ranges_free(&ledger->ranges);
	forget_sums(&ledger->peak);
	forget_sums(&ledger->end);
	for (int i = 0; i < RVP_LEDGER_MARKS_MAX; i++)
		forget_sums(&ledger->marks[i]);
	memset(ledger, 0, sizeof *ledger);
}
