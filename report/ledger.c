/* SPDX-License-Identifier: MIT */
/* ledger.c: see ledger.h. Rows of one snapshot of maps come one after the other at one time: an entry is
 * taken again at each, so that it holds all of them in the end. */
#include "report/ledger.h"

#include <string.h>

static const uint64_t same_moment_ns = 50000000;

static void take(const struct rvp_ledger *ledger, struct rvp_ledger_entry *entry,
		 const struct rvp_state *state)
{
	const struct rvp_tree_rss *resident = &state->resident;

	entry->is_set = true;
	entry->ns = resident->last_sample_ns;
	entry->regions_ns = resident->region_processes ? ledger->regions_ns : 0;
	entry->rss_bytes = resident->rss_bytes;
	entry->swap_bytes = resident->swap_bytes;
	entry->live_bytes = state->live.amount.bytes;
	memcpy(entry->mapped_bytes, resident->mapped_bytes, sizeof entry->mapped_bytes);
	memcpy(entry->region_bytes, resident->region_bytes, sizeof entry->region_bytes);
}

static void see_peak(struct rvp_ledger *ledger, const struct rvp_event *event, const struct rvp_state *state)
{
	bool is_region =
	    event->moment->kind == RVP_MOMENT_RECORD && event->moment->record->kind == RVP_REGION;
	uint64_t rss = state->resident.rss_bytes;
	struct rvp_ledger_entry *peak = &ledger->peak;

	if (!state->resident.is_sampled)
		return;

	bool is_same = is_region && peak->regions_ns == ledger->regions_ns;
	uint64_t twentieth = peak->rss_bytes / 20;
	/* A snapshot with a map is worth a twentieth of the figure; a higher one counts more. */
	uint64_t least = is_region && !peak->regions_ns   ? peak->rss_bytes - twentieth
			 : !is_region && peak->regions_ns ? peak->rss_bytes + twentieth
							  : peak->rss_bytes;

	if (!peak->is_set || is_same || rss > least)
		take(ledger, peak, state);
}

static void see_resident(struct rvp_ledger *ledger, const struct rvp_event *event,
			 const struct rvp_state *state)
{
	if (event->kind == RVP_EVENT_RECORD && event->moment->record->kind == RVP_REGION)
		ledger->regions_ns = event->moment->ns;
	see_peak(ledger, event, state);
	if (state->resident.is_sampled &&
	    state->resident.rss_bytes) /* what comes after the last process is no end of it */
		take(ledger, &ledger->end, state);
	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		if (state->resident.region_bytes[i] > ledger->max_region_bytes[i])
			ledger->max_region_bytes[i] = state->resident.region_bytes[i];
	ledger->cgroup = state->resident.cgroup;
	ledger->has_cgroup = state->resident.has_cgroup;
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

	if (concerns_resident(event))
		see_resident(ledger, event, state);
	if (state->live.amount.bytes > ledger->live_peak_bytes) {
		ledger->live_peak_bytes = state->live.amount.bytes;
		take(ledger, &ledger->at_live_peak, state);
	}
}

bool rvp_ledger_closes(const struct rvp_ledger_entry *entry)
{
	uint64_t apart =
	    entry->ns > entry->regions_ns ? entry->ns - entry->regions_ns : entry->regions_ns - entry->ns;

	return entry->regions_ns && apart <= same_moment_ns;
}

void rvp_ledger_open(struct rvp_ledger *ledger)
{
	*ledger = (struct rvp_ledger){.observer.see = see};
}
