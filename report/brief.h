/* SPDX-License-Identifier: MIT */
/* brief.h: a compact event (record/event.h) with its time: what nearly all of a full log is. Who reads these ahead, skips
 * them or matches them by the hundred need not know of other kinds of record. */
#ifndef RVP_REPORT_BRIEF_H
#define RVP_REPORT_BRIEF_H

#include "record/event_decode.h"

struct rvp_brief {
	struct rvp_compact_event event; /* its nodes: numbers of the process's tables */
	uint64_t ns;
};

/* The record that it stands for. */
static inline void rvp_brief_expand(const struct rvp_brief *brief, struct rvp_record *record)
{
	const struct rvp_compact_event *event = &brief->event;

	if (event->is_alloc) {
		record->kind = RVP_ALLOC;
		record->ALLOC = (struct rvp_record_ALLOC){.stamp = event->stamp,
							  .address = event->address,
							  .bytes = event->bytes,
							  .stack = event->stack,
							  .python = event->python,
							  .family = event->family};
	} else {
		record->kind = RVP_FREE;
		record->FREE = (struct rvp_record_FREE){event->stamp, event->address, event->family};
	}
}

#endif
