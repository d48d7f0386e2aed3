/* SPDX-License-Identifier: MIT */
/* device_clock.c: see device_clock.h. */
#include "report/device_clock.h"

#include "report/grow.h"

#include <stdlib.h>

/* What two clocks of one machine may differ by, and what the tracer's own reading may be late. */
static const uint64_t step_least_ns = 1000000;
enum { STEP_PART = 1000 };

bool rvp_device_clock_add(struct rvp_device_clock *clock, const struct rvp_device_bracket *bracket)
{
	if (!rvp_grow((void **)&clock->brackets, &clock->room, clock->count + 1, sizeof *clock->brackets))
		return false;
	clock->brackets[clock->count++] = *bracket;
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct rvp_device_bracket *a = left, *b = right;

	return a->unix_ns < b->unix_ns ? -1 : a->unix_ns > b->unix_ns;
}

/* Of brackets at one moment the narrower one stays. */
static void drop_doubles(struct rvp_device_clock *clock)
{
	size_t kept = 1;

	for (size_t i = 1; i < clock->count; i++) {
		struct rvp_device_bracket *last = &clock->brackets[kept - 1], *next = &clock->brackets[i];

		if (next->unix_ns > last->unix_ns)
			clock->brackets[kept++] = *next;
		else if (next->width_ns < last->width_ns)
			*last = *next;
	}
	clock->count = kept;
}

static uint64_t size_of(int64_t difference)
{
	return difference < 0 ? -(uint64_t)difference : (uint64_t)difference;
}

/* How far the tracer's clock went beyond ours between this bracket and the next, where that is a step; else
 * 0. */
static int64_t step_behind(const struct rvp_device_bracket *bracket)
{
	uint64_t ours_ns = bracket[1].unix_ns - bracket->unix_ns;
	int64_t beyond = (int64_t)(bracket[1].device_ns - bracket->device_ns - ours_ns);
	uint64_t allowed_ns = step_least_ns + ours_ns / STEP_PART + bracket->width_ns + bracket[1].width_ns;

	return size_of(beyond) > allowed_ns || bracket[1].device_ns <= bracket->device_ns ? beyond : 0;
}

static void see_step(struct rvp_device_clock *clock, int64_t step_ns)
{
	if (!step_ns)
		return;
	clock->step_count++;
	clock->slack_ns += size_of(step_ns);
	if (size_of(step_ns) > size_of(clock->largest_step_ns))
		clock->largest_step_ns = step_ns;
}

void rvp_device_clock_finish(struct rvp_device_clock *clock)
{
	uint64_t least_ns = UINT64_MAX;

	if (!clock->count)
		return;
	qsort(clock->brackets, clock->count, sizeof *clock->brackets, compare);
	drop_doubles(clock);
	clock->is_tied = true;
	for (size_t i = 0; i < clock->count; i++) {
		uint64_t half_ns = (clock->brackets[i].width_ns + 1) / 2;

		clock->error_ns = half_ns > clock->error_ns ? half_ns : clock->error_ns;
		if (i + 1 < clock->count)
			see_step(clock, step_behind(&clock->brackets[i]));
	}
	for (size_t i = clock->count; i-- > 0;) {
		least_ns = clock->brackets[i].device_ns < least_ns ? clock->brackets[i].device_ns : least_ns;
		clock->brackets[i].least_ns = least_ns;
	}
	if (size_of(clock->largest_step_ns) > clock->error_ns)
		clock->error_ns = size_of(clock->largest_step_ns);
}

static uint64_t beside(const struct rvp_device_bracket *bracket, uint64_t device_ns)
{
	return bracket->unix_ns + (device_ns - bracket->device_ns);
}

/* Whether the bracket is the last one that begins at `device_ns` or before. */
static bool is_place(const struct rvp_device_clock *clock, size_t number, uint64_t device_ns)
{
	return number < clock->count && clock->brackets[number].device_ns <= device_ns &&
	       (number + 1 == clock->count || clock->brackets[number + 1].device_ns > device_ns);
}

/* The last bracket that begins at `device_ns` or before, else the first one: where the clock was set back the later one. */
static size_t find(const struct rvp_device_clock *clock, uint64_t device_ns)
{
	size_t low = 0, high = clock->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (clock->brackets[middle].least_ns <= device_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint64_t rvp_device_unix_ns(const struct rvp_device_clock *clock, uint64_t device_ns, size_t *hint)
{
	const struct rvp_device_bracket *bracket;
	uint64_t into_ns, device_span_ns, unix_span_ns;

	if (!clock->is_tied)
		return device_ns;
	if (clock->step_count || !is_place(clock, *hint, device_ns))
		*hint = find(clock, device_ns);
	bracket = &clock->brackets[*hint];
	if (device_ns < bracket->device_ns || *hint + 1 == clock->count)
		return beside(bracket, device_ns);
	into_ns = device_ns - bracket->device_ns;
	if (step_behind(bracket))
		return into_ns <= (bracket[1].unix_ns - bracket->unix_ns) / 2
			   ? beside(bracket, device_ns)
			   : beside(bracket + 1, device_ns);
	device_span_ns = bracket[1].device_ns - bracket->device_ns;
	unix_span_ns = bracket[1].unix_ns - bracket->unix_ns;
	return bracket->unix_ns + into_ns +
	       (uint64_t)(int64_t)((double)into_ns / (double)device_span_ns *
				   (double)(int64_t)(unix_span_ns - device_span_ns));
}

bool rvp_device_clock_is_beyond(const struct rvp_device_clock *clock, uint64_t device_ns)
{
	return !clock->is_tied || device_ns < clock->brackets[0].device_ns ||
	       device_ns > clock->brackets[clock->count - 1].device_ns;
}

void rvp_device_clock_free(struct rvp_device_clock *clock)
{
	free(clock->brackets);
	*clock = (struct rvp_device_clock){0};
}
