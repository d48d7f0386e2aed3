/* SPDX-License-Identifier: MIT */
/* run_place.h: the folder of a new run, with its table of processes, and the removal of an old one.
 *
 * Rule: an old folder is removed only with -f, only when its tree.rvt says that it is a run's, only when
 * nothing of that run lives, and only when every name in it is one that rvprof writes. Else nothing is
 * touched.
 */
#ifndef RVP_RUN_PLACE_H
#define RVP_RUN_PLACE_H

#include "record/run_folder.h"
#include "record/status.h"
#include "record/tree.h"
#include "tools/run_settings.h"

struct rvp_run_place {
	char path[RVP_FOLDER_BYTES]; /* absolute */
	bool moved;                  /* the current folder could not be written: it is elsewhere */
	struct rvp_tree *tree;
};

/* `pid` and `start_ticks` of the program, which is on hold. */
struct rvp_status rvp_run_place_make(struct rvp_run_place *place, const struct rvp_run_settings *settings,
				     uint32_t pid, uint64_t start_ticks);

/* Undoes it, for a program that did not start. */
void rvp_run_place_remove(struct rvp_run_place *place);

/* The absolute `path` as one would type it in the current folder: a part of it. */
const char *rvp_path_from_here(const char *path);

/* Removes the old run folder `path`, by the rule above. */
struct rvp_status rvp_old_run_remove(const char *path);

#endif
