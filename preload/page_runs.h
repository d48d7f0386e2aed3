/* SPDX-License-Identifier: MIT */
/* page_runs.h: which pages of a range of this process are resident or swapped out, as runs, by
 * /proc/self/pagemap.
 *
 * By PAGEMAP_SCAN where the kernel has it (6.7): only what is there is looked at. Else eight bytes a page are
 * read, of ranges beyond 1 GiB a part: the others are taken to be alike, and the run says how much was looked
 * at. The page of zeros that reading an untouched page gives is not resident memory; before 6.7 it can't be
 * told from a page that a child by fork shares, and counts as one.
 */
#ifndef RVP_PAGE_RUNS_H
#define RVP_PAGE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rvp_page_run {
	uint64_t address, bytes, resident_bytes, swapped_bytes, looked_bytes;
};

struct rvp_page_reader {
	int fd; /* of /proc/self/pagemap */
	void *room;
	size_t room_bytes; /* at least 4096 */
	bool has_no_scan;  /* found out once */
	uint64_t ahead_end; /* a scan goes on to here, for ranges that are asked for later; 0: to the range's end */
	/* What a scan found of [known_start, known_end) and was not asked for yet, in `room`. */
	uint64_t known_start, known_end;
	size_t known_count, known_next;
};

/* Calls `see` for each run of [start, end) that has pages, rising. Ranges come in order where `ahead_end` is set: a call
 * to the kernel takes a microsecond and more, and most mappings have few pages. False: not readable. */
bool rvp_page_runs(struct rvp_page_reader *reader, uint64_t start, uint64_t end,
		   void (*see)(void *context, const struct rvp_page_run *run), void *context);

#endif
