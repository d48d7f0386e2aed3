/* SPDX-License-Identifier: MIT */
/* device_clock.h: times of a device's tracer (fields of kind D) to UNIX ns, by the DEVICE_CLOCK brackets of a
 * process.
 *
 * A bracket says: within `width_ns` around this stamp the tracer's clock stood at `device_ns`. Between two
 * brackets time is linear; before the first and behind the last one the distance stays as it is there.
 *
 *   - The tracer's clock is CLOCK_REALTIME as a rule, and somebody may set it. Two brackets between which it
 * went by another amount than our own clock, by more than a millisecond and a thousandth of the time between
 * them, have a step between them: nobody knows where. Times up to the middle then go with the first bracket,
 * the others with the second; the error is the step. Where the clock was set back, two moments have one time:
 * the later bracket's is taken.
 *   - Without a bracket there is no UNIX time: a time is what the tracer said (`is_tied` false), good for
 * differences.
 *
 * Invariant (DC1): without a step, of two device times the larger never gives the smaller time.
 */
#ifndef RVP_REPORT_DEVICE_CLOCK_H
#define RVP_REPORT_DEVICE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rvp_device_bracket {
	uint64_t unix_ns, device_ns, width_ns;
	uint64_t least_ns; /* by rvp_device_clock_finish: of device_ns from here on; it never falls */
};

struct rvp_device_clock {
	struct rvp_device_bracket *brackets; /* by unix_ns */
	size_t count, room;
	bool is_tied;      /* there is a bracket */
	uint64_t error_ns; /* of a time between brackets: half of the widest one, or the largest step */
	size_t step_count;
	int64_t largest_step_ns; /* how far the tracer's clock went beyond ours; signed */
	uint64_t slack_ns; /* all steps together: no time is off by more against the order of device times */
};

/* False without memory. */
bool rvp_device_clock_add(struct rvp_device_clock *clock, const struct rvp_device_bracket *bracket);

/* Behind the last add. */
void rvp_device_clock_finish(struct rvp_device_clock *clock);

/* `hint` is the caller's, 0 at first: where the last time was found. */
uint64_t rvp_device_unix_ns(const struct rvp_device_clock *clock, uint64_t device_ns, size_t *hint);

/* Whether it lies before the first or behind the last bracket: then nothing bounds its error. */
bool rvp_device_clock_is_beyond(const struct rvp_device_clock *clock, uint64_t device_ns);

void rvp_device_clock_free(struct rvp_device_clock *clock);

#endif
