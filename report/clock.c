/* SPDX-License-Identifier: MIT */
/* clock.c: see clock.h. */
#include "report/clock.h"

#include "record/clock_ns.h"

#include <stdlib.h>

/* Two anchors nearer than this say too little about the pace between them. */
static const uint64_t apart_ns = 1000000;
/* A pace from a shorter span is not good enough to go beyond it. */
static const uint64_t good_span_ns = 10000000;
static const double usual_ns_per_tick[2] = {1.0 / 2.5, 1.0};

bool rvp_clock_add(struct rvp_clock_map *map, uint64_t kind, const struct rvp_record_ANCHOR *anchor)
{
	if (kind > RVP_CLOCK_MONOTONIC)
		return true;
	struct rvp_clock_line *line = &map->lines[kind];

	if (line->count == line->room) {
		size_t room = line->room ? line->room * 2 : 64;
		struct rvp_clock_point *more = realloc(line->points, room * sizeof *more);

		if (!more)
			return false;
		line->points = more;
		line->room = room;
	}
	line->points[line->count++] = (struct rvp_clock_point){
	    .stamp = anchor->stamp, .boottime_ns = anchor->boottime_ns, .realtime_ns = anchor->realtime_ns};
	return true;
}

static int compare_points(const void *left, const void *right)
{
	const struct rvp_clock_point *a = left, *b = right;

	return a->stamp < b->stamp ? -1 : a->stamp > b->stamp;
}

/* Keeps what rises, at least `apart_ns` from the one before; the last one replaces a near one before it. */
static void thin(struct rvp_clock_line *line)
{
	size_t kept = 1;

	for (size_t i = 1; i < line->count; i++) {
		const struct rvp_clock_point *last = &line->points[kept - 1], *point = &line->points[i];

		if (point->stamp <= last->stamp || point->boottime_ns <= last->boottime_ns)
			continue;
		bool near = point->boottime_ns - last->boottime_ns < apart_ns;

		if (near && i + 1 == line->count && kept > 1)
			kept--;
		else if (near && i + 1 < line->count)
			continue;
		line->points[kept++] = *point;
	}
	line->count = kept;
}

static void measure(struct rvp_clock_line *line)
{
	const struct rvp_clock_point *first = &line->points[0], *last = &line->points[line->count - 1];

	line->ns_per_tick =
	    (double)(last->boottime_ns - first->boottime_ns) / (double)(last->stamp - first->stamp);
}

