/* SPDX-License-Identifier: MIT */
/* sweep.c: see sweep.h. */
#include "sweep/sweep.h"

#include "record/clock_ns.h"
#include "sweep/compare.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MAX = 64, TICK_MS = 20, KILL_AFTER_S = 2 };

static double now_s(void)
{
	return (double)rvp_clock_ns(CLOCK_MONOTONIC) / 1e9;
}

size_t rvp_sweep_reference(const struct rvp_plan *plan)
{
	return plan->baseline ? RVP_BASELINE : 0;
}

/* ---- a pool of jobs ---- */

struct pool {
	struct rvp_sweep *sweep;
	struct rvp_running running[WORKERS_MAX];
	bool was_late[WORKERS_MAX];
	size_t busy;
};

static void say(const struct rvp_sweep *sweep, const char *what, size_t done, size_t all)
{
	if (sweep->progress)
		sweep->progress(sweep, what, done, all);
}

static struct rvp_status start(struct pool *pool, const struct rvp_job *job)
{
	struct rvp_sweep *sweep = pool->sweep;
	struct rvp_status status = RVP_OK;

	for (unsigned i = 0; i < WORKERS_MAX; i++) {
		if (pool->running[i].pid)
			continue;
		pool->was_late[i] = false;
		status = rvp_job_start(&pool->running[i], sweep->plan, sweep->place.work, sweep->self, job);
		pool->busy += !rvp_failed(status);
		break;
	}
	return status;
}

/* Told to end, then made to. */
static void watch_limits(struct pool *pool)
{
	double limit_s = pool->sweep->plan->timeout_s, now = now_s();

	for (unsigned i = 0; limit_s > 0 && i < WORKERS_MAX; i++) {
		struct rvp_running *running = &pool->running[i];

		if (!running->pid || now - running->begin_s < limit_s)
			continue;
		kill(-running->pid, now - running->begin_s > limit_s + KILL_AFTER_S ? SIGKILL : SIGTERM);
		pool->was_late[i] = true;
	}
}

static struct rvp_status take_ended(struct pool *pool, pid_t pid, int wait_status)
{
	for (unsigned i = 0; i < WORKERS_MAX; i++)
		if (pool->running[i].pid == pid) {
			pool->busy--;
			kill(-pid, SIGKILL); /* what it left behind */
			return rvp_job_finish(&pool->running[i], pool->sweep->plan, wait_status,
					      pool->was_late[i]);
		}
	return RVP_OK;
}

static struct rvp_status wait_for_one(struct pool *pool)
{
	const struct timespec tick = {.tv_nsec = TICK_MS * 1000000};
	size_t busy = pool->busy;

	while (pool->busy == busy && !*pool->sweep->stop) {
		int wait_status;
		pid_t pid = waitpid(-1, &wait_status, WNOHANG);

		if (pid > 0) {
			struct rvp_status status = take_ended(pool, pid, wait_status);

			if (rvp_failed(status))
				return status;
			continue;
		}
		watch_limits(pool);
		nanosleep(&tick, NULL);
	}
	return *pool->sweep->stop ? rvp_fail("sweep", pool->sweep->place.out, EINTR) : RVP_OK;
}

/* Nothing is left running. */
static void end_all(struct pool *pool)
{
	double begin = now_s();

	for (unsigned i = 0; i < WORKERS_MAX; i++)
		if (pool->running[i].pid)
			kill(-pool->running[i].pid, SIGTERM);
	for (unsigned i = 0; i < WORKERS_MAX; i++)
		while (pool->running[i].pid && waitpid(pool->running[i].pid, NULL, WNOHANG) == 0) {
			if (now_s() - begin > KILL_AFTER_S)
				kill(-pool->running[i].pid, SIGKILL);
			nanosleep(&(struct timespec){.tv_nsec = TICK_MS * 1000000}, NULL);
		}
	for (unsigned i = 0; i < WORKERS_MAX; i++)
		if (pool->running[i].pid)
			rvp_remove_tree(pool->running[i].folder);
}

/* ---- recorded whole ---- */

static size_t setting_at(const struct rvp_sweep *sweep, size_t number)
{
	if (!sweep->plan->baseline)
		return number;
	return number ? number - 1 : RVP_BASELINE;
}

static size_t number_count(const struct rvp_sweep *sweep)
{
	return sweep->setting_count + (sweep->plan->baseline != NULL);
}

static struct rvp_status record_all(struct pool *pool)
{
	struct rvp_sweep *sweep = pool->sweep;
	size_t all = number_count(sweep), next = 0;
	struct rvp_status status = RVP_OK;

	while (!rvp_failed(status) && (next < all || pool->busy)) {
		struct rvp_job job = {.setting = setting_at(sweep, next), .kind = RVP_JOB_RECORD};

		if (next < all && rvp_job_is_done(sweep->plan, sweep->place.work, &job))
			next++;
		else if (next < all && pool->busy < sweep->workers) {
			next++;
			status = start(pool, &job);
		} else
			status = wait_for_one(pool);
		say(sweep, "recording", next - pool->busy, all);
	}
	return status;
}

/* ---- rounds of timing ---- */

