/* SPDX-License-Identifier: MIT */
/* sample.h: the Poisson process over bytes of sampled mode.
 *
 * A thread counts requested bytes down to its next point; the block that the point falls into is recorded. Distances
 * between points are exponential with mean T, so a block of s bytes is recorded with probability 1 - exp(-s/T), and
 * stands for 1 / (1 - exp(-s/T)) of its kind (docs/metrics.md). After a hit a fresh distance is drawn: the process has
 * no memory.
 */
#ifndef RVP_SAMPLE_H
#define RVP_SAMPLE_H

#include "preload/thread.h"

/* A new distance in bytes, at least 1. */
int64_t rvp_sample_distance(struct rvp_thread *thread, uint64_t mean_bytes);

/* Whether this block is to be recorded. `left` is where the thread counts down: a signal handler of it may do so
 * too. */
static inline bool rvp_sample_hits(struct rvp_thread *thread, int64_t *left, uint64_t bytes, uint64_t mean_bytes)
{
	if (__builtin_expect(*left <= 0, 0)) /* the first call of this thread */
		*left = rvp_sample_distance(thread, mean_bytes);
	if (__builtin_expect(*left > (int64_t)bytes, 1)) {
		rvp_machine_add((uint64_t *)left, -bytes);
		return false;
	}
	*left = rvp_sample_distance(thread, mean_bytes);
	return true;
}

#endif
