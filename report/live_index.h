/* SPDX-License-Identifier: MIT */
/* live_index.h: live blocks in order of address, for whoever has an address inside of one. A treap a process;
 * priorities come from a fixed sequence, so a run is read the same way each time.
 *
 * Invariant (X1): blocks of one process do not overlap; one that would is entered over the older ones, which
 * go.
 */
#ifndef RVP_REPORT_LIVE_INDEX_H
#define RVP_REPORT_LIVE_INDEX_H

#include "report/block_table.h"

struct rvp_live_node {
	struct rvp_block block;
	uint32_t left, right; /* number + 1; 0: none */
	uint32_t priority;
};

struct rvp_live_index {
	struct rvp_live_node *nodes;
	uint32_t *roots; /* by process; number + 1 */
	uint32_t count, room, free;
	uint32_t seed;
	size_t process_count;
};

/* False without memory, each of them. */
bool rvp_live_index_open(struct rvp_live_index *index, size_t process_count);
bool rvp_live_index_put(struct rvp_live_index *index, uint32_t process, const struct rvp_block *block);

void rvp_live_index_remove(struct rvp_live_index *index, uint32_t process, uint64_t address);
void rvp_live_index_clear(struct rvp_live_index *index, uint32_t process);

/* The block that holds `address`, or NULL; valid until the next change. */
const struct rvp_block *rvp_live_index_find(const struct rvp_live_index *index, uint32_t process,
					    uint64_t address);

/* The first block that begins at or above `address`, or NULL; likewise. */
const struct rvp_block *rvp_live_index_next(const struct rvp_live_index *index, uint32_t process,
					    uint64_t address);

void rvp_live_index_free(struct rvp_live_index *index);

#endif