static uint64_t stamp_now(int kind)
{
#if defined(__x86_64__)
	if (kind == RVP_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
#endif
	return kind == RVP_CLOCK_MONOTONIC ? rvp_clock_ns(CLOCK_MONOTONIC) : 0;
}

static uint64_t span_ns(const struct rvp_clock_line *line)
{
	return line->count ? line->points[line->count - 1].boottime_ns - line->points[0].boottime_ns : 0;
}

/* The present moment as one more point, if it lies behind the last and the pace that it gives is possible. */
static void add_now(struct rvp_clock_map *map, int kind)
{
	struct rvp_clock_line *line = &map->lines[kind];
	struct rvp_record_ANCHOR now = {.stamp = stamp_now(kind),
					.boottime_ns = rvp_clock_ns(CLOCK_BOOTTIME),
					.realtime_ns = rvp_clock_ns(CLOCK_REALTIME)};
	const struct rvp_clock_point *first = &line->points[0];

	if (now.stamp <= line->points[line->count - 1].stamp ||
	    now.boottime_ns <= first->boottime_ns + apart_ns)
		return;
	double pace = (double)(now.boottime_ns - first->boottime_ns) / (double)(now.stamp - first->stamp);

	if (pace < 0.01 || pace > 100)
		return;
	if (rvp_clock_add(map, (uint64_t)kind, &now))
		thin(line);
}

static void finish_line(struct rvp_clock_map *map, int kind, bool same_boot)
{
	struct rvp_clock_line *line = &map->lines[kind];

	line->ns_per_tick = usual_ns_per_tick[kind];
	if (!line->count) {
		line->is_guessed = true;
		return;
	}
	qsort(line->points, line->count, sizeof *line->points, compare_points);
	thin(line);
	line->unix_minus_boottime = line->points[0].realtime_ns - line->points[0].boottime_ns;
	if (span_ns(line) < good_span_ns && same_boot)
		add_now(map, kind);
	if (line->count > 1)
		measure(line);
	else
		line->is_guessed = kind == RVP_CLOCK_TSC;
}

void rvp_clock_finish(struct rvp_clock_map *map, bool same_boot)
{
	for (int kind = 0; kind <= RVP_CLOCK_MONOTONIC; kind++)
		finish_line(map, kind, same_boot);
}

static uint64_t before_first(const struct rvp_clock_line *line, uint64_t stamp)
{
	double back = (double)(line->points[0].stamp - stamp) * line->ns_per_tick;
	uint64_t start = line->points[0].boottime_ns;

	return back < (double)start ? start - (uint64_t)back : 0;
}

static uint64_t behind(const struct rvp_clock_point *point, uint64_t stamp, double pace)
{
	double ahead = (double)(stamp - point->stamp) * pace;

	return ahead < 9e18 ? point->boottime_ns + (uint64_t)ahead : UINT64_MAX / 2;
}

static size_t find_segment(const struct rvp_clock_line *line, uint64_t stamp)
{
	size_t low = 0, high = line->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (line->points[middle].stamp <= stamp)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static double pace_behind(const struct rvp_clock_point *point)
{
	return (double)(point[1].boottime_ns - point->boottime_ns) / (double)(point[1].stamp - point->stamp);
}

static uint64_t boottime_ns_of(const struct rvp_clock_line *line, uint64_t stamp, size_t *hint)
{
	if (!line->count)
		return (uint64_t)((double)stamp * line->ns_per_tick);
	if (stamp < line->points[0].stamp)
		return before_first(line, stamp);
	if (*hint >= line->count || line->points[*hint].stamp > stamp ||
	    (*hint + 1 < line->count && line->points[*hint + 1].stamp <= stamp))
		*hint = find_segment(line, stamp);

	const struct rvp_clock_point *point = &line->points[*hint];

	if (*hint + 1 == line->count)
		return behind(point, stamp, line->ns_per_tick);
	uint64_t ns = behind(point, stamp, pace_behind(point));

	return ns < point[1].boottime_ns ? ns : point[1].boottime_ns;
}

uint64_t rvp_clock_unix_ns(const struct rvp_clock_map *map, uint64_t kind, uint64_t stamp, size_t *hint)
{
	const struct rvp_clock_line *line = &map->lines[kind == RVP_CLOCK_MONOTONIC];

	return boottime_ns_of(line, stamp, hint) + line->unix_minus_boottime;
}

/* Before the first point there is none, and the last one has an end: no stamp in it is so far off that a double could
 * not hold the time. */
struct rvp_clock_segment rvp_clock_segment_at(const struct rvp_clock_map *map, uint64_t kind, uint64_t stamp)
{
	const struct rvp_clock_line *line = &map->lines[kind == RVP_CLOCK_MONOTONIC];
	struct rvp_clock_segment none = {0}, segment;
	const struct rvp_clock_point *point;
	size_t number;

	if (!line->count || stamp < line->points[0].stamp)
		return none;
	number = find_segment(line, stamp);
	point = &line->points[number];
	segment = (struct rvp_clock_segment){.from = point->stamp,
					     .length = (uint64_t)1 << 52,
					     .unix_ns = point->boottime_ns + line->unix_minus_boottime,
					     .most_ns = UINT64_MAX,
					     .pace = line->ns_per_tick};
	if (number + 1 < line->count) {
		segment.pace = pace_behind(point);
		segment.most_ns = point[1].boottime_ns + line->unix_minus_boottime;
		if (point[1].stamp - point->stamp < segment.length)
			segment.length = point[1].stamp - point->stamp;
	}
	bool is_safe = (double)segment.length * segment.pace < 9e18;

	return is_safe && stamp - segment.from < segment.length ? segment : none;
}

uint64_t rvp_clock_unix_of_boottime(const struct rvp_clock_map *map, uint64_t kind, uint64_t boottime_ns)
{
	if (kind > RVP_CLOCK_MONOTONIC || !map->lines[kind].count)
		return 0;
	return map->lines[kind].unix_minus_boottime + boottime_ns;
}

void rvp_clock_free(struct rvp_clock_map *map)
{
	for (int kind = 0; kind <= RVP_CLOCK_MONOTONIC; kind++)
		free(map->lines[kind].points);
	*map = (struct rvp_clock_map){0};
}
