/* SPDX-License-Identifier: MIT */
/* recorded_process.h: a living process that rvprof records, found by its pid: the run folder that it has mapped, and its
 * entry in the table of processes there, shared with it. */
#ifndef RVP_RECORDED_PROCESS_H
#define RVP_RECORDED_PROCESS_H

#include "record/run_folder.h"
#include "record/status.h"
#include "record/tree.h"

#include <stdbool.h>
#include <sys/types.h>

struct rvp_recorded_process {
	pid_t pid; /* as we see it */
	uint64_t start_ticks;
	char folder[RVP_FOLDER_BYTES];
	struct rvp_tree *tree;
	struct rvp_tree_entry *entry;
};

/* Fails with a line that says which it is: no such process, another user's, not recorded, `rvprof run` itself. */
struct rvp_status rvp_recorded_process_open(struct rvp_recorded_process *process, pid_t pid);
void rvp_recorded_process_close(struct rvp_recorded_process *process);

/* It has neither ended nor begun its end. */
bool rvp_recorded_process_runs(const struct rvp_recorded_process *process);

#endif
