/* SPDX-License-Identifier: MIT */
/* read_speed.c: how fast a log is read: from the file to a matched timeline with sites and totals.
 *
 *     read_speed [EVENTS [LIVE_BLOCKS]]       prints one line: events, seconds, events a second, peak RSS
 *
 * The log is synthetic: LIVE_BLOCKS blocks live at any time, freed in random order, from 1,000 call paths.
 */
#include "record/log_writer.h"
#include "report/analysis.h"

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

	clock_gettime(CLOCK_MONOTONIC, &now);
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

static void write_events(struct rvp_log_writer *writer, uint64_t events, uint64_t live)
{
	uint64_t *blocks = calloc(live, sizeof *blocks), stamp = 2000;

	for (uint64_t i = 0; i < events;) {
		uint64_t slot = next_random() % live;

		stamp += 50 + next_random() % 100;
		if (blocks[slot])
			RVP_WRITE(writer, FREE, 0, .stamp = stamp, .address = blocks[slot],
				  .family = RVP_FAMILY_FREE);
		i += blocks[slot] != 0;
		stamp += 50 + next_random() % 100;
		blocks[slot] = 0x7f0000000000 + i * 4096 % (1u << 30) + slot * 16 + (i << 8 << 24);
		RVP_WRITE(writer, ALLOC, 0, .stamp = stamp, .address = blocks[slot],
			  .bytes = 16 + next_random() % 4096, .stack = 1 + next_random() % NODES);
		i++;
	}
	RVP_WRITE(writer, ANCHOR, 0, .stamp = stamp, .realtime_ns = 1700000000000000000u + stamp,
		  .monotonic_ns = stamp, .boottime_ns = stamp);
	free(blocks);
}

static int measure(const char *folder)
{
	struct rvp_run *run;
	struct rvp_analysis answer;
	struct rusage usage;
	double start = seconds(), opened;
	struct rvp_status status = rvp_run_open(&run, folder);

	opened = seconds();
	if (!rvp_failed(status))
		status = rvp_analyse(run, &(struct rvp_question){.series_rows = 200}, &answer);
	if (rvp_failed(status)) {
		char line[600];

		fprintf(stderr, "read_speed: %s\n", rvp_status_line(&status, line, sizeof line));
		return 1;
	}
	double end = seconds();

	getrusage(RUSAGE_SELF, &usage);
	printf("%lu events in %.3f s (first pass %.3f s): %.2f million a second, peak RSS %ld MiB\n",
	       answer.totals.matched_events, end - start, opened - start,
	       (double)answer.totals.matched_events / (end - start) / 1e6, usage.ru_maxrss / 1024);
	rvp_analysis_free(&answer);
	rvp_run_close(run);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
	uint64_t live = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
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
	int result = rvp_failed(rvp_log_writer_close(&writer)) ? 2 : measure(folder);

	unlink(path);
	rmdir(proc);
	rmdir(folder);
	return result;
}
