/* SPDX-License-Identifier: MIT */
/* pause.c: see pause.h. */
#include "preload/pause.h"

#include "preload/blocks.h"
#include "preload/events.h"
#include "preload/own.h"

_Atomic unsigned rvp_pause_state;

bool rvp_pause_begin(void)
{
	bool is_new = atomic_exchange(&rvp_pause_state, RVP_PAUSE_ON) != RVP_PAUSE_ON;
	uint64_t alive = RVP_ALIVE;

	atomic_compare_exchange_strong(rvp_alive, &alive, RVP_ALIVE_PAUSES); /* 0 is left to who makes it something else */
	return is_new;
}

bool rvp_pause_end(void)
{
	unsigned on = RVP_PAUSE_ON;

	return atomic_compare_exchange_strong(&rvp_pause_state, &on, RVP_PAUSE_OVER);
}

bool rvp_pause_takes(void *block)
{
	bool is_on = atomic_load_explicit(&rvp_pause_state, memory_order_relaxed) == RVP_PAUSE_ON;

	/* Left by a block whose end no hook of ours saw whole (a signal handler's). */
	if (!rvp_table_is_of_recorded())
		rvp_blocks_remove((uint64_t)block);
	if (!is_on || (!rvp_table_is_of_recorded() && !rvp_blocks_insert((uint64_t)block)))
		return false;
	if (!rvp_process.is_windowed) /* there most go the short way: the windows say what was not recorded */
		rvp_lose(RVP_LOSS_PAUSED, 1);
	return true;
}

bool rvp_pause_took(void *block)
{
	return !rvp_table_is_of_recorded() && rvp_blocks_remove((uint64_t)block);
}

void rvp_pause_takes_again(void *block)
{
	rvp_blocks_insert((uint64_t)block);
}
