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
};

/* file, stack and code: resident bytes, not live ones. */
bool rvp_category_is_resident(int category);

/* The tree's row after an event at `ns`. */
struct rvp_row rvp_row_of(const struct rvp_state *state, uint64_t ns);

/* Takes the row of an event; rows to write into out[2], how many is returned. */
int rvp_rows_take(struct rvp_rows *rows, const struct rvp_row *row, struct rvp_row *out);

#endif
