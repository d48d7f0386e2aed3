/* SPDX-License-Identifier: MIT */
/* ledger_ranges.h: whose addresses are whose, for the ledger: blocks of a page and more, what a program
 * mapped without it being a block, stacks, and where its allocator was ever seen to give out blocks. Kept
 * while the pass goes on.
 */
#ifndef RVP_REPORT_LEDGER_RANGES_H
#define RVP_REPORT_LEDGER_RANGES_H

#include "report/live_index.h"
#include "report/observer.h"

/* Smaller blocks share pages: what is resident of them can't be told by pages. */
enum { RVP_LEDGER_BLOCK_BYTES = 4096 };

struct rvp_named_range {
	uint64_t start, end;
	uint8_t part; /* enum rvp_ledger_part */
};

struct rvp_named_ranges {
	struct rvp_named_range *ranges;
	size_t count, room;
};

struct rvp_ledger_ranges {
	struct rvp_live_index blocks;    /* recorded each; without mappings */
	struct rvp_live_index reserved;  /* mappings that are no blocks */
	struct rvp_named_ranges *stacks; /* by process: of every thread so far */
	uint64_t *windows;               /* open addressing: process, address / 1 MiB; 0: free */
	size_t window_count, window_mask;
	size_t process_count;
	bool no_memory;
};

bool rvp_ledger_ranges_open(struct rvp_ledger_ranges *ranges, size_t process_count);
void rvp_ledger_ranges_see(struct rvp_ledger_ranges *ranges, const struct rvp_event *event);

/* Whether the allocator of the process ever gave out a block in the 1 MiB around `address`. */
bool rvp_ledger_has_blocks(const struct rvp_ledger_ranges *ranges, uint32_t process, uint64_t address);

/* False without memory. */
bool rvp_named_range_add(struct rvp_named_ranges *list, struct rvp_named_range range);

void rvp_ledger_ranges_free(struct rvp_ledger_ranges *ranges);

#endif
