/* SPDX-License-Identifier: MIT */
/* clock.h: stamps to UNIX ns, by the ANCHOR records of all processes of a run together (a TSC is one per
 * machine).
 *
 * Between two anchors time is linear. Outside them the slope is that of the widest pair, which is the best
 * known. Pace comes from CLOCK_BOOTTIME, which never jumps; the distance to CLOCK_REALTIME is taken once, at
 * the first anchor, so that a clock that is set during the run does not fold time over itself. Invariant
 * (C1): of two stamps of one kind the larger never gives the smaller time.
 */
#ifndef RVP_REPORT_CLOCK_H
#define RVP_REPORT_CLOCK_H

#include "record/schema.h"

#include <stdbool.h>
#include <stddef.h>

struct rvp_clock_point {
	uint64_t stamp, boottime_ns, realtime_ns;
};

struct rvp_clock_line { /* of one enum rvp_clock */
	struct rvp_clock_point *points;
	size_t count, room;
	double ns_per_tick; /* of the widest pair */
	uint64_t unix_minus_boottime;
	bool is_guessed; /* no two anchors: the pace or all is a guess */
};

struct rvp_clock_map {
	struct rvp_clock_line lines[2]; /* by enum rvp_clock */
};

/* False without memory. Kinds other than those of enum rvp_clock are ignored. */
bool rvp_clock_add(struct rvp_clock_map *map, uint64_t kind, const struct rvp_record_ANCHOR *anchor);

/* After the last add. `same_boot`: this machine made the records and has not restarted since, so that the
 * present moment is one more anchor where the recorded ones are too few. */
void rvp_clock_finish(struct rvp_clock_map *map, bool same_boot);

/* `hint` is the caller's, 0 at first: where the last stamp was found. */
uint64_t rvp_clock_unix_ns(const struct rvp_clock_map *map, uint64_t kind, uint64_t stamp, size_t *hint);

/* The piece of a line around a stamp, where time is linear: within it a stamp's time is a multiplication. */
struct rvp_clock_segment {
	uint64_t from, length; /* stamps; length 0: none yet */
	uint64_t unix_ns;      /* of `from` */
	uint64_t most_ns;      /* of any stamp in it */
	double pace;
};

struct rvp_clock_segment rvp_clock_segment_at(const struct rvp_clock_map *map, uint64_t kind, uint64_t stamp);

/* As rvp_clock_unix_ns, to the last nanosecond; `segment` is the caller's, all 0 at first. */
static inline uint64_t rvp_clock_ns_in(struct rvp_clock_segment *segment, const struct rvp_clock_map *map,
				       uint64_t kind, uint64_t stamp)
{
	if (stamp - segment->from >= segment->length) {
		size_t hint = 0;

		*segment = rvp_clock_segment_at(map, kind, stamp);
		if (!segment->length)
			return rvp_clock_unix_ns(map, kind, stamp, &hint);
	}
	uint64_t ns = segment->unix_ns + (uint64_t)(int64_t)((double)(int64_t)(stamp - segment->from) * segment->pace);

	return ns < segment->most_ns ? ns : segment->most_ns;
}

/* Of a CLOCK_BOOTTIME reading; 0 when no anchor of that kind ties it to UNIX time. */
uint64_t rvp_clock_unix_of_boottime(const struct rvp_clock_map *map, uint64_t kind, uint64_t boottime_ns);

void rvp_clock_free(struct rvp_clock_map *map);

#endif
