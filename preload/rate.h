/* SPDX-License-Identifier: MIT */
/* rate.h: which blocks of sampled mode are recorded each, as long as a thread makes not too many a second.
 *
 * Large ones (RVP_THRESHOLD_BYTES and more), because they are most of the memory. And small ones that were asked for
 * with an alignment of their own (posix_memalign, aligned_alloc, memalign and their kin): that is what frameworks make
 * for tensors, and hardly anybody else asks so. At one token a step an activation is a few KiB, which samples of one in
 * 512 KiB cannot see. (Measured: a decode step of 5 ms in PyTorch makes 160 of them, 32,000 a second.)
 *
 * Beyond RVP_RATE_A_SECOND of a kind they are sampled like all others until the thread slows down: a record and its
 * free take 0.2 to 0.3 us, so that this is 2 to 3 % of a thread's time at the most. Whether a block is recorded for
 * sure or by chance is decided before anything is known of it, so sums stay unbiased.
 */
#ifndef RVP_RATE_H
#define RVP_RATE_H

#include "preload/thread.h"
#include "record/names.h"

enum { RVP_RATE_A_SECOND = 100000, RVP_RATE_A_LOOK = 1024 };

static inline bool rvp_family_is_aligned(enum rvp_family family)
{
	return family >= RVP_FAMILY_ALIGNED_ALLOC && family <= RVP_FAMILY_PVALLOC;
}

/* Counts one more; true: it is to be recorded. Looks at the clock once in RVP_RATE_A_LOOK calls. */
bool rvp_rate_takes(struct rvp_rate *rate);

#endif
