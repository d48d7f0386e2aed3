/* SPDX-License-Identifier: MIT */
/* ledger_look.h: one look of a process at its own map (SNAPSHOT, REGION, OWN_RANGE and RESIDENT records of
 * one stamp), taken apart into the rows of the ledger.
 *
 * The identity: every resident page lies in one range that a record tells of, and goes to the first of these:
 *   a block of a page and more (its purpose) | a mapping that is a block (likewise) | memory of our own | a
 * stack | static data of a module | a mapping of the program that is no block (reservations) | the
 * allocator's | zeroed data of a library whose code was met in no call path: an anonymous mapping that begins
 * where its file ends. The allocator's is the heap, and each anonymous mapping in which it ever gave out a
 * block. What is resident there beyond the blocks above = small blocks + rounding + free-or-fragmented: live
 * usable bytes are counted, so the last is what is left. Pages that are in none of these are nobody's: they
 * are part of `unexplained`.
 */
#ifndef RVP_REPORT_LEDGER_LOOK_H
#define RVP_REPORT_LEDGER_LOOK_H

#include "report/ledger_ranges.h"
#include "report/ledger_sums.h"

struct rvp_look_run {
	uint64_t address, bytes, resident_bytes, swapped_bytes, region;
	uint32_t kind; /* enum rvp_range */
};

struct rvp_look {
	uint64_t ns;    /* 0: none */
	bool is_open;   /* its records are coming */
	bool has_pages; /* a RESIDENT was among them */
	struct rvp_look_run *runs;
	size_t run_count, run_room;
	struct rvp_named_ranges named;       /* own, stacks, modules; by start */
	struct rvp_named_ranges behind_code; /* where libraries' files end */
	struct rvp_record_SNAPSHOT snapshot;
	uint64_t snapshot_ns;
	struct rvp_ledger_sums *sums; /* of the last whole look; NULL: none */
	uint64_t sums_ns;
};

/* Takes SNAPSHOT, REGION, OWN_RANGE, RESIDENT of its process. False without memory. */
bool rvp_look_take(struct rvp_look *look, const struct rvp_event *event, const struct rvp_state *state);

/* The look is whole: `sums` become those of now. False without memory. */
bool rvp_look_close(struct rvp_look *look, uint32_t process, const struct rvp_ledger_ranges *ranges,
		    const struct rvp_state *state);

/* Whether the allocator gave out blocks in the region that run `number` begins; `behind` gets the next
 * region's first run. */
bool rvp_look_has_blocks(const struct rvp_look *look, size_t number, uint32_t process,
			 const struct rvp_ledger_ranges *ranges, size_t *behind);

void rvp_look_free(struct rvp_look *look);

#endif
