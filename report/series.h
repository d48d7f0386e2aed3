/* SPDX-License-Identifier: MIT */
/* series.h: live bytes and RSS over time in a bounded number of rows (analysis.h). */
#ifndef RVP_REPORT_SERIES_H
#define RVP_REPORT_SERIES_H

#include "report/observer.h"

struct rvp_series {
	struct rvp_observer observer;
	struct rvp_series_row *rows;
	size_t count, room;
	uint64_t part_ns, part_end_ns;
};

/* False without memory. `rows` is the taker's to free. */
bool rvp_series_open(struct rvp_series *series, const struct rvp_run *run, size_t rows);

#endif
