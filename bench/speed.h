/* SPDX-License-Identifier: MIT */
/* speed.h: what the programs share that say how fast a log is read: a made run folder, the best of some readings by
 * processor time, and the line that is printed of it. */
#ifndef RVP_BENCH_SPEED_H
#define RVP_BENCH_SPEED_H

#include "record/log_writer.h"

/* Of one reading; `opening` is the part up to rvp_run_open's end. */
struct speed_figures {
	uint64_t count;
	double seconds, opening;
	double wall; /* speed.c sets it: seconds that passed */
};

struct speed {
	const char *program, *what; /* for the line: "read_speed", "events" */
	int repeats;
	struct rvp_status (*read)(const char *folder, void *context, struct speed_figures *figures);
	void (*write)(struct rvp_log_writer *writer, void *context); /* the whole of a log */
	void *context;                                               /* of both */
};

/* Always the same numbers. */
uint64_t speed_random(void);

/* Processor time of this process so far: other programs' share of the machine is not ours. */
double speed_seconds(void);

/* An exit status; prints the line. */
int speed_measure(const struct speed *speed, const char *folder);

/* Writes the log into `folder`, which is empty; an exit status. */
int speed_write(const struct speed *speed, const char *folder);

/* Both, of a folder that is made for it, and removed. */
int speed_write_and_measure(const struct speed *speed);

#endif
