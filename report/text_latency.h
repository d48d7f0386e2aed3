/* SPDX-License-Identifier: MIT */
/* text_latency.h: `rvprof report --latency`: times of steps by phase, to the first token and between tokens, where they lie, and
 * stalls with what happened in them; as text and JSON. */
#ifndef RVP_TEXT_LATENCY_H
#define RVP_TEXT_LATENCY_H

#include "report/latency_rows.h"
#include "report/text_report.h"

enum { RVP_HISTOGRAM_ROWS = 16 };

/* A part of a histogram: `count` times from first_us to last_us. */
struct rvp_histogram_row {
	uint64_t first_us, last_us, count;
};

/* At most RVP_HISTOGRAM_ROWS rows from the least to the most, edges where buckets of the sketch have theirs: counts are exact.
 * Returns how many. */
size_t rvp_histogram_of(const struct rvp_sketch *sketch, struct rvp_histogram_row *rows);

/* Fails only without memory, or where there are no steps. `json` in place of text. */
struct rvp_status rvp_report_latency(const struct rvp_view *view, bool json);

#endif
