/* SPDX-License-Identifier: MIT */
/* counterfactual.c: see counterfactual.h.
 *
 * What a row would leave behind rises when a block is born or restored, or goes to another purpose; at other
 * events it falls or stays, so it is looked at only then. The live bytes of sets of sites are kept up with
 * every event; after the end of a process and after a change of purpose they are summed anew.
 */
#include "report/counterfactual.h"

static void sum_anew(struct rvp_counterfactual *this, const struct rvp_state *state)
{
	for (size_t i = 0; i < this->row_count; i++)
		this->rows[i].live_bytes = 0;
	for (size_t i = 0; i < state->site_count && i < this->site_count; i++)
		if (this->row_of_site[i])
			this->rows[this->row_of_site[i] - 1].live_bytes += state->sites[i].live.bytes;
}

static void keep_up(struct rvp_counterfactual *this, const struct rvp_event *event)
{
	uint32_t split = event->block.split, row = split < this->site_count ? this->row_of_site[split] : 0;

	if (!row)
		return;
	if (event->kind == RVP_EVENT_DIED)
		this->rows[row - 1].live_bytes -= event->weight.amount.bytes;
	else
		this->rows[row - 1].live_bytes += event->weight.amount.bytes;
}

static uint64_t live_of(const struct rvp_absence *row, const struct rvp_state *state)
{
	switch (row->what) {
	case RVP_ABSENT_SITES: return row->live_bytes;
	case RVP_ABSENT_PURPOSE: return state->by_purpose[row->number].amount.bytes;
	case RVP_ABSENT_CATEGORY: return state->by_category[row->number].amount.bytes;
	}
	return 0;
}

static void look(struct rvp_counterfactual *this, const struct rvp_state *state, uint64_t ns)
{
	uint64_t tracked = state->tracked.amount.bytes;

	for (size_t i = 0; i < this->row_count; i++) {
		struct rvp_absence *row = &this->rows[i];
		uint64_t live = live_of(row, state);
		uint64_t gone = row->share >= 1 ? live : (uint64_t)((double)live * row->share);

		if (row->peak_ns != RVP_NEVER && tracked - gone <= row->peak_bytes)
			continue;
		row->peak_bytes = tracked - gone;
		row->peak_ns = ns;
	}
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_counterfactual *this = (struct rvp_counterfactual *)observer;
	bool is_birth = event->kind == RVP_EVENT_BORN || event->kind == RVP_EVENT_RESTORED;
	bool is_block = is_birth || event->kind == RVP_EVENT_DIED;

	if (event->kind == RVP_EVENT_END) { /* the state is still that before it */
		this->must_sum = true;
		return;
	}
	this->must_sum |= state->change_count != this->seen_changes || event->kind == RVP_EVENT_RESIZED;
	if (this->must_sum)
		sum_anew(this, state);
	else if (is_block && event->block.split != RVP_NOT_COUNTED)
		keep_up(this, event);
	if (is_birth || this->must_sum)
		look(this, state, event->moment->ns);
	this->seen_changes = state->change_count;
	this->must_sum = false;
}

void rvp_counterfactual_open(struct rvp_counterfactual *this, struct rvp_absence *rows, size_t row_count,
			     const uint32_t *row_of_site, size_t site_count)
{
	*this = (struct rvp_counterfactual){.observer.see = see,
					    .rows = rows,
					    .row_count = row_count,
					    .row_of_site = row_of_site,
					    .site_count = site_count};
	for (size_t i = 0; i < row_count; i++) {
		rows[i].peak_ns = RVP_NEVER;
		rows[i].peak_bytes = rows[i].live_bytes = 0;
	}
}
