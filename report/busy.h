/* SPDX-License-Identifier: MIT */
/* busy.h: for how long at least one of many intervals went on, counted as they come in order of their begin:
 * what two streams did at the same time is counted once. */
#ifndef RVP_REPORT_BUSY_H
#define RVP_REPORT_BUSY_H

#include <stdint.h>

struct rvp_busy {
	uint64_t until_ns, ns; /* until_ns 0: none yet */
};

static inline void rvp_busy_add(struct rvp_busy *busy, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t from_ns = begin_ns > busy->until_ns ? begin_ns : busy->until_ns;

	/* What takes no time moves the moment all the same: the gap before it is not in the next one again. */
	if (end_ns <= from_ns) {
		busy->until_ns = end_ns > busy->until_ns ? end_ns : busy->until_ns;
		return;
	}
	busy->ns += end_ns - from_ns;
	busy->until_ns = end_ns;
}

#endif
