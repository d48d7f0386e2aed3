/* SPDX-License-Identifier: MIT */
/* covered.h: for how long at least one of many intervals went on, told in any order; busy.h is for those in order of their
 * begin. Calls are told when they come back, so in order of their end.
 *
 *   - Spans are disjoint and in order; an interval joins those that it touches.
 *   - At most RVP_COVERED_MOST are kept. Beyond, the older half is settled: what an interval had before that is not added, and
 *     `cut_count` counts such intervals. So any number takes a MiB at the most.
 */
#ifndef RVP_REPORT_COVERED_H
#define RVP_REPORT_COVERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RVP_COVERED_MOST = 1 << 16 };

struct rvp_covered_span {
	uint64_t begin_ns, end_ns;
};

/* All zero: none yet. */
struct rvp_covered {
	struct rvp_covered_span *spans;
	size_t count, room;
	uint64_t settled_ns, settled_until_ns;
	uint64_t cut_count;
	bool no_memory;
};

void rvp_covered_add(struct rvp_covered *covered, uint64_t begin_ns, uint64_t end_ns);
uint64_t rvp_covered_ns(const struct rvp_covered *covered);
void rvp_covered_free(struct rvp_covered *covered);

#endif
