/* SPDX-License-Identifier: MIT */
/* read_speed.c: how fast a log is read: from the file to a matched timeline with sites, totals, peak and 200 rows.
 *
 *     read_speed [-a] [-t THREADS] [-r REPEATS] [EVENTS [LIVE_BLOCKS]]    of a log that it writes: LIVE_BLOCKS blocks live at
 *                                                            any time, freed in random order, from 1,000 call paths
 *     read_speed [-a] [-t THREADS] [-r REPEATS] RUN                     of a run folder
 *
 *     read_speed -o FOLDER [EVENTS [LIVE_BLOCKS]]            writes that log alone, into a new folder: for rvprof report
 *
 * -t 1 reads with one thread; without, a second one decodes ahead (report/read_ahead.h). -a attributes too: steps, the survey, and the answering pass with every kind of evidence. Prints one line: events,
 * seconds of processor time (user and system) of the best repeat, how much of it was opening (the first look at every
 * record), events a second, and the peak RSS. Processor time, because other programs' share of the machine is not ours.
 */
#include "bench/speed.h"
#include "record/event_encode.h"
#include "report/analysis.h"
#include "report/attribution.h"
#include "report/read_ahead.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NODES = 1000 };

struct question {
	uint64_t events, live;
	bool attributes;
};

static void begin(struct rvp_log_writer *writer)
{
	RVP_WRITE(writer, PROCESS, 64, .stamp = 1000, .pid = 1, .mode = RVP_MODE_FULL,
		  .clock = RVP_CLOCK_MONOTONIC, .page_bytes = 4096, .exe = {"/bench", 6});
	RVP_WRITE(writer, ANCHOR, 0, .stamp = 1000, .realtime_ns = 1700000000000000000u, .monotonic_ns = 1000,
		  .boottime_ns = 1000);
	for (uint64_t i = 1; i <= NODES; i++)
		RVP_WRITE(writer, NODE, 0, .node = i, .parent = i / 2, .pc = 0x400000 + i * 64);
}

/* As the library writes them: one in sixteen has a stamp. */
static void put_free(struct rvp_log_writer *writer, uint64_t number, uint64_t stamp, uint64_t address)
{
	uint8_t *at = rvp_log_writer_room(writer, RVP_COMPACT_ROOM_BYTES);
	bool is_stamped = number % 16 == 0 || !writer->delta.stamp;

	rvp_slot_commit(writer->slot, rvp_put_event_free(at, &writer->delta, is_stamped ? &stamp : NULL, address,
							 RVP_FAMILY_FREE, false));
}

static void put_alloc(struct rvp_log_writer *writer, uint64_t number, uint64_t stamp, uint64_t address)
{
	uint8_t *at = rvp_log_writer_room(writer, RVP_COMPACT_ROOM_BYTES);
	bool is_stamped = number % 16 == 0 || !writer->delta.stamp;

	rvp_slot_commit(writer->slot,
			rvp_put_event_alloc(at, &writer->delta, is_stamped ? &stamp : NULL, address,
					    16 + speed_random() % 4096, 1 + (uint32_t)(speed_random() % NODES), 0,
					    RVP_FAMILY_MALLOC, false));
}

static void write_events(struct rvp_log_writer *writer, void *context)
{
	const struct question *question = context;
	uint64_t places = question->live * 2, stamp = 2000;
	bool *is_live = calloc(places, sizeof *is_live); /* half of them, soon */

	begin(writer);
	for (uint64_t i = 0; is_live && i < question->events; i++) {
		uint64_t place = speed_random() % places, address = 0x7f0000000000 + place * 64;

		stamp += 50 + speed_random() % 100;
		if (is_live[place])
			put_free(writer, i, stamp, address);
		else
			put_alloc(writer, i, stamp, address);
		is_live[place] = !is_live[place];
	}
	RVP_WRITE(writer, ANCHOR, 0, .stamp = stamp, .realtime_ns = 1700000000000000000u + stamp,
		  .monotonic_ns = stamp, .boottime_ns = stamp);
	free(is_live);
}

static struct rvp_status read_once(const char *folder, void *context, struct speed_figures *figures)
{
	const struct question *question = context;
	struct rvp_run *run = NULL;
	struct rvp_attribution *attribution = NULL;
	struct rvp_analysis answer;
	double start = speed_seconds();
	struct rvp_status status = rvp_run_open(&run, folder);

	figures->opening = speed_seconds() - start;
	if (!rvp_failed(status) && question->attributes)
		status = rvp_attribute(run, NULL, &attribution);
	if (!rvp_failed(status))
		status = rvp_analyse(
		    run, &(struct rvp_question){.series_rows = 200, .attribution = attribution}, &answer);
	if (!rvp_failed(status)) {
		figures->seconds = speed_seconds() - start;
		figures->count = answer.totals.matched_events;
		rvp_analysis_free(&answer);
	}
	rvp_attribution_close(attribution);
	rvp_run_close(run);
	return status;
}

int main(int argc, char **argv)
{
	struct question question = {.events = 10000000, .live = 100000};
	struct speed speed = {"read_speed", "events", 3, read_once, write_events, &question};
	struct stat what;
	const char *folder = NULL;
	int option;

	while ((option = getopt(argc, argv, "ao:r:t:")) != -1)
		if (option == 'a')
			question.attributes = true;
		else if (option == 'o')
			folder = optarg;
		else if (option == 't')
			rvp_set_reading_threads((unsigned)atoi(optarg));
		else if (option != 'r' || (speed.repeats = atoi(optarg)) < 1)
			return fputs("usage: read_speed [-a] [-t THREADS] [-r REPEATS] [EVENTS [LIVE_BLOCKS]] | RUN\n", stderr), 2;
	if (optind < argc && stat(argv[optind], &what) == 0)
		return speed_measure(&speed, argv[optind]);
	if (optind < argc)
		question.events = strtoull(argv[optind], NULL, 10);
	if (optind + 1 < argc)
		question.live = strtoull(argv[optind + 1], NULL, 10);
	if (!question.live || (folder && mkdir(folder, 0700) != 0))
		return 2;
	return folder ? speed_write(&speed, folder) : speed_write_and_measure(&speed);
}
