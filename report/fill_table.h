/* SPDX-License-Identifier: MIT */
/* fill_table.h: which bytes of a live block were read from which file. One `struct rvp_filled_block` for each
 * live block that had a read, found by process and address.
 *
 * Bytes that were filled count once, however often they were (`covered_bytes`). Those that were filled again
 * from another place of a file make `refilled_bytes`: what a read buffer shows, and weights do not. The same
 * bytes read again from the same place are no refill.
 *
 * Invariant (F1): ranges are in order, do not touch and lie within the block.
 */
#ifndef RVP_REPORT_FILL_TABLE_H
#define RVP_REPORT_FILL_TABLE_H

#include "report/evidence.h"

struct rvp_source_file;

struct rvp_filled_range {
	uint64_t begin, end; /* addresses */
};

enum { RVP_FILL_SHIFTS = 8, RVP_FILL_RANGES_MAX = 1 << 16 };

struct rvp_filled_block {
	struct rvp_block_key born; /* as at its birth */
	uint64_t address, bytes;   /* now: a mapping can be cut */
	struct rvp_filled_range *ranges;
	uint32_t range_count;
	size_t range_room;
	uint32_t next; /* of the same place; number + 1 */
	bool is_live;
	uint64_t covered_bytes, refilled_bytes;
	uint64_t last_ns;
	struct rvp_source_file *file; /* that most bytes came from, as far as file_bytes tells */
	uint64_t file_bytes;
	uint64_t highest_offset;          /* end of what was read from the file; 0: no offset was known */
	uint64_t shifts[RVP_FILL_SHIFTS]; /* offset - address of late fills */
	uint32_t shift_count;
};

struct rvp_fill_table {
	struct rvp_filled_block *blocks;
	size_t room;
	uint32_t count, free, live_count; /* free: number + 1 */
	uint32_t *places;
	size_t mask;
};

/* A fill, cut to the block. */
struct rvp_fill_part {
	uint64_t address, bytes, offset, ns; /* offset: RVP_FILL_OFFSET_UNKNOWN if so */
	struct rvp_source_file *file;
};

/* The entry of a live block by its address, or NULL. Valid until the next make. */
struct rvp_filled_block *rvp_filled_find(const struct rvp_fill_table *table, uint32_t process,
					 uint64_t address);

/* A new one. NULL without memory. */
struct rvp_filled_block *rvp_filled_make(struct rvp_fill_table *table, struct rvp_block_key born,
					 const struct rvp_block *block);

/* How many bytes are covered by it that were not before. False in *ok without memory. */
uint64_t rvp_filled_add(struct rvp_filled_block *block, const struct rvp_fill_part *part, bool *ok);

/* It lies elsewhere now, or is cut; the entry keeps its place in memory. `born` NULL: as it was. */
void rvp_filled_move(struct rvp_fill_table *table, struct rvp_filled_block *block, const struct rvp_block *to,
		     const struct rvp_block_key *born);

/* Takes it out of the table but keeps what it says, until rvp_filled_move puts it back or rvp_filled_drop. */
void rvp_filled_take_out(struct rvp_fill_table *table, struct rvp_filled_block *block);
void rvp_filled_drop(struct rvp_fill_table *table, struct rvp_filled_block *block);

void rvp_fill_table_free(struct rvp_fill_table *table);

#endif
