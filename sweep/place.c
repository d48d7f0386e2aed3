/* SPDX-License-Identifier: MIT */
/* place.c: see place.h. */
#include "sweep/place.h"

#include "record/run_folder.h"
#include "sweep/job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rvp_status make_folders(const char *path)
{
	char copy[PATH_MAX];
	int failed;

	snprintf(copy, sizeof copy, "%s", path);
	failed = rvp_folder_make_parents(copy, 0777);
	if (!failed && mkdir(path, 0777) != 0 && errno != EEXIST)
		failed = errno;
	return failed ? rvp_fail("make", path, failed) : RVP_OK;
}

struct rvp_status rvp_sweep_place_name(struct rvp_sweep_place *place, const char *out)
{
	size_t length = strlen(out);
	const char *base;
	int fits;

	*place = (struct rvp_sweep_place){.lock_fd = -1};
	while (length > 1 && out[length - 1] == '/')
		length--;
	if (!length || length >= PATH_MAX / 2)
		return rvp_fail("sweep into", out, length ? ENAMETOOLONG : ENOENT);
	memcpy(place->out, out, length);
	base = strrchr(place->out, '/');
	base = base ? base + 1 : place->out;
	if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
		return rvp_fail_with("sweep into", out, "the folder must have a name of its own");
	fits = snprintf(place->work, PATH_MAX, "%.*s.%s.rvprof-bench", (int)(base - place->out), place->out,
			base);
	return fits < PATH_MAX ? RVP_OK : rvp_fail("sweep into", out, ENAMETOOLONG);
}

static bool is_empty(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	bool is = folder || errno == ENOENT; /* a file is not */

	while (folder && (entry = readdir(folder)))
		is &= strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	if (folder)
		closedir(folder);
	return is;
}

static struct rvp_status lock(struct rvp_sweep_place *place)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof path, "%s/lock", place->work);
	place->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (place->lock_fd < 0)
		return rvp_fail("open", path, errno);
	return flock(place->lock_fd, LOCK_EX | LOCK_NB) == 0
		   ? RVP_OK
		   : rvp_fail_with("sweep into", place->out, "another sweep is at work there");
}

/* malloc'ed; NULL: there is none. */
static char *read_text(const char *path)
{
	char *text = NULL;
	size_t room = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return NULL;
	if (getdelim(&text, &room, 0, file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

static struct rvp_status write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return rvp_fail("make", path, errno);
	fputs(text, file);
	return fclose(file) == 0 ? RVP_OK : rvp_fail("write", path, errno);
}

/* The plan that is there must be ours, and we must have been asked to go on with it. */
static struct rvp_status take_plan(struct rvp_sweep_place *place, const struct rvp_plan *plan, bool resumes)
{
	char path[PATH_MAX + 8], *ours = rvp_plan_text(plan), *theirs;
	struct rvp_status status = RVP_OK;

	snprintf(path, sizeof path, "%s/plan", place->work);
	theirs = read_text(path);
	place->is_resumed = theirs != NULL;
	if (!ours)
		status = rvp_fail("sweep into", place->out, ENOMEM);
	else if (theirs && !resumes)
		status = rvp_fail_with("sweep into", place->out,
				       "a sweep is there: --resume goes on with it, -f begins anew");
	else if (theirs && strcmp(ours, theirs) != 0)
		status = rvp_fail_with("sweep into", place->out,
				       "the sweep there is of other settings: %s has its plan", path);
	else if (!theirs)
		status = write_text(path, ours);
	free(ours);
	free(theirs);
	return status;
}

/* What the sweep that is there has made, but for its lock, which is ours. */
static void throw_away(const struct rvp_sweep_place *place)
{
	static const char *const names[] = {"jobs", "plan", "answer.json"};
	char path[PATH_MAX + 16];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", place->work, names[i]);
		rvp_remove_tree(path);
	}
	rvp_remove_tree(place->out);
}

struct rvp_status rvp_sweep_place_open(struct rvp_sweep_place *place, const char *out,
				       const struct rvp_plan *plan, enum rvp_sweep_begin begin)
{
	struct rvp_status status = rvp_sweep_place_name(place, out);
	bool is_there = access(place->work, F_OK) == 0;
	char jobs[PATH_MAX + 8];

	if (rvp_failed(status))
		return status;
	if (!is_there && !is_empty(place->out))
		return rvp_fail_with("sweep into", place->out,
				     "something else is there: name another folder by -o");
	status = make_folders(place->work);
	if (!rvp_failed(status))
		status = lock(place);
	if (!rvp_failed(status) && is_there && begin == RVP_SWEEP_ANEW)
		throw_away(place);
	if (!rvp_failed(status))
		status = make_folders(place->out);
	if (!rvp_failed(status))
		status = take_plan(place, plan, begin == RVP_SWEEP_GOES_ON);
	snprintf(jobs, sizeof jobs, "%s/jobs", place->work);
	return rvp_failed(status) ? status : make_folders(jobs);
}

void rvp_sweep_place_close(struct rvp_sweep_place *place)
{
	if (place->lock_fd >= 0)
		close(place->lock_fd);
	place->lock_fd = -1;
}
