/* SPDX-License-Identifier: MIT */
/* writes_pages.h: the blocks that a window follows: which of their pages are written in each scan, and what
 * changes in copies of some of them.
 *
 * Only the scanner calls these, but for rvp_followed_gone and rvp_followed_moved. See writes.h.
 */
#ifndef RVP_WRITES_PAGES_H
#define RVP_WRITES_PAGES_H

#include "preload/thread.h"

enum { RVP_FOLLOWED_MAX = 512, RVP_WRITES_SCANS_MAX = 64 };

struct rvp_followed_sum {
	uint64_t block_count, block_bytes;
	uint64_t left_out; /* could not be registered, or were too many */
};

/* Registers the largest blocks and protects what is there of them. False: no memory. */
bool rvp_followed_open(struct rvp_followed_sum *sum);

/* All blocks; `scan` counts from 0, `half` is the number of the first scan of the second half. False: the
 * kernel does not tell any more. */
bool rvp_followed_scan(unsigned scan, unsigned half);

/* Counts begin again at scan 0; copies stay. */
void rvp_followed_restart(void);

/* Some block is appended to, but was so in `most` scans at the most. */
bool rvp_followed_is_seldom(unsigned most);

/* Blocks that are appended to steadily: a rough guess of what the reader will say, to know when it is enough.
 */
unsigned rvp_followed_count_stores(unsigned scans);

/* A record for each block that is still there. */
void rvp_followed_emit(struct rvp_thread *thread, uint64_t stamp, uint64_t window, uint64_t scans);

/* No page of theirs is protected any more, all memory but the table is given back. */
void rvp_followed_close(void);

/* By the thread that gives a block back, or moved it. */
void rvp_followed_gone(uint32_t number);
void rvp_followed_moved(uint32_t number, uint64_t address, uint64_t bytes);

void rvp_followed_after_fork(void);

#endif
