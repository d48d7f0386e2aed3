/* SPDX-License-Identifier: MIT */
/* series.c: see series.h. */
#include "report/series.h"

#include <stdlib.h>

void rvp_series_begin_row(struct rvp_series *series, uint64_t ns, const struct rvp_state *state)
{
	uint64_t parts = ns >= series->part_end_ns ? (ns - series->part_end_ns) / series->part_ns + 1 : 0;

	series->part_end_ns += parts * series->part_ns;
	series->rows[series->count++] =
	    (struct rvp_series_row){ns, state->live.amount.bytes, state->resident.rss_bytes};
}

bool rvp_series_open(struct rvp_series *series, const struct rvp_run *run, size_t rows)
{
	*series = (struct rvp_series){.room = rows};
	series->rows = calloc(rows + 1, sizeof *series->rows);
	series->part_ns = rows ? (run->end_ns - run->begin_ns) / rows + 1 : 1;
	series->part_end_ns = run->begin_ns + series->part_ns;
	return series->rows != NULL;
}
