/* SPDX-License-Identifier: MIT */
/* series.h: live bytes and RSS over time in a bounded number of rows (analysis.h). */
#ifndef RVP_REPORT_SERIES_H
#define RVP_REPORT_SERIES_H

#include "report/observer.h"

struct rvp_series {
	struct rvp_series_row *rows;
	size_t count, room;
	uint64_t part_ns, part_end_ns;
};

void rvp_series_begin_row(struct rvp_series *series, uint64_t ns, const struct rvp_state *state);

/* After each event. */
static inline void rvp_series_see(struct rvp_series *series, uint64_t ns, const struct rvp_state *state)
{
	struct rvp_series_row *row = series->count ? &series->rows[series->count - 1] : NULL;

	if (!row || (ns >= series->part_end_ns && series->count < series->room)) {
		rvp_series_begin_row(series, ns, state);
		return;
	}
	if (state->live.amount.bytes > row->live_bytes) {
		row->live_bytes = state->live.amount.bytes;
		row->ns = ns;
	}
	if (state->resident.rss_bytes > row->rss_bytes)
		row->rss_bytes = state->resident.rss_bytes;
}

/* False without memory. `rows` is the taker's to free. */
bool rvp_series_open(struct rvp_series *series, const struct rvp_run *run, size_t rows);

#endif
