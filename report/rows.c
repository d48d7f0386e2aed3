/* SPDX-License-Identifier: MIT */
/* rows.c: see rows.h. */
#include "report/rows.h"

static const uint64_t apart_ns = 10000000, least_bytes = 1048576;

bool rvp_category_is_resident(int category)
{
	return category == RVP_CATEGORY_FILE || category == RVP_CATEGORY_STACK ||
	       category == RVP_CATEGORY_CODE;
}

struct rvp_row rvp_row_of(const struct rvp_state *state, uint64_t ns)
{
	const struct rvp_tree_rss *resident = &state->resident;

	struct rvp_row row = {
	    .ns = ns,
	    .live_bytes = state->tracked.amount.bytes,
	    .rss_bytes = resident->rss_bytes,
	    .has_rss = resident->is_sampled,
	    .has_regions = resident->region_processes > 0,
	    .is_attributed = state->is_attributed,
	};

	for (int i = 0; i < RVP_CATEGORY_COUNT; i++)
		row.category_bytes[i] = rvp_category_is_resident(i) ? resident->region_bytes[i]
								    : state->by_category[i].amount.bytes;
	return row;
}

static void set_limits(uint64_t bytes, uint64_t *least, uint64_t *most)
{
	uint64_t part = bytes / 50, distance = part > least_bytes ? part : least_bytes;

	*least = bytes > distance ? bytes - distance : 0;
	*most = bytes < UINT64_MAX - distance ? bytes + distance : UINT64_MAX;
}

static bool moved(const struct rvp_rows *rows, const struct rvp_row *to)
{
	return to->live_bytes < rows->least_live || to->live_bytes > rows->most_live ||
	       to->rss_bytes < rows->least_rss || to->rss_bytes > rows->most_rss;
}

static void put(struct rvp_rows *rows, const struct rvp_row *row, struct rvp_row *out, int *count)
{
	out[(*count)++] = *row;
	rows->last = *row;
	rows->has_last = true;
	rows->is_pending = false;
	set_limits(row->live_bytes, &rows->least_live, &rows->most_live);
	set_limits(row->rss_bytes, &rows->least_rss, &rows->most_rss);
	rows->count++;
}

int rvp_rows_take(struct rvp_rows *rows, const struct rvp_row *row, struct rvp_row *out)
{
	int count = 0;

	if (rows->is_pending && row->ns >= rows->last.ns + apart_ns) {
		rows->present.ns = rows->last.ns + apart_ns;
		put(rows, &rows->present, out, &count);
	}
	if (!rows->has_last)
		put(rows, row, out, &count);
	else if (!moved(rows, row))
		rows->is_pending = false;
	else if (row->ns >= rows->last.ns + apart_ns)
		put(rows, row, out, &count);
	else
		rows->is_pending = true;
	rows->present = *row;
	rows->has_present = true;
	rows->behind_ns = 0;
	return count;
}
