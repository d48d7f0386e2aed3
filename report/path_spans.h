/* SPDX-License-Identifier: MIT */
/* path_spans.h: is one call path under another? Asked by two numbers, whatever the depth: paths are numbered
 * anew, each before all that are under it, which are then a span.
 *
 *     struct rvp_path_spans spans = {0};
 *     rvp_path_spans_make(&spans, process);
 *     rvp_is_under(&spans, path, scope);      // numbers of rvp_node_at
 *     rvp_path_spans_free(&spans);
 */
#ifndef RVP_REPORT_PATH_SPANS_H
#define RVP_REPORT_PATH_SPANS_H

#include "report/run.h"

struct rvp_path_span {
	uint32_t first, count; /* count: the path itself, and all under it */
};

struct rvp_path_spans {
	struct rvp_path_span *spans; /* by number; 0: all are under it */
	size_t count;
};

/* False without memory: then nothing is under anything but itself. */
bool rvp_path_spans_make(struct rvp_path_spans *spans, const struct rvp_process *process);
void rvp_path_spans_free(struct rvp_path_spans *spans);

/* A path is under itself. */
static inline bool rvp_is_under(const struct rvp_path_spans *spans, uint32_t path, uint32_t scope)
{
	if (path == scope || path >= spans->count || scope >= spans->count)
		return path == scope;
	return spans->spans[path].first - spans->spans[scope].first < spans->spans[scope].count;
}

#endif
