/* SPDX-License-Identifier: MIT */
/* blocks.h: the addresses of recorded blocks in sampled mode, so that a free knows whether to be recorded.
 *
 * Buckets of eight addresses, one cache line each, lock-free; a full bucket passes on to a larger level, of which
 * only what is used is ever touched. A block is inserted before its malloc returns and removed before its free is
 * called, so one address is never in two threads' hands here.
 */
#ifndef RVP_BLOCKS_H
#define RVP_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

/* False: no place (the caller counts BLOCK_TABLE and does not record the block's end). */
bool rvp_blocks_insert(uint64_t address);

/* True: it was there, and is not any more. */
bool rvp_blocks_remove(uint64_t address);

uint64_t rvp_blocks_count(void);

#endif
