/* SPDX-License-Identifier: MIT */
/* read_speed.c: how fast a log is read: from the file to a matched timeline with sites, totals, peak and 200 rows.
 *
 *     read_speed [-a] [-r REPEATS] [EVENTS [LIVE_BLOCKS]]    of a log that it writes: LIVE_BLOCKS blocks live at
 *                                                            any time, freed in random order, from 1,000 call paths
 *     read_speed [-a] [-r REPEATS] RUN                       of a run folder
 *
 * -a attributes too: steps, the survey, and the answering pass with every kind of evidence. Prints one line: events,
 * seconds of processor time (user and system) of the best repeat, how much of it was opening (the first look at every
 * record), events a second, and the peak RSS. Processor time, because other programs' share of the machine is not ours.
 */
#include "record/event_encode.h"
#include "record/log_writer.h"
#include "report/analysis.h"
#include "report/attribution.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NODES = 1000 };

static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

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
					    16 + next_random() % 4096, 1 + (uint32_t)(next_random() % NODES), 0,
					    RVP_FAMILY_MALLOC, false));
}

static void write_events(struct rvp_log_writer *writer, uint64_t events, uint64_t live)
{
	uint64_t places = live * 2, stamp = 2000;
	bool *is_live = calloc(places, sizeof *is_live); /* half of them, soon */

	for (uint64_t i = 0; is_live && i < events; i++) {
		uint64_t place = next_random() % places, address = 0x7f0000000000 + place * 64;

		stamp += 50 + next_random() % 100;
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

struct figures {
	uint64_t events;
	double seconds, opening;
};

static struct rvp_status read_once(const char *folder, bool attributes, struct figures *figures)
{
	struct rvp_run *run = NULL;
	struct rvp_attribution *attribution = NULL;
	struct rvp_analysis answer;
	double start = seconds();
	struct rvp_status status = rvp_run_open(&run, folder);

	figures->opening = seconds() - start;
	if (!rvp_failed(status) && attributes)
		status = rvp_attribute(run, NULL, &attribution);
	if (!rvp_failed(status))
		status = rvp_analyse(
		    run, &(struct rvp_question){.series_rows = 200, .attribution = attribution}, &answer);
	if (!rvp_failed(status)) {
		figures->seconds = seconds() - start;
		figures->events = answer.totals.matched_events;
		rvp_analysis_free(&answer);
	}
	rvp_attribution_close(attribution);
	rvp_run_close(run);
	return status;
}

static int measure(const char *folder, bool attributes, int repeats)
{
	struct figures best = {0}, now;
	struct rusage usage;

	for (int i = 0; i < repeats; i++) {
		struct rvp_status status = read_once(folder, attributes, &now);
		char line[600];

		if (rvp_failed(status)) {
			fprintf(stderr, "read_speed: %s\n", rvp_status_line(&status, line, sizeof line));
			return 1;
		}
		if (!i || now.seconds < best.seconds)
			best = now;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%lu events in %.3f s of processor time (opening %.3f s): %.2f million a second, peak RSS %ld MiB\n",
	       best.events, best.seconds, best.opening, (double)best.events / best.seconds / 1e6,
	       usage.ru_maxrss / 1024);
	return 0;
}

static int write_and_measure(uint64_t events, uint64_t live, bool attributes, int repeats)
{
	char folder[] = "/tmp/rvprof-bench-XXXXXX", proc[64], path[96];
	struct rvp_log_writer writer;

	if (!live || !mkdtemp(folder))
		return 2;
	snprintf(proc, sizeof proc, "%s/proc.1.0", folder);
	snprintf(path, sizeof path, "%s/" RVP_LOG_FILE, proc);
	mkdir(proc, 0700);
	if (rvp_failed(rvp_log_writer_open(&writer, path, 1, 1)))
		return 2;
	begin(&writer);
	write_events(&writer, events, live);
	int result = rvp_failed(rvp_log_writer_close(&writer)) ? 2 : measure(folder, attributes, repeats);

	unlink(path);
	rmdir(proc);
	rmdir(folder);
	return result;
}

int main(int argc, char **argv)
{
	uint64_t events, live;
	bool attributes = false;
	int option, repeats = 3;
	struct stat what;

	while ((option = getopt(argc, argv, "ar:")) != -1)
		if (option == 'a')
			attributes = true;
		else if (option != 'r' || (repeats = atoi(optarg)) < 1)
			return fputs("usage: read_speed [-a] [-r REPEATS] [EVENTS [LIVE_BLOCKS]] | RUN\n", stderr), 2;
	if (optind < argc && stat(argv[optind], &what) == 0)
		return measure(argv[optind], attributes, repeats);
	events = optind < argc ? strtoull(argv[optind], NULL, 10) : 10000000;
	live = optind + 1 < argc ? strtoull(argv[optind + 1], NULL, 10) : 100000;
	return write_and_measure(events, live, attributes, repeats);
}
