/* SPDX-License-Identifier: MIT */
/* rows.h: when a time series gets a row: when a value has moved by more than max(1 MiB, 2 %) since the last
 * row, at most every 10 ms. A move within the 10 ms comes as a row at their end, with the values of that
 * moment. */
#ifndef RVP_REPORT_ROWS_H
#define RVP_REPORT_ROWS_H

#include "report/observer.h"

struct rvp_row {
	uint64_t ns;
	uint64_t live_bytes, rss_bytes;
	uint64_t category_bytes[RVP_CATEGORY_COUNT]; /* live; of file, stack and code resident, by the latest
						      * snapshot of maps */
	bool has_rss, has_regions, is_attributed;
};

struct rvp_rows {
	struct rvp_row last;    /* that was written */
	struct rvp_row present; /* of the latest event */
	bool has_last, has_present, is_pending;
	uint64_t count;
	uint64_t least_live, most_live, least_rss, most_rss; /* up to here nothing has moved since the last row */
	uint64_t behind_ns; /* of the latest event, where it was let pass and `present` is older; 0: it is not */
};

/* file, stack and code: resident bytes, not live ones. */
bool rvp_category_is_resident(int category);

/* The tree's row after an event at `ns`. */
struct rvp_row rvp_row_of(const struct rvp_state *state, uint64_t ns);

/* Whether an event that leads to these values makes no row and needs none to be made of it: nearly all do not. */
static inline bool rvp_rows_let_pass(struct rvp_rows *rows, uint64_t ns, uint64_t live_bytes, uint64_t rss_bytes)
{
	if (!rows->has_last || rows->is_pending || live_bytes < rows->least_live || live_bytes > rows->most_live ||
	    rss_bytes < rows->least_rss || rss_bytes > rows->most_rss)
		return false;
	rows->behind_ns = ns;
	return true;
}

/* Takes the row of an event; rows to write into out[2], how many is returned. */
int rvp_rows_take(struct rvp_rows *rows, const struct rvp_row *row, struct rvp_row *out);

#endif
