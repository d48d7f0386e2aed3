/* SPDX-License-Identifier: MIT */
/* path_tree.h: the process's call paths: a number for each, from 1, of which a bounded number is remembered.
 *
 * One tree for native frames, one for Python's, one for Python's code objects. A path is known by a hash of
 * all its frames (rvp_path_below), 64 bits that stand for the path: two of a million paths in a full tree are
 * taken for each other with a probability below 1e-6. Read and changed by all threads without a lock: (P1) A
 * number is published only after its record was emitted by the thread that made it. (P2) A number is given
 * once and stands for one path; it never has another, but for rvp_path_tree_reset in a child by fork. (P3) A
 * path may get several numbers: where two threads make it at once, and where it was forgotten, since memory
 * is bounded. Each has a record of its own, and old ones stay good, as a parent too: a path is found by its
 * own hash, whatever became of the nodes above it. Whoever sums must sum paths, not numbers; report/paths.c
 * makes one of them. (P4) After number 2^32 - 2 there is none: the log would have met any bound long before.
 */
#ifndef RVP_PATH_TREE_H
#define RVP_PATH_TREE_H

#include "preload/thread.h"

enum {
	RVP_PATH_NODES_A_SET = 10,
	RVP_PATH_SET_BYTES = 128,
	RVP_PATH_GROWTH = 8, /* a table is so many times as big as the one before, which stays */
	RVP_PATH_TABLES = 3,
};

struct rvp_path_table;

struct rvp_path_tree {
	/* Emits the record of a new number; false: it could not be kept. `context` is the caller's of the
	 * look-up. */
	bool (*emit)(struct rvp_thread *thread, uint32_t number, uint32_t parent, uint64_t frame,
		     void *context);
	uint32_t last_sets; /* of the last table: a power of two from 64 on */
	_Atomic(struct rvp_path_table *) newest;
	_Atomic uint32_t number_count; /* numbers given out */
};

/* The path one frame further in than `path`. An outermost frame's is below a number of the caller's, its era.
 */
static inline uint64_t rvp_path_below(uint64_t path, uint64_t frame)
{
	path = ((path << 25 | path >> 39) ^ frame) * 0x9e3779b97f4a7c15;
	path = (path ^ path >> 32) * 0xbf58476d1ce4e5b9;
	return path ^ path >> 29;
}

/* The path's number; 0: it cannot be had (no memory, no number, no record). parent 0: an outermost frame. */
uint32_t rvp_path_tree_number(struct rvp_path_tree *tree, struct rvp_thread *thread, uint64_t path,
			      uint32_t parent, uint64_t frame, void *context);

/* The same where it has one already; else 0, and nothing was made. */
uint32_t rvp_path_tree_known(struct rvp_path_tree *tree, uint64_t path);

/* The number of the path in thread->frames[0, count), innermost first, below `root`. Where one cannot be had STACK_TABLE
 * is lost, and the deepest known path stands for it. */
uint32_t rvp_path_tree_frames(struct rvp_path_tree *tree, struct rvp_thread *thread, uint32_t count, uint64_t root);

/* Empty again, numbers from 1; single-threaded. */
void rvp_path_tree_reset(struct rvp_path_tree *tree);

#endif
