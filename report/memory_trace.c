/* SPDX-License-Identifier: MIT */
/* memory_trace.c: see memory_trace.h. */
#include "report/memory_trace.h"

static struct rvp_trace_row *row_at(struct rvp_memory_trace *this, uint64_t ns)
{
	uint64_t part = ns > this->begin_ns ? (ns - this->begin_ns) / this->part_ns : 0;

	return &this->rows[part < this->row_count ? part : this->row_count - 1];
}

static void take_birth(struct rvp_memory_trace *this, struct rvp_trace_row *row,
		       const struct rvp_event *event)
{
	this->number++;
	if (event->block.split == RVP_NOT_COUNTED || event->block.bytes <= row->bump.bytes)
		return;
	row->bump =
	    (struct rvp_trace_bump){this->number, event->block.bytes, event->moment->ns, event->block.split};
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct rvp_memory_trace *this = (struct rvp_memory_trace *)observer;
	struct rvp_trace_row *row = row_at(this, event->moment->ns);
	uint64_t used = state->tracked.amount.bytes;

	if (event->kind == RVP_EVENT_BORN)
		take_birth(this, row, event);
	if (row->has_event && used <= row->used_bytes) {
		if (used == row->used_bytes && state->resident.rss_bytes > row->held_bytes)
			row->held_bytes = state->resident.rss_bytes;
		return;
	}
	row->has_event = true;
	row->used_bytes = used;
	row->held_bytes = state->resident.rss_bytes;
	row->ns = event->moment->ns;
}

void rvp_memory_trace_open(struct rvp_memory_trace *trace, const struct rvp_run *run,
			   struct rvp_trace_row *rows, size_t row_count)
{
	*trace = (struct rvp_memory_trace){.observer.see = see,
					   .rows = rows,
					   .row_count = row_count,
					   .begin_ns = run->begin_ns,
					   .part_ns = (run->end_ns - run->begin_ns) / row_count + 1};
}

void rvp_memory_trace_fill(struct rvp_memory_trace *trace)
{
	for (size_t i = 0; i < trace->row_count; i++) {
		struct rvp_trace_row *row = &trace->rows[i];

		if (row->has_event)
			continue;
		row->ns = trace->begin_ns + i * trace->part_ns;
		if (i) {
			row->used_bytes = trace->rows[i - 1].used_bytes;
			row->held_bytes = trace->rows[i - 1].held_bytes;
		}
	}
}
