/* SPDX-License-Identifier: MIT */
/* block_table.h: live blocks by address: open addressing, linear probing, deletion by moving back.
 *
 * Invariant (L1): between a block's home and its place no place is empty.
 */
#ifndef RVP_REPORT_BLOCK_TABLE_H
#define RVP_REPORT_BLOCK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rvp_block_flags {
	RVP_BLOCK_SAMPLED = 1,  /* stands for more than itself */
	RVP_BLOCK_SUSPECT = 2,  /* given out while another was live there: one late free is to be swallowed */
	RVP_BLOCK_OCCUPIED = 4, /* of the place: an address may be 0 */
	RVP_BLOCK_MAPPED = 8,   /* a mapping of the program, not a block of its allocator */
	RVP_BLOCK_FILE = 16,    /* a mapping of a file: counts only when evidence speaks for it */
};

#define RVP_NOT_COUNTED UINT32_MAX

struct rvp_block {
	uint64_t address;
	uint64_t bytes; /* requested */
	uint64_t birth_ns;
	uint32_t site;   /* by call path alone; what observers and answers see is `split` in its place */
	uint32_t split;  /* site by call path and purpose; RVP_NOT_COUNTED: in no sum */
	uint32_t stream; /* that gave it out */
	uint32_t flags;  /* enum rvp_block_flags */
	uint32_t thread; /* low bits of its thread_serial */
};

struct rvp_block_table {
	struct rvp_block *places;
	size_t count, mask; /* mask: places - 1; places is NULL before the first */
};

/* NULL: not there. The pointer holds until the next put or remove. */
struct rvp_block *rvp_block_find(const struct rvp_block_table *table, uint64_t address);

/* Its address must not be there. NULL without memory. */
struct rvp_block *rvp_block_put(struct rvp_block_table *table, struct rvp_block block);

void rvp_block_remove(struct rvp_block_table *table, struct rvp_block *block);
void rvp_block_table_free(struct rvp_block_table *table);

#endif
