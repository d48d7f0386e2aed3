/* SPDX-License-Identifier: MIT */
/* job.c: see job.h. */
#include "sweep/job.h"

#include "record/clock_ns.h"
#include "sweep/job_result.h"
#include "sweep/words.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD_WORDS = 16 };

static void put(char path[PATH_MAX], const char *folder, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX)
		path[0] = 0; /* no such file */
}

void rvp_job_folder(const struct rvp_plan *plan, const char *work, const struct rvp_job *job,
		    char path[PATH_MAX])
{
	char name[RVP_SETTING_NAME_BYTES], last[64], tail[RVP_SETTING_NAME_BYTES + 80];

	rvp_plan_setting_name(plan, job->setting, name);
	if (job->kind == RVP_JOB_RECORD)
		strcpy(last, "record");
	else
		snprintf(last, sizeof last, "%s.%u",
			 job->is_warm_up ? "warm-up"
			 : job->is_again ? "again"
					 : "time",
			 job->round);
	snprintf(tail, sizeof tail, "jobs/%s/%s", name, last);
	put(path, work, tail);
}

bool rvp_job_is_done(const struct rvp_plan *plan, const char *work, const struct rvp_job *job)
{
	char path[PATH_MAX];

	rvp_job_folder(plan, work, job, path);
	return access(path, F_OK) == 0;
}

void rvp_remove_tree(const char *path)
{
	char *roots[] = {(char *)path, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	for (FTSENT *entry; walk && (entry = fts_read(walk));)
		if (entry->fts_info == FTS_DP)
			rmdir(entry->fts_accpath);
		else if (entry->fts_info != FTS_D)
			unlink(entry->fts_accpath);
	if (walk)
		fts_close(walk);
}

/* "record", "time.3", "again.12": what make_folder's names have behind them is none of these. */
static bool is_whole_name(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? dot[1] && strspn(dot + 1, "0123456789") == strlen(dot + 1) : strcmp(name, "record") == 0;
}

void rvp_jobs_tidy(const char *work)
{
	char path[PATH_MAX];
	glob_t found = {0};

	put(path, work, "jobs/*/*");
	glob(path, GLOB_NOSORT, NULL, &found);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (!is_whole_name(strrchr(found.gl_pathv[i], '/') + 1))
			rvp_remove_tree(found.gl_pathv[i]);
	globfree(&found);
}

/* The setting's folder and one for this try below it. */
static struct rvp_status make_folder(struct rvp_running *running)
{
	char parent[PATH_MAX], *slash;

	strcpy(parent, running->final);
	slash = strrchr(parent, '/');
	*slash = 0;
	if (mkdir(parent, 0700) != 0 && errno != EEXIST)
		return rvp_fail("make", parent, errno);
	if (snprintf(running->folder, PATH_MAX, "%s.XXXXXX", running->final) >= PATH_MAX)
		return rvp_fail("make", running->final, ENAMETOOLONG);
	return mkdtemp(running->folder) ? RVP_OK : rvp_fail("make", running->folder, errno);
}

static void redirect(int fd, const char *folder, const char *name, int flags)
{
	char path[PATH_MAX];
	int file;

	put(path, folder, name);
	file = open(name[0] == '/' ? name : path, flags, 0600);
	if (file < 0 || dup2(file, fd) < 0)
		_exit(125);
	if (file != fd)
		close(file);
}

/* In the child. */
static void become(const struct rvp_running *running, const char *self, char **words, pid_t parent)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(125);
	redirect(STDIN_FILENO, running->folder, "/dev/null", O_RDONLY);
	redirect(STDOUT_FILENO, running->folder, "out", O_WRONLY | O_CREAT | O_TRUNC);
	redirect(STDERR_FILENO, running->folder, "err", O_WRONLY | O_CREAT | O_TRUNC);
	execv(self, words);
	_exit(125);
}

/* "rvprof run -q -o FOLDER --mode MODE .. -- " and the words of the command, which are lent. */
static char **record_words(const struct rvp_plan *plan, const struct rvp_job *job, char *run_folder,
			   char **words)
{
	size_t count = 0, head_count = 0;
	char **all;

	while (words[count])
		count++;
	all = calloc(HEAD_WORDS + count + 1, sizeof *all);
	if (!all)
		return NULL;
	all[head_count++] = "rvprof";
	all[head_count++] = "run";
	all[head_count++] = "-q";
	all[head_count++] = "-o";
	all[head_count++] = run_folder;
	all[head_count++] = "--mode";
	all[head_count++] = job->kind == RVP_JOB_RECORD ? "full" : "sampled";
	if (plan->power && job->kind == RVP_JOB_TIME) {
		all[head_count++] = "--power";
		all[head_count++] = plan->power;
	}
	all[head_count++] = "--";
	memcpy(all + head_count, words, count * sizeof *words);
	return all;
}

static struct rvp_status spawn(struct rvp_running *running, const struct rvp_plan *plan, const char *self)
{
	char witness[PATH_MAX], run_folder[PATH_MAX];
	char **words, **all = NULL;
	pid_t parent = getpid();

	put(witness, running->folder, "witness.jsonl");
	put(run_folder, running->folder, "run");
	words = rvp_plan_words(plan, running->job.setting, witness);
	if (words)
		all = record_words(plan, &running->job, run_folder, words);
	running->pid = all ? fork() : -1;
	if (running->pid == 0)
		become(running, self, all, parent);
	free(all);
	rvp_words_free(words);
	if (running->pid > 0) {
		setpgid(running->pid, running->pid);
		return RVP_OK;
	}
	running->pid = 0;
	return rvp_fail("start", self, errno);
}

struct rvp_status rvp_job_start(struct rvp_running *running, const struct rvp_plan *plan, const char *work,
				const char *self, const struct rvp_job *job)
{
	struct rvp_status status;

	*running = (struct rvp_running){.job = *job};
	rvp_job_folder(plan, work, job, running->final);
	status = make_folder(running);
	if (rvp_failed(status))
		return status;
	running->begin_s = (double)rvp_clock_ns(CLOCK_MONOTONIC) / 1e9;
	return spawn(running, plan, self);
}

struct rvp_status rvp_job_finish(struct rvp_running *running, const struct rvp_plan *plan, int wait_status,
				 bool was_late)
{
	char path[PATH_MAX];
	struct rvp_status status = rvp_job_result_write(running, plan, wait_status, was_late);

	running->pid = 0;
	if (rvp_failed(status))
		return status;
	put(path, running->folder, "run");
	rvp_remove_tree(path);
	if (running->job.is_warm_up)
		rvp_remove_tree(running->folder);
	else if (rename(running->folder, running->final) != 0)
		return rvp_fail("rename", running->folder, errno);
	return RVP_OK;
}

json_t *rvp_job_result(const struct rvp_plan *plan, const char *work, const struct rvp_job *job)
{
	char folder[PATH_MAX], path[PATH_MAX];

	rvp_job_folder(plan, work, job, folder);
	put(path, folder, "result.json");
	return json_load_file(path, 0, NULL);
}
