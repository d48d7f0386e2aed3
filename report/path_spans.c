/* SPDX-License-Identifier: MIT */
/* path_spans.c: see path_spans.h. Rests on (R1) of paths.c: a parent has a lower number than what is under
 * it. */
#include "report/path_spans.h"

#include <stdlib.h>

/* The root's one counts all. */
static void count_all(struct rvp_path_spans *spans, const struct rvp_process *process)
{
	for (size_t i = 0; i < spans->count; i++)
		spans->spans[i].count = 1;
	for (size_t i = spans->count - 1; i > 0; i--)
		spans->spans[process->nodes[i].parent].count += spans->spans[i].count;
}

/* next[path]: where the next span under it begins. */
static void place_all(struct rvp_path_spans *spans, const struct rvp_process *process, uint32_t *next)
{
	next[0] = 1;
	for (size_t i = 1; i < spans->count; i++) {
		uint32_t parent = process->nodes[i].parent;

		spans->spans[i].first = next[parent];
		next[parent] += spans->spans[i].count;
		next[i] = spans->spans[i].first + 1;
	}
}

bool rvp_path_spans_make(struct rvp_path_spans *spans, const struct rvp_process *process)
{
	size_t count = process->node_count;
	uint32_t *next = malloc((count + 1) * sizeof *next);

	*spans = (struct rvp_path_spans){.spans = calloc(count + 1, sizeof *spans->spans), .count = count};
	if (!next || !spans->spans) {
		free(next);
		rvp_path_spans_free(spans);
		return false;
	}
	if (count) {
		count_all(spans, process);
		place_all(spans, process, next);
	}
	free(next);
	return true;
}

void rvp_path_spans_free(struct rvp_path_spans *spans)
{
	free(spans->spans);
	*spans = (struct rvp_path_spans){0};
}
