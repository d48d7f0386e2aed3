/* SPDX-License-Identifier: MIT */
/* covered.c: see covered.h. */
#include "report/covered.h"

#include "report/grow.h"

#include <stdlib.h>
#include <string.h>

static uint64_t sum_of(const struct rvp_covered_span *spans, size_t count)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < count; i++)
		ns += spans[i].end_ns - spans[i].begin_ns;
	return ns;
}

static void settle(struct rvp_covered *covered)
{
	size_t half = covered->count / 2;

	covered->settled_ns += sum_of(covered->spans, half);
	covered->settled_until_ns = covered->spans[half - 1].end_ns;
	covered->count -= half;
	memmove(covered->spans, covered->spans + half, covered->count * sizeof *covered->spans);
}

/* In place of spans first to last - 1: one, or a new one. */
static void replace(struct rvp_covered *covered, size_t first, size_t last, struct rvp_covered_span span)
{
	struct rvp_covered_span *spans = covered->spans;

	memmove(spans + first + 1, spans + last, (covered->count - last) * sizeof *spans);
	spans[first] = span;
	covered->count += first + 1 - last;
}

void rvp_covered_add(struct rvp_covered *covered, uint64_t begin_ns, uint64_t end_ns)
{
	struct rvp_covered_span span = {begin_ns, end_ns};
	size_t first, last;

	if (begin_ns < covered->settled_until_ns) {
		covered->cut_count++;
		span.begin_ns = covered->settled_until_ns;
	}
	if (span.end_ns <= span.begin_ns)
		return;
	if (covered->count == RVP_COVERED_MOST)
		settle(covered);
	if (!rvp_grow((void **)&covered->spans, &covered->room, covered->count + 1, sizeof *covered->spans)) {
		covered->no_memory = true;
		return;
	}
	for (last = covered->count; last && covered->spans[last - 1].begin_ns > span.end_ns;)
		last--;
	for (first = last; first && covered->spans[first - 1].end_ns >= span.begin_ns; first--) {
		const struct rvp_covered_span *other = &covered->spans[first - 1];

		span.begin_ns = other->begin_ns < span.begin_ns ? other->begin_ns : span.begin_ns;
		span.end_ns = other->end_ns > span.end_ns ? other->end_ns : span.end_ns;
	}
	replace(covered, first, last, span);
}

uint64_t rvp_covered_ns(const struct rvp_covered *covered)
{
	return covered->settled_ns + sum_of(covered->spans, covered->count);
}

void rvp_covered_free(struct rvp_covered *covered)
{
	free(covered->spans);
	*covered = (struct rvp_covered){.spans = NULL};
}
