/* SPDX-License-Identifier: MIT */
/* classify_speed.c: how many blocks a second get their purpose, on one core.
 *
 *     classify_speed RUN [ROUNDS]      prints one line: blocks, nanoseconds a block, blocks a second
 *
 * The births of a real run (up to BIRTHS_MAX of them) are taken aside and judged ROUNDS times over, as the
 * second pass does: claims of the block, claims of its call path, every kind of evidence. The time is that of
 * the core (other programs do not count) in the median round.
 */
#include "report/analysis.h"
#include "report/attribution.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BIRTHS_MAX = 50000, ROUNDS_MAX = 1000 };

struct birth {
	struct rvp_event event;
	struct rvp_moment moment;
	struct rvp_record record;
};

struct collector {
	struct rvp_observer observer; /* first */
	struct birth *births;
	size_t count;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int by_size(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* Seconds of the median round; how many were named into *named. */
static double judge_all(struct rvp_attribution *attribution, const struct collector *collector, int rounds,
			uint64_t *named)
{
	static double took[ROUNDS_MAX];

	for (int round = 0; round < rounds; round++) {
		double start = seconds();

		*named = 0;
		for (size_t i = 0; i < collector->count; i++)
			*named += rvp_attribution_judge(attribution, &collector->births[i].event).purpose !=
				  RVP_CATEGORY_UNKNOWN;
		took[round] = seconds() - start;
	}
	qsort(took, (size_t)rounds, sizeof *took, by_size);
	return took[rounds / 2];
}

static void see(struct rvp_observer *observer, const struct rvp_event *event, const struct rvp_state *state)
{
	struct collector *collector = (struct collector *)observer;
	struct birth *birth = &collector->births[collector->count];

	(void)state;
	if (event->kind != RVP_EVENT_BORN || collector->count == BIRTHS_MAX)
		return;
	*birth = (struct birth){*event, *event->moment, *event->moment->record};
	birth->moment.record = &birth->record;
	birth->event.moment = &birth->moment;
	collector->count++;
}

static int fail(struct rvp_status status)
{
	char line[600];

	fprintf(stderr, "classify_speed: %s\n", rvp_status_line(&status, line, sizeof line));
	return 1;
}

int main(int argc, char **argv)
{
	struct collector collector = {.observer.see = see,
				      .births = calloc(BIRTHS_MAX, sizeof(struct birth))};
	struct rvp_observer *observers[] = {&collector.observer, NULL};
	struct rvp_attribution *attribution;
	struct rvp_analysis answer;
	struct rvp_run *run;
	struct rvp_status status;
	uint64_t named = 0;
	int rounds = argc > 2 ? atoi(argv[2]) : 20;

	if (argc < 2 || !collector.births || rounds < 1 || rounds > ROUNDS_MAX)
		return fputs("usage: classify_speed RUN [ROUNDS]\n", stderr), 2;
	status = rvp_run_open(&run, argv[1]);
	if (!rvp_failed(status))
		status = rvp_attribute(run, NULL, &attribution);
	if (!rvp_failed(status))
		status = rvp_analyse(
		    run, &(struct rvp_question){.observers = observers, .attribution = attribution}, &answer);
	if (rvp_failed(status))
		return fail(status);
	double blocks = (double)collector.count;
	double took = judge_all(attribution, &collector, rounds, &named);

	printf("%zu blocks, %.1f %% named, %.1f ns a block, %.1f million blocks a second\n", collector.count,
	       100.0 * (double)named / blocks, took / blocks * 1e9, blocks / took / 1e6);
	rvp_analysis_free(&answer);
	rvp_attribution_close(attribution);
	rvp_run_close(run);
	free(collector.births);
	return 0;
}
