/* SPDX-License-Identifier: MIT */
/* series.c: see series.h. */
#include "report/series.h"

#include <stdlib.h>

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_series *series = (struct rvp_series *)observer;
	uint64_t ns = event->moment->ns, live = state->live.amount.bytes, rss = state->resident.rss_bytes;

	if (!series->count || (ns >= series->part_end_ns && series->count < series->room)) {
		uint64_t parts =
		    ns >= series->part_end_ns ? (ns - series->part_end_ns) / series->part_ns + 1 : 0;

		series->part_end_ns += parts * series->part_ns;
		series->rows[series->count++] = (struct rvp_series_row){ns, live, rss};
		return;
	}
	struct rvp_series_row *row = &series->rows[series->count - 1];

	if (live > row->live_bytes) {
		row->live_bytes = live;
		row->ns = ns;
	}
	if (rss > row->rss_bytes)
		row->rss_bytes = rss;
}

bool rvp_series_open(struct rvp_series *series, const struct rvp_run *run, size_t rows)
{
	*series = (struct rvp_series){.observer.see = see, .room = rows};
	series->rows = calloc(rows + 1, sizeof *series->rows);
	series->part_ns = rows ? (run->end_ns - run->begin_ns) / rows + 1 : 1;
	series->part_end_ns = run->begin_ns + series->part_ns;
	return series->rows != NULL;
}
