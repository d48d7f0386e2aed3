/* SPDX-License-Identifier: MIT */
/* aligned.h: which small requests of sampled mode are recorded each, because they are tensors as likely as not.
 *
 * A request with an alignment of its own (posix_memalign, aligned_alloc, memalign and their kin) is what frameworks
 * make for tensors, and hardly anybody else asks so for small blocks. At one token a step an activation is a few KiB,
 * which samples of one in 512 KiB cannot see. So these are recorded whatever their size, as long as a thread makes no
 * more than RVP_ALIGNED_A_SECOND of them; beyond, they are sampled like all others until it slows down. (Measured: a
 * decode step of 5 ms in PyTorch makes 160 of them, 32,000 a second.)
 *
 * Whether a block is recorded for sure or by chance is decided before anything is known of it, so sums stay unbiased.
 */
#ifndef RVP_ALIGNED_H
#define RVP_ALIGNED_H

#include "preload/thread.h"
#include "record/names.h"

enum { RVP_ALIGNED_A_SECOND = 100000, RVP_ALIGNED_A_LOOK = 1024 };

static inline bool rvp_family_is_aligned(enum rvp_family family)
{
	return family >= RVP_FAMILY_ALIGNED_ALLOC && family <= RVP_FAMILY_PVALLOC;
}

/* Counts one more of this thread; true: it is to be recorded. Looks at the clock once in RVP_ALIGNED_A_LOOK calls. */
bool rvp_aligned_is_wanted(struct rvp_thread *thread);

#endif
