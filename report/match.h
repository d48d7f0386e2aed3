/* SPDX-License-Identifier: MIT */
/* match.h: from records to the lives of blocks: an alloc and its free find each other by address.
 *
 * What is out of order by less than 100 microseconds between two threads is repaired by alternation: an alloc
 * at a live address means that the free came late (the old block dies then, the late free is swallowed), and
 * a free of an unknown address that an alloc follows was early. Both count as RVP_LOSS_INVERSION.
 */
#ifndef RVP_REPORT_MATCH_H
#define RVP_REPORT_MATCH_H

#include "report/block_table.h"
#include "report/inherit.h"
#include "report/site_table.h"
#include "report/timeline.h"
#include "report/weight.h"

enum rvp_event_kind {
	RVP_EVENT_BORN,
	RVP_EVENT_DIED,
	RVP_EVENT_RESTORED,       /* the last death of this block did not happen after all */
	RVP_EVENT_INHERITED_DIED, /* a child gave back a block that its parent had at the fork; it is in no
				     site */
	RVP_EVENT_INHERITED_RESTORED,
	RVP_EVENT_BEGIN, /* of a process */
	RVP_EVENT_END,
	RVP_EVENT_RECORD, /* any other record */
	RVP_EVENT_RESIZED, /* of a device: a block counts more or less than before, its weight is what it counts now */
};

struct rvp_event {
	enum rvp_event_kind kind;
	bool is_temporary;               /* of a death */
	const struct rvp_moment *moment; /* process, time, thread, record */
	struct rvp_block block;          /* not for BEGIN, END, RECORD */
	struct rvp_weight weight;        /* likewise */
	/* Of blocks of devices alone. */
	uint64_t before_bytes;   /* of RESIZED: what it counted before */
	uint32_t stack, python; /* of a birth */
};

enum { RVP_EVENTS_MAX = 2 }; /* that one record can make */

/* Says at a birth by which number a block is summed (block.split); asked once a block. */
struct rvp_classifier {
	uint32_t (*classify)(void *context, const struct rvp_event *birth);
	void *context;
};

struct rvp_match_counts {                 /* of a process */
	uint64_t alloc_count, free_count; /* records of allocs and frees that did happen */
	uint64_t alloc_bytes;
	uint64_t unknown_free, inversion;
	bool is_unsure; /* bytes of what it inherited: see rvp_inherits_surely */
};

struct rvp_matcher;

/* `sites` gets the sites of all blocks. NULL without memory. */
struct rvp_matcher *rvp_matcher_open(const struct rvp_run *run, uint32_t stream_count,
				     struct rvp_site_table *sites, struct rvp_classifier classifier);

/* The live block at `address`, or NULL. */
struct rvp_block *rvp_matched_block(const struct rvp_matcher *matcher, uint32_t process, uint64_t address);

/* The events that the moment makes, how many in *count. False without memory. */
bool rvp_match(struct rvp_matcher *matcher, const struct rvp_moment *moment, struct rvp_event *events,
	       unsigned *count);

/* An alloc or a free of a run (rvp_timeline_take) that makes one event and nothing more: true, and the event is there.
 * Else nothing has happened, and its record goes to rvp_match. moment->ns is the brief's; its record is not read.
 * `guess`: rvp_block_guess of a freed block, or 0. */
bool rvp_match_brief(struct rvp_matcher *matcher, const struct rvp_moment *moment, const struct rvp_brief *brief,
		     uint32_t guess, struct rvp_event *event);
/* Live blocks by process. */
const struct rvp_block_table *rvp_match_blocks(const struct rvp_matcher *matcher);

const struct rvp_match_counts *rvp_match_counts(const struct rvp_matcher *matcher, uint32_t process);
void rvp_matcher_close(struct rvp_matcher *matcher);

#endif
