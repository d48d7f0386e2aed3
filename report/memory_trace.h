/* SPDX-License-Identifier: MIT */
/* memory_trace.h: used and held bytes over time, a row an equal part of the run, with the largest birth of
 * each part: an observer. */
#ifndef RVP_REPORT_MEMORY_TRACE_H
#define RVP_REPORT_MEMORY_TRACE_H

#include "report/observer.h"

struct rvp_trace_bump {
	uint64_t number; /* of the block (block_lives.h); 0: no birth */
	uint64_t bytes, ns;
	uint32_t split;
};

/* Of the moment in the part at which used bytes were highest; where nothing happened in it, those before. */
struct rvp_trace_row {
	uint64_t ns, used_bytes;
	uint64_t held_bytes; /* resident then, by the sample before it; 0: none yet */
	struct rvp_trace_bump bump;
	bool has_event;
};

struct rvp_memory_trace {
	struct rvp_observer observer;
	struct rvp_trace_row *rows; /* the asker's */
	size_t row_count;
	uint64_t begin_ns, part_ns, number;
};

void rvp_memory_trace_open(struct rvp_memory_trace *trace, const struct rvp_run *run,
			   struct rvp_trace_row *rows, size_t row_count);

/* After the pass: rows without events get what was before. */
void rvp_memory_trace_fill(struct rvp_memory_trace *trace);

#endif
