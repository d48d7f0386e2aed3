/* SPDX-License-Identifier: MIT */
/* resident.h: the process's map at the moments that matter, for the ledger: what is mapped and how much of it
 * is resident (REGION), which pages of anonymous memory and of mapped data files (RESIDENT), and which are
 * our own (OWN_RANGE).
 *
 * Looked at when RSS is 4.5 % and 256 KiB above the highest look's, and only while all looks together took less than
 * 1 % of the time (and 5 ms right before a thirty-second part of RSS is given back: that moment may be the peak);
 * within 1 % of the time when it has fallen to half of the last look's, and before a child when it is 0.8 % and
 * 256 KiB from the last look's; and at the end and at rvprof_snapshot() always.
 * From 10 MiB to 10 GiB these are some 160 looks at the most. Cost: 1 to 20 ms a resident GiB, and 0.1 ms and more
 * each: a compiler run on a small file of 40 ms has three, of its three processes' ends.
 */
#ifndef RVP_RESIDENT_H
#define RVP_RESIDENT_H

#include "preload/thread.h"

enum rvp_look_for {
	RVP_LOOK_FOR_NEWS,	  /* a new peak, or much less than there was */
	RVP_LOOK_FOR_PEAK,	  /* a new peak; a little of it is about to be given back */
	RVP_LOOK_FOR_REST,	  /* what it holds now it may hold for long, while a child has the tree's peak */
	RVP_LOOK_FOR_LAST_CHANCE, /* so much that the peak may be gone then */
};

/* Whether a look at a process that holds so much would tell something new, and is within the budget. */
bool rvp_resident_is_due(uint64_t rss_bytes, enum rvp_look_for what);

/* Makes what a look needs, so that it is resident before RSS is read. False: the map can't be read. */
bool rvp_resident_prepare(void);

/* Emits the records with `stamp`. Nothing while another thread is at it. */
void rvp_resident_look(struct rvp_thread *thread, uint64_t stamp, uint64_t rss_bytes);

/* Some thread is at it. */
bool rvp_resident_is_looking(void);

void rvp_resident_after_fork(void);

#endif
