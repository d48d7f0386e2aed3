/* SPDX-License-Identifier: MIT */
/* pause.h: blocks that are not recorded for a while; window.h says when.
 *
 * Counters, marks, mappings, snapshots and the ends of blocks that are known go on. A block that is born in
 * the pause gets no record, which is counted (loss "paused"), and neither does its end, whenever that comes:
 * else the reader would meet the end of a block that nobody gave out.
 *
 * Invariants
 *   (Z1) In full mode the table of blocks.h holds the living blocks that were passed over; in sampled mode, and in a
 * process with windows (window.h), it holds the recorded ones, and one that was passed over is simply not there. (Z2) A
 * block that finds no place in the table is recorded, pause or not. (Z3) Where *rvp_alive is RVP_ALIVE nobody ever
 * paused: who reads it need not ask for the state.
 */
#ifndef RVP_PAUSE_H
#define RVP_PAUSE_H

#include <stdatomic.h>
#include <stdbool.h>

enum { RVP_PAUSE_NEVER = 0, RVP_PAUSE_ON = 1, RVP_PAUSE_OVER = 2 };
extern _Atomic unsigned rvp_pause_state __attribute__((visibility("hidden")));

/* False: nobody ever paused. */
static inline bool rvp_pause_matters(void)
{
	return __builtin_expect(
	    atomic_load_explicit(&rvp_pause_state, memory_order_relaxed) != RVP_PAUSE_NEVER, 0);
}

/* False: it was so already. */
bool rvp_pause_begin(void);
bool rvp_pause_end(void);

/* Of a new block that would be recorded, where pauses matter: true when it must not be. */
bool rvp_pause_takes(void *block);

/* Of a block that is given back, where pauses matter: true when its birth was passed over. */
bool rvp_pause_took(void *block);

/* It was not given back after all. */
void rvp_pause_takes_again(void *block);

#endif
