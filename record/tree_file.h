/* SPDX-License-Identifier: MIT */
/* tree_file.h: makes the table of processes (tree.h) of a new run, for `rvprof run` and for the root of a
 * bare preload. Nothing is allocated but the file and its mapping; no stdio. */
#ifndef RVP_TREE_FILE_H
#define RVP_TREE_FILE_H

#include "record/tree.h"

#include <stddef.h>

struct rvp_tree_facts {
	enum rvp_tree_maker maker;
	uint32_t mode;     /* enum rvp_mode */
	uint32_t root_pid; /* 0: not known yet, see rvp_tree_set_root */
	uint64_t root_start_ticks, root_pidns;
	uint64_t begin_realtime_ns;
	uint64_t max_log_bytes;
	const char *exe;      /* basename as typed */
	const char *command;  /* argv, each word with its NUL, as in /proc/PID/cmdline */
	size_t command_bytes; /* more than fits is cut, and command_is_cut set */
};

/* Makes the file `path`, which must not exist, and maps it into `tree`. 0 or an errno; on an error nothing is
 * left. A file that RLIMIT_FSIZE forbids is never begun (EFBIG): going past that limit is a fatal signal. */
int rvp_tree_make(const char *path, const struct rvp_tree_facts *facts, struct rvp_tree **tree);

/* Who the root is, once known; seals the header again. */
void rvp_tree_set_root(struct rvp_tree *tree, uint32_t pid, uint64_t start_ticks);

#endif
