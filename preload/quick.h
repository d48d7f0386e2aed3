/* SPDX-License-Identifier: MIT */
/* quick.h: the short way of sampled mode: what a malloc or free takes that is counted and not recorded.
 *
 * Nearly all blocks are small and no sample falls into them. For these a hook calls the real function, and adds to
 * the thread's counters; it enters nothing, changes no phase and leaves errno to the real function. All that could
 * make an event more than that is behind one countdown of the thread for allocs, and one for frees.
 *
 * Only over libc's own allocator: it calls none of our hooks, and a block's size stands in front of it, as blocks of
 * the program confirm before a thread's short way opens (quick.c). Jemalloc and its kin go the long way.
 *
 * Invariants
 *   (Q1) sample_left > 0 only if the thread's way is open: `quick` is where it counts, the mode is sampled or the process
 *        windowed (window.h), writes are not followed. The same for frees_left.
 *   (Q2) Each step is one instruction on a word of this thread, or reads only: a signal handler may come between any
 *        two and go the short way itself, in any phase. One that comes between the look at sample_left and the
 *        subtraction may step over a sample point: a sample less, and the next distance is drawn afresh.
 *   (Q3) *rvp_alive is asked before anything is counted: a child by fork goes the long way until it counts in a place
 *        of its own. Where a handler forked in the middle, the child finds `quick` with its own place or nobody's. (The
 *        countdown of frees is the thread's own and may be less by one; where it ends is asked before, so that full mode,
 *        which never goes this way, finds it out first.)
 *        In full mode the word closes every thread's way while a window is open.
 *   (Q4) A block that is told to be free the short way is not in the table of recorded blocks (blocks.h).
 */
#ifndef RVP_QUICK_H
#define RVP_QUICK_H

#include "preload/blocks.h"
#include "preload/process.h"
#include "preload/real.h"
#include "record/names.h"

/* In the word in front of a block of libc's: its size, and flags in the lowest three bits. */
enum { RVP_WORD_FLAGS = 7, RVP_WORD_MAPPED = 2, RVP_WORD_BYTES = 8 };
/* Blocks of so many bytes and more go the long way: RVP_THRESHOLD_BYTES, or while a window is closed (window.h)
 * RVP_QUICK_CLOSED_BYTES, whose ends the ledger looks at. A power of 2. And no bit of these is in the word of a block that
 * goes the short way: mapped by itself, or as large. */
enum { RVP_QUICK_CLOSED_BYTES = 128 * 1024 };
extern uint64_t rvp_quick_below, rvp_word_long_way __attribute__((visibility("hidden")));
void rvp_quick_set_closed(bool is_closed);

/* Aligned blocks are recorded each while a window is open, and go the long way then. */
static inline bool rvp_quick_is_closed(void)
{
	return __builtin_expect(rvp_quick_below != RVP_THRESHOLD_BYTES, 0);
}

static inline uint64_t rvp_word_of(const void *block)
{
	return ((const uint64_t *)block)[-1];
}

/* malloc_usable_size, for a block that is not mapped by itself. */
static inline uint64_t rvp_word_usable(uint64_t word)
{
	return (word & ~(uint64_t)RVP_WORD_FLAGS) - RVP_WORD_BYTES;
}

static inline bool rvp_quick_is_alive(void)
{
	return __builtin_expect(atomic_load_explicit(rvp_alive, memory_order_relaxed) & RVP_ALIVE_QUICK_BIT, 1);
}

/* An alloc of `bytes` goes the short way: call the real function, then rvp_quick_given. */
static inline bool rvp_quick_alloc(uint64_t bytes)
{
	if (__builtin_expect(rvp_local.sample_left <= (int64_t)bytes || bytes >= rvp_quick_below ||
				 !rvp_quick_is_alive(),
			     0))
		return false;
	rvp_machine_take(&rvp_local.sample_left, (int64_t)bytes);
	return true;
}

static inline void *rvp_quick_count(void *block, uint64_t bytes, uint64_t usable)
{
	struct rvp_counters *counters =
	    (void *)RVP_MACHINE_LOCAL_WORD(rvp_local, offsetof(struct rvp_local, quick));

	rvp_machine_add(&counters->alloc_count, 1);
	rvp_machine_add(&counters->alloc_bytes, bytes);
	rvp_machine_add(&counters->alloc_usable_bytes, usable);
	return block;
}

/* The block is mapped by itself: rare for a small one. */
void *rvp_quick_given_mapped(void *block, uint64_t bytes);

static inline void *rvp_quick_given(void *block, uint64_t bytes)
{
	uint64_t word;

	if (__builtin_expect(!block, 0))
		return block;
	word = rvp_word_of(block);
	if (__builtin_expect(word & RVP_WORD_MAPPED, 0))
		return rvp_quick_given_mapped(block, bytes);
	return rvp_quick_count(block, bytes, rvp_word_usable(word));
}

/* Whether the end of this block goes the short way. Not for NULL. */
static inline bool rvp_quick_is_plain(const void *block, uint64_t *word)
{
	*word = rvp_word_of(block);
	return __builtin_expect(!(*word & rvp_word_long_way) && !rvp_blocks_may_hold((uint64_t)block), 1);
}

/* Of a block that is not NULL. */
static inline bool rvp_quick_free(const void *block)
{
	struct rvp_counters *counters;
	uint64_t word;

	if (__builtin_expect(!rvp_machine_take(&rvp_local.frees_left, 1) || !rvp_quick_is_alive(), 0) ||
	    !rvp_quick_is_plain(block, &word))
		return false;
	counters = rvp_local.quick;
	rvp_machine_add(&counters->free_count, 1);
	rvp_machine_add(&counters->free_usable_bytes, rvp_word_usable(word));
	return true;
}

/* A realloc to `bytes`: call the real function, then rvp_quick_moved. */
static inline bool rvp_quick_move(const void *block, uint64_t bytes, uint64_t *word)
{
	return block && bytes && rvp_quick_is_alive() && rvp_local.sample_left > 0 &&
	       rvp_quick_is_plain(block, word) && rvp_quick_alloc(bytes);
}

static inline void *rvp_quick_moved(uint64_t word, void *to, uint64_t bytes)
{
	struct rvp_counters *counters = rvp_local.quick;

	if (__builtin_expect(!to, 0))
		return to;
	rvp_machine_add(&counters->free_count, 1);
	rvp_machine_add(&counters->free_usable_bytes, rvp_word_usable(word));
	return rvp_quick_given(to, bytes);
}

/* Whether as many blocks of this thread as it takes have now confirmed what stands in front of them; for good false
 * once any thread's did not: the allocator is none that we know. For a thread whose short way is closed. */
bool rvp_word_is_confirmed(struct rvp_thread *thread, const void *block, uint64_t usable);

/* On the long way of an alloc, in phase OURS: opens the thread's short way when all is there that it needs. */
void rvp_quick_learn(struct rvp_thread *thread, const void *block, uint64_t usable);

/* Bytes until the next sample, wherever they are counted down. */
static inline int64_t *rvp_quick_sample_left(struct rvp_thread *thread)
{
	return rvp_local.is_quick ? &rvp_local.sample_left : &thread->sample_left;
}

/* While code of ours runs in the program's interpreter (the adapter's) no sample falls into this thread's blocks: its
 * bytes are not counted down. A block that is given out meanwhile is counted and never recorded, whenever it is freed;
 * what is due of large ones is recorded as ever. Gives what resume is to be called with, by the same thread. */
int64_t rvp_quick_pause(void);
void rvp_quick_resume(int64_t left);

/* In a child by fork, whose thread this is. */
void rvp_quick_leave_parent(void);

#endif
