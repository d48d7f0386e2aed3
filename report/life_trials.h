/* SPDX-License-Identifier: MIT */
/* life_trials.h: does a block go before its operator is done? Tried on the first blocks of each call path.
 *
 * The operator is the call of the function that asked, or, where Python runs, the instruction of its
 * innermost frame. A block stays when its thread asks for nothing from outside of that call until it gives
 * the block back. Functions that ask on behalf of many (a wrapper of malloc, operator new) are looked
 * through: what counts is who called them.
 */
#ifndef RVP_REPORT_LIFE_TRIALS_H
#define RVP_REPORT_LIFE_TRIALS_H

#include "report/life_sites.h"

struct rvp_trials;

/* NULL without memory. */
struct rvp_trials *rvp_trials_open(size_t process_count);

/* A birth or a death, with the state after it. What a trial came to is counted in life's sites (stayed,
 * left). */
void rvp_trials_see(struct rvp_trials *trials, struct rvp_life *life, const struct rvp_event *event,
		    const struct rvp_state *state);

void rvp_trials_free(struct rvp_trials *trials);

#endif
