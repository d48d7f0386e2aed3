/* SPDX-License-Identifier: MIT */
/* unwind_straight.h: a walk of usual frames from the caller to the outermost one in a few instructions a frame, for paths
 * that a thread met before though no shape finds them: with recursion the same functions lie in many orders.
 *
 * A thread keeps the distance from a frame to its caller by return address. The path is hashed by its return addresses
 * alone, wherever they lie, and the hash finds the path's number among those that the thread remembers, or the frames do
 * in the tree of all.
 *
 *   (G1) A step is remembered of a rule (unwind_rule.h) that was this generation's when it was made, and all of them hold
 *        for one key, as (N4). So the walk is the one that the rules say; what reads them twice to be sure asks for the
 *        generation once, at the end.
 *   (G2) Each word that is read lies on the thread's own stack between the caller's stack pointer and its end.
 *   (G3) What is not a usual frame to the end is no walk: signal frames, code without rules, odd rules, cut stacks.
 */
#ifndef RVP_UNWIND_STRAIGHT_H
#define RVP_UNWIND_STRAIGHT_H

#include "preload/path_cache.h"
#include "preload/path_tree.h"
#include "preload/unwind_rule.h"

enum { RVP_STRAIGHT_FRAMES_MAX = 64, RVP_STRAIGHT_STEPS_BITS = 9 };

struct rvp_straight_step {
	uint64_t pc;   /* 0: free, and its step 0 */
	uint64_t step; /* bytes from the frame's stack pointer to its caller's; or one of the kinds below */
};
enum { RVP_STRAIGHT_NO_FRAME = 0, RVP_STRAIGHT_BY_BP = 1, RVP_STRAIGHT_END = 2 };

/* A thread's, of one key. */
struct rvp_straight_steps {
	uint64_t key;
	struct rvp_straight_step *steps;
	struct rvp_path_cache paths; /* numbers, by the hash of their return addresses */
};

struct rvp_straight {
	uint64_t hash;  /* of all return addresses */
	uint32_t frame_count;
	uint32_t word_count; /* return addresses that were read */
	bool has_bp;         /* some frame was found by its frame pointer */
	uint64_t sp[RVP_STRAIGHT_FRAMES_MAX]; /* of each frame's caller, right above the word that was read */
};

/* False: (G3), more than RVP_STRAIGHT_FRAMES_MAX frames, or no memory. The caller is on the thread's own stack, which ends
 * at `high`. */
bool rvp_straight_walk(struct rvp_straight_steps *steps, uint64_t key, struct rvp_caller caller, uint64_t high,
		       uint32_t generation, struct rvp_straight *walk);

/* The hash of the frames of a walk as the tree has it, below `root`. 0: the rules are not remembered any more. */
uint64_t rvp_straight_path(const struct rvp_straight *walk, uint64_t pc, uint32_t generation, uint64_t root);

#endif
