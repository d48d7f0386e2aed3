/* SPDX-License-Identifier: MIT */
/* path_tree.h: the process's trees of call paths: a number for each (parent's number, frame), from 1.
 *
 * One for native frames, one for Python's. Read and grown by all threads without a lock:
 *   (P1) A node is published only after its record was emitted by the thread that made it; of two threads
 * that make the same node one wins, and the other's number is never used. (P2) A published node never changes
 * and never goes, but for rvp_path_tree_reset in a child by fork. (P3) A node belongs to an era (walk.c): in
 * a later era the same path gets a new node. Two numbers for one path are possible, rarely, while the table
 * grows: whoever sums must sum paths, not numbers.
 */
#ifndef RVP_PATH_TREE_H
#define RVP_PATH_TREE_H

#include "preload/thread.h"

enum {
	RVP_NODES_CHUNK = 1 << 16,
	RVP_NODES_CHUNKS = 60,
	RVP_NODES_MAX = RVP_NODES_CHUNK * RVP_NODES_CHUNKS, /* 3.9 million: `import torch` alone makes 2 */
};

struct rvp_path_node {
	uint64_t frame;
	uint32_t parent, era;
};

struct rvp_path_table;

struct rvp_path_tree {
	/* Emits the record of a new node; false: it could not be kept. `context` is the caller's of the
	 * look-up. */
	bool (*emit)(struct rvp_thread *thread, uint32_t number, uint32_t parent, uint64_t frame,
		     void *context);
	_Atomic(struct rvp_path_table *) newest;
	_Atomic(struct rvp_path_node *) chunks[RVP_NODES_CHUNKS];
	_Atomic uint32_t number_count; /* numbers given out, wasted ones included */
};

/* The node's number; 0: it cannot be had (no memory, a full tree, no record). parent 0: an outermost frame.
 */
uint32_t rvp_path_tree_node(struct rvp_path_tree *tree, struct rvp_thread *thread, uint32_t parent,
			    uint64_t frame, uint32_t era, void *context);

/* Empty again, numbers from 1; single-threaded. */
void rvp_path_tree_reset(struct rvp_path_tree *tree);

#endif
