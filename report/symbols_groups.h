/* SPDX-License-Identifier: MIT */
/* symbols_groups.h: sites whose call stacks read the same, summed: one call of one line by many processes,
 * threads or unrolled instructions is one row to its reader. The sums over all groups are the sums over all
 * sites. */
#ifndef RVP_SYMBOLS_GROUPS_H
#define RVP_SYMBOLS_GROUPS_H

#include "report/symbols_stack.h"

struct rvp_group {
	const struct rvp_site *site; /* the first of it; its stack is the stack of all */
	uint32_t process_count;      /* different ones */
	bool is_estimate;
	struct rvp_amount allocated, temporary, at_peak, at_end;
	struct rvp_amount *at_moments; /* moment_count of them; NULL without */
	uint64_t largest_bytes;
	uint64_t hash; /* of the stack's text */
	uint32_t last_process;
};

struct rvp_groups {
	struct rvp_group *groups;
	size_t count, moment_count;
	bool grows_to_end; /* RVP_GROWTH: to at_end, not to the last moment */
	/* The owner's own. */
	struct rvp_stacks *stacks;
	size_t room;
	uint32_t *table; /* by hash: a group's number plus 1 */
	size_t table_room;
};

/* Groups all sites of `answer`, which must outlive it, as `stacks` must. Fails only without memory. */
struct rvp_status rvp_groups_make(struct rvp_groups *groups, struct rvp_stacks *stacks,
				  const struct rvp_analysis *answer, size_t moment_count);
void rvp_groups_free(struct rvp_groups *groups);

/* The stack of a group, innermost first; count 0: none was recorded. It lives until the call after the next.
 */
struct rvp_frame_list rvp_group_stack(const struct rvp_groups *groups, const struct rvp_group *group);

/* The group that a site of the same analysis is in; NULL without memory. */
const struct rvp_group *rvp_group_of(const struct rvp_groups *groups, const struct rvp_site *site);

/* Whether the stacks of two groups read the same: one call path whose blocks serve two purposes. */
bool rvp_groups_share_stack(const struct rvp_groups *groups, const struct rvp_group *a,
			    const struct rvp_group *b);

/* What a list of groups is about. */
enum rvp_measure {
	RVP_AT_PEAK,
	RVP_AT_END,
	RVP_ALLOCATED,
	RVP_ALLOCATED_COUNT, /* the amounts of RVP_ALLOCATED, ordered by count */
	RVP_TEMPORARY,       /* ordered by count */
	RVP_AT_MOMENT,       /* the first moment */
	RVP_GROWTH,          /* from the first to the last moment, or to the end */
	RVP_MEASURE_COUNT
};

/* Signed, since growth may be negative. */
struct rvp_change {
	int64_t bytes, count;
};
struct rvp_change rvp_group_amount(const struct rvp_groups *groups, const struct rvp_group *group,
				   enum rvp_measure measure);

/* Numbers of the groups whose amount is not zero, largest first, ties in order of appearance; free() it.
 * `count` gets how many. NULL without memory. */
uint32_t *rvp_groups_by(const struct rvp_groups *groups, enum rvp_measure measure, size_t *count);

/* "function (file:line)" into `text`, cut to fit: how a frame is named in JSON, and what a SITE is a part of.
 */
void rvp_frame_text(const struct rvp_frame *frame, char *text, size_t text_bytes);

#endif
