/* SPDX-License-Identifier: MIT */
/* timer_views.h: values of timers by step and slot (a block of a kernel, a thread, an environment), and the three views of
 * them that Genesis' speed benchmark prints:
 *
 *     last              the slot's value of the last step that it had one in
 *     average           its running mean: average * (k / (k + 1)) + value / (k + 1), k values before
 *     average of sorted the same mean over the values of each step sorted, smallest first: its slots are ranks
 *
 *     rvp_timer_views_add(&views, timer, length, step, slot, value);    a timer's steps one after the other
 *     rvp_timer_views_end(&views);                                      ends the last ones
 *
 * Memory: the slots of all timers; nothing grows with steps. A slot that is given twice in a step has two values of it.
 */
#ifndef RVP_REPORT_TIMER_VIEWS_H
#define RVP_REPORT_TIMER_VIEWS_H

#include "report/json_writer.h"
#include "report/name_table.h"

enum { RVP_TIMER_SLOTS_MAX = 1 << 24 };

struct rvp_timer_mean {
	double average, last;
	uint64_t count;
};

struct rvp_timer {
	struct rvp_timer_mean *slots, *ranks;
	size_t slot_count, slot_room, rank_count, rank_room;
	double *values; /* of the step at hand */
	size_t value_count, value_room;
	uint64_t step, steps; /* steps: how many are over */
};

struct rvp_timer_views {
	struct rvp_name_table names;
	struct rvp_timer *timers; /* by number of the name */
	size_t room;
	uint64_t step_count; /* of the timer with the most */
	bool has_decimals;   /* printed with three decimals; else with as many digits as it takes */
};

/* False without memory, and for a slot beyond RVP_TIMER_SLOTS_MAX. */
bool rvp_timer_views_add(struct rvp_timer_views *views, const char *timer, size_t length, uint64_t step, uint64_t slot,
			 double value);
bool rvp_timer_views_end(struct rvp_timer_views *views);

/* A row a timer and slot. */
void rvp_timer_views_print(const struct rvp_timer_views *views, FILE *out);
void rvp_timer_views_json(const struct rvp_timer_views *views, struct rvp_json *json);
void rvp_timer_views_free(struct rvp_timer_views *views);

#endif
