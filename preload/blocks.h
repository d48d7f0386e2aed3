/* SPDX-License-Identifier: MIT */
/* blocks.h: the addresses of recorded blocks in sampled mode and in a windowed process (window.h), so that a free knows
 * whether to be recorded; else, in full mode, those of blocks that a pause passed over (pause.h).
 *
 * Buckets of eight addresses, one cache line each, lock-free; a full bucket passes on to a larger level, of which
 * only what is used is ever touched. A block is inserted before its malloc returns and removed before its free is
 * called, so one address is never in two threads' hands here.
 */
#ifndef RVP_BLOCKS_H
#define RVP_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* False: no place (the caller counts BLOCK_TABLE and does not record the block's end). */
bool rvp_blocks_insert(uint64_t address);

/* True: it was there, and is not any more. */
bool rvp_blocks_remove(uint64_t address);

uint64_t rvp_blocks_count(void);

/* For rvp_blocks_may_hold: how many addresses of the table share a place, at most. */
enum { RVP_BLOCKS_FILTER_BITS = 13 };
extern _Atomic uint8_t rvp_blocks_filter[1 << RVP_BLOCKS_FILTER_BITS] __attribute__((visibility("hidden")));

static inline uint32_t rvp_blocks_place(uint64_t address)
{
	return (uint32_t)(address >> 4) * 0x9e3779b1u >> (32 - RVP_BLOCKS_FILTER_BITS);
}

/* False: it is not in the table. */
static inline bool rvp_blocks_may_hold(uint64_t address)
{
	return atomic_load_explicit(&rvp_blocks_filter[rvp_blocks_place(address)], memory_order_relaxed) != 0;
}

#endif
