/* SPDX-License-Identifier: MIT */
/* metrics.h: figures that a program gave itself by rvprof_metric: of each name the last one said.
 *
 * At most RVP_METRICS_MAX names; what is more is dropped. A figure that is no number (NaN, infinite) is not
 * kept: JSON has no word for it.
 */
#ifndef RVP_REPORT_METRICS_H
#define RVP_REPORT_METRICS_H

#include "record/schema.h"

#include <stdbool.h>
#include <stddef.h>

struct rvp_arena;
struct rvp_json;

enum { RVP_METRICS_MAX = 256 };

struct rvp_metrics {
	struct rvp_metric *metrics; /* in order of appearance; NULL before the first */
	size_t count;
};

/* A MARK record of kind RVP_MARK_METRIC. False without memory. */
bool rvp_metrics_take(struct rvp_metrics *metrics, struct rvp_arena *arena,
		      const struct rvp_record_MARK *record);

/* "metrics": {..}; nothing when there are none. */
void rvp_metrics_write_json(const struct rvp_metrics *metrics, struct rvp_json *json);

#endif
