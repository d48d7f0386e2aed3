/* SPDX-License-Identifier: MIT */
/* speed.c: see speed.h. */
#include "bench/speed.h"

#include "record/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

uint64_t speed_random(void)
{
	static uint64_t seed = 88172645463325252u;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

double speed_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double wall_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int speed_measure(const struct speed *speed, const char *folder)
{
	struct speed_figures best = {0}, now = {0};
	struct rusage usage;

	for (int i = 0; i < speed->repeats; i++) {
		double start = wall_seconds();
		struct rvp_status status = speed->read(folder, speed->context, &now);
		char line[600];

		now.wall = wall_seconds() - start;
		if (rvp_failed(status)) {
			fprintf(stderr, "%s: %s\n", speed->program, rvp_status_line(&status, line, sizeof line));
			return 1;
		}
		if (!i || now.seconds < best.seconds)
			best = now;
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("%lu %s in %.3f s of processor time (opening %.3f s): %.2f million a second, peak RSS %ld MiB, %.3f s passed\n",
	       best.count, speed->what, best.seconds, best.opening, (double)best.count / best.seconds / 1e6,
	       usage.ru_maxrss / 1024, best.wall);
	return 0;
}

int speed_write(const struct speed *speed, const char *folder)
{
	char proc[1000], path[1100];
	struct rvp_log_writer writer;

	snprintf(proc, sizeof proc, "%.900s/proc.1.0", folder);
	snprintf(path, sizeof path, "%s/" RVP_LOG_FILE, proc);
	if (mkdir(proc, 0700) != 0 || rvp_failed(rvp_log_writer_open(&writer, path, 1, 1)))
		return 2;
	speed->write(&writer, speed->context);
	return rvp_failed(rvp_log_writer_close(&writer)) ? 2 : 0;
}

int speed_write_and_measure(const struct speed *speed)
{
	char folder[] = "/tmp/rvprof-bench-XXXXXX", path[96];
	int result;

	if (!mkdtemp(folder))
		return 2;
	result = speed_write(speed, folder);
	if (!result)
		result = speed_measure(speed, folder);
	snprintf(path, sizeof path, "%s/proc.1.0/" RVP_LOG_FILE, folder);
	unlink(path);
	*strrchr(path, '/') = 0;
	rmdir(path);
	rmdir(folder);
	return result;
}
