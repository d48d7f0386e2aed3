/* SPDX-License-Identifier: MIT */
/* seal.c: see seal.h. */
#include "sweep/seal.h"

#include "prove/bundle.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Paths in the results' folder; NULL ends them. */
struct paths {
	char **paths;
	size_t count;
};

static bool is_there(const struct rvp_sweep *sweep, const char *path)
{
	char full[PATH_MAX];

	return snprintf(full, sizeof full, "%s/%s", sweep->place.out, path) < PATH_MAX &&
	       access(full, F_OK) == 0;
}

/* If there is such a file. */
static bool add(struct paths *paths, const struct rvp_sweep *sweep, const char *folder, const char *name,
		const char *ending)
{
	char *path;

	if (asprintf(&path, "%s/%s%s", folder, name, ending) < 0)
		return false;
	if (is_there(sweep, path))
		paths->paths[paths->count++] = path;
	else
		free(path);
	return true;
}

/* Whatever lies in figs/. */
static bool add_figures(struct paths *files, const struct rvp_sweep *sweep)
{
	char pattern[PATH_MAX];
	glob_t found = {0};
	char **more;
	bool is_good = true;

	if (snprintf(pattern, sizeof pattern, "%s/figs/*", sweep->place.out) >= PATH_MAX)
		return false;
	glob(pattern, 0, NULL, &found);
	more = realloc(files->paths, (files->count + found.gl_pathc + 1) * sizeof *more);
	if (more)
		files->paths = more;
	for (size_t i = 0; more && i < found.gl_pathc; i++)
		is_good = is_good && add(files, sweep, "figs", strrchr(found.gl_pathv[i], '/') + 1, "");
	files->paths[files->count] = NULL;
	globfree(&found);
	return more && is_good;
}

static bool list(struct paths *witness, struct paths *files, const struct rvp_sweep *sweep,
		 const struct rvp_outcomes *outcomes)
{
	bool is_good = true;

	witness->paths = calloc(outcomes->count + 1, sizeof *witness->paths);
	files->paths = calloc(outcomes->count + 2, sizeof *files->paths);
	if (!witness->paths || !files->paths)
		return false;
	for (size_t i = 0; i < outcomes->count; i++)
		is_good = is_good && add(witness, sweep, "witness", outcomes->rows[i].name, ".jsonl") &&
			  add(files, sweep, "csv", outcomes->rows[i].name, ".csv");
	return is_good && add(files, sweep, "csv", "results", ".csv") && add_figures(files, sweep);
}

static void free_paths(struct paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->paths[i]);
	free(paths->paths);
}

static struct rvp_status make_folder(const struct rvp_sweep *sweep)
{
	char folder[PATH_MAX];

	if (snprintf(folder, sizeof folder, "%s/witness", sweep->place.out) >= PATH_MAX)
		return rvp_fail("make", sweep->place.out, ENAMETOOLONG);
	return mkdir(folder, 0777) == 0 || errno == EEXIST ? RVP_OK : rvp_fail("make", folder, errno);
}

struct rvp_status rvp_sweep_seal(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes,
				 const char *key_path, uint64_t *decisions)
{
	struct paths witness = {.count = 0}, files = {.count = 0};
	struct rvp_digests digests = {.table = NULL};
	struct rvp_status status = make_folder(sweep);

	if (!rvp_failed(status))
		status = rvp_digests_open(&digests);
	if (!rvp_failed(status) && !list(&witness, &files, sweep, outcomes))
		status = rvp_fail("seal", sweep->place.out, ENOMEM);
	if (!rvp_failed(status))
		status = rvp_bundle_write(&digests,
					  &(struct rvp_bundle_plan){
					      .folder = sweep->place.out,
					      .path = "witness/witness.rvf",
					      .witness_files = (const char *const *)witness.paths,
					      .files = (const char *const *)files.paths,
					      .key_path = key_path,
					  },
					  decisions);
	free_paths(&witness);
	free_paths(&files);
	rvp_digests_close(&digests);
	return status;
}