/* xorshift: the order of a round follows from the plan's seed and the round. */
static uint64_t shuffle_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static void make_round(const struct rvp_sweep *sweep, unsigned round, bool is_warm_up, struct rvp_job *jobs,
		       size_t count)
{
	uint64_t state = (sweep->plan->seed + 1) * 0x9e3779b97f4a7c15u ^ (round + 1) * 0xbf58476d1ce4e5b9u;

	for (size_t i = 0; i < count; i++)
		jobs[i] = (struct rvp_job){
		    .setting = i ? setting_at(sweep, i - 1) : rvp_sweep_reference(sweep->plan),
		    .kind = RVP_JOB_TIME,
		    .round = round,
		    .is_again = i == 0,
		    .is_warm_up = is_warm_up,
		};
	for (size_t i = count; i-- > 1;) {
		size_t other = shuffle_next(&state) % (i + 1);
		struct rvp_job swapped = jobs[i];

		jobs[i] = jobs[other];
		jobs[other] = swapped;
	}
}

static struct rvp_status run_one(struct pool *pool, const struct rvp_job *job)
{
	struct rvp_status status;

	if (!job->is_warm_up && rvp_job_is_done(pool->sweep->plan, pool->sweep->place.work, job))
		return RVP_OK;
	status = start(pool, job);
	while (!rvp_failed(status) && pool->busy)
		status = wait_for_one(pool);
	return status;
}

static struct rvp_status run_round(struct pool *pool, unsigned round, bool is_warm_up)
{
	size_t count = number_count(pool->sweep) + 1;
	struct rvp_job *jobs = calloc(count, sizeof *jobs);
	struct rvp_status status = jobs ? RVP_OK : rvp_fail("sweep", pool->sweep->place.out, ENOMEM);
	double begin = now_s();

	if (jobs)
		make_round(pool->sweep, round, is_warm_up, jobs, count);
	for (size_t i = 0; jobs && i < count && !rvp_failed(status); i++) {
		say(pool->sweep, is_warm_up ? "warming up" : "timing", i + count * (is_warm_up ? 0 : round),
		    count * (is_warm_up ? 1 : pool->sweep->plan->most_repeats));
		status = run_one(pool, &jobs[i]);
	}
	if (!is_warm_up)
		pool->sweep->round_s = now_s() - begin;
	free(jobs);
	return status;
}

size_t rvp_sweep_times(const struct rvp_sweep *sweep, size_t setting, bool again, const char *key,
		       double *values, size_t room)
{
	size_t count = 0;

	for (unsigned round = 0; round < sweep->rounds && count < room; round++) {
		struct rvp_job job = {
		    .setting = setting, .kind = RVP_JOB_TIME, .round = round, .is_again = again};
		json_t *result = rvp_job_result(sweep->plan, sweep->place.work, &job);
		const json_t *value =
		    json_object_get(result, "failure") ? NULL : json_object_get(result, key);

		if (json_is_number(value))
			values[count++] = json_number_value(value);
		json_decref(result);
		if (count != round + 1u)
			return 0; /* pairs are by round */
	}
	return count;
}

/* Whether the ratio to the reference is known to the plan's precision. A setting that fails is as known as it
 * gets. */
static bool is_known(const struct rvp_sweep *sweep, size_t setting)
{
	struct rvp_comparison time =
	    rvp_compare_one(sweep, setting, false, rvp_measured_names[RVP_MEAN_TIME]);

	return !time.rounds || time.high <= time.ratio * (1 + sweep->plan->precision_percent / 100);
}

static bool all_are_known(const struct rvp_sweep *sweep)
{
	for (size_t i = 0; i < sweep->setting_count; i++)
		if (!is_known(sweep, i))
			return false;
	return true;
}

static bool is_enough(struct rvp_sweep *sweep)
{
	if (sweep->rounds < sweep->plan->least_repeats)
		return sweep->rounds && now_s() - sweep->begin_s + sweep->round_s > sweep->plan->budget_s;
	sweep->is_precise = all_are_known(sweep);
	return sweep->is_precise || sweep->rounds >= sweep->plan->most_repeats ||
	       now_s() - sweep->begin_s + sweep->round_s > sweep->plan->budget_s;
}

static struct rvp_status time_all(struct pool *pool)
{
	struct rvp_sweep *sweep = pool->sweep;
	struct rvp_status status = RVP_OK;

	for (unsigned i = 0; i < sweep->plan->warm_up && !rvp_failed(status); i++)
		status = run_round(pool, i, true);
	for (sweep->rounds = 0; !rvp_failed(status) && !is_enough(sweep);) {
		status = run_round(pool, sweep->rounds, false);
		sweep->rounds += !rvp_failed(status);
	}
	return status;
}

struct rvp_status rvp_sweep_run(struct rvp_sweep *sweep)
{
	struct pool *pool = calloc(1, sizeof *pool);
	struct rvp_status status;

	if (!pool)
		return rvp_fail("sweep", sweep->place.out, ENOMEM);
	pool->sweep = sweep;
	sweep->begin_s = now_s();
	sweep->setting_count = rvp_plan_setting_count(sweep->plan);
	sweep->workers = sweep->workers > WORKERS_MAX ? WORKERS_MAX : sweep->workers;
	rvp_jobs_tidy(sweep->place.work);
	status = record_all(pool);
	if (!rvp_failed(status))
		status = time_all(pool);
	if (rvp_failed(status))
		end_all(pool);
	free(pool);
	return status;
}
