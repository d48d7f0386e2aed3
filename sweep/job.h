/* SPDX-License-Identifier: MIT */
/* job.h: one run of one setting, and what it came to, kept in a folder of its own so that a sweep that was
 * killed goes on where it was.
 *
 *     WORK/jobs/SETTING/record        recorded whole (full mode): memory, the program's own figures, witness
 * lines WORK/jobs/SETTING/time.ROUND    recorded at least cost (sampled): times, energy out, err      what
 * the program printed witness.jsonl what it wrote to {witness} samples.csv
 * seq_len,wall_time_us,peak_bytes,kv_cache_bytes,joules result.json   written last
 *
 * Invariants
 *   (J1) A job runs in a folder with a name of its own, renamed when result.json is in it: a folder with its
 * right name is a whole job, and what a dying program still writes goes nowhere that counts. (J2) A program
 * does not outlive us: it is told to end when we die. */
#ifndef RVP_SWEEP_JOB_H
#define RVP_SWEEP_JOB_H

#include "sweep/plan.h"

#include <jansson.h>
#include <limits.h>
#include <sys/types.h>

enum rvp_job_kind { RVP_JOB_RECORD, RVP_JOB_TIME };

struct rvp_job {
	size_t setting; /* RVP_BASELINE: the baseline */
	enum rvp_job_kind kind;
	unsigned round;  /* of RVP_JOB_TIME */
	bool is_again;   /* of RVP_JOB_TIME: the same once more, for the noise */
	bool is_warm_up; /* thrown away */
};

struct rvp_running {
	struct rvp_job job;
	pid_t pid; /* of its own process group; 0: none */
	double begin_s;
	char folder[PATH_MAX]; /* while it runs */
	char final[PATH_MAX];
};

/* Whether its folder is there. */
bool rvp_job_is_done(const struct rvp_plan *plan, const char *work, const struct rvp_job *job);

/* Starts it: `self` is the rvprof that records. */
struct rvp_status rvp_job_start(struct rvp_running *running, const struct rvp_plan *plan, const char *work,
				const char *self, const struct rvp_job *job);

/* When it has ended with `wait_status`: result.json, and its folder gets its name; the log is thrown away.
 * `was_late`: it was stopped by the time limit. A program that failed is a result too. */
struct rvp_status rvp_job_finish(struct rvp_running *running, const struct rvp_plan *plan, int wait_status,
				 bool was_late);

/* The result of a job that is done: NULL where it can't be read. */
json_t *rvp_job_result(const struct rvp_plan *plan, const char *work, const struct rvp_job *job);

void rvp_job_folder(const struct rvp_plan *plan, const char *work, const struct rvp_job *job,
		    char path[PATH_MAX]);

/* Throws away what unfinished jobs left below WORK/jobs. */
void rvp_jobs_tidy(const char *work);

/* With all below it; nothing there is no failure. */
void rvp_remove_tree(const char *path);

#endif
