/* SPDX-License-Identifier: MIT */
/* quick.c: when a thread's short way opens. See quick.h. */
#include "preload/quick.h"

#include "preload/cost.h"
#include "preload/folder.h"
#include "preload/snapshot.h"

enum { AGREED = 8 }; /* blocks of a thread whose size word says what malloc_usable_size says */

/* More than a thread can ask for meanwhile. */
static const int64_t PAUSED_BYTES = INT64_MAX / 2;

uint64_t rvp_quick_below = RVP_THRESHOLD_BYTES;
uint64_t rvp_word_long_way = RVP_WORD_MAPPED | ~(uint64_t)(RVP_THRESHOLD_BYTES - 1);

/* Two words: a block between the two sizes that a thread meets in the middle goes either way. */
void rvp_quick_set_closed(bool is_closed)
{
	uint64_t below = is_closed ? RVP_QUICK_CLOSED_BYTES : RVP_THRESHOLD_BYTES;

	__atomic_store_n(&rvp_quick_below, below, __ATOMIC_RELAXED);
	__atomic_store_n(&rvp_word_long_way, RVP_WORD_MAPPED | ~(below - 1), __ATOMIC_RELAXED);
}

/* Some block's did not: the allocator is none that we know. */
static atomic_bool is_unknown;
static struct rvp_counters nobodys;

static bool is_possible(void)
{
	return (rvp_process.options.mode == RVP_MODE_SAMPLED || rvp_process.is_windowed) && !rvp_process.options.writes &&
	       rvp_real.is_libcs && (rvp_local.counters || rvp_process.is_windowed);
}

/* Where the thread counts. While a window is closed no record gives it a slot. */
static bool has_place(struct rvp_thread *thread)
{
	return rvp_local.counters ||
	       (rvp_process.is_windowed && rvp_folder_give_slot(thread) && rvp_local.counters != NULL);
}

bool rvp_word_is_confirmed(struct rvp_thread *thread, const void *block, uint64_t usable)
{
	uint64_t word;

	if (atomic_load_explicit(&is_unknown, memory_order_relaxed))
		return false;
	word = rvp_word_of(block);
	if (word & RVP_WORD_MAPPED)
		return false;
	if (rvp_word_usable(word) == usable)
		return ++thread->agreed_count >= AGREED;
	atomic_store(&is_unknown, true);
	return false;
}

static void open_way(struct rvp_thread *thread)
{
	rvp_cost_begin_short(thread);
	rvp_local.quick = rvp_local.counters;
	rvp_local.is_quick = true;
	rvp_local.frees_left = RVP_LOOK_EVERY_EVENTS;
	rvp_local.sample_left = rvp_process.options.mode == RVP_MODE_SAMPLED ? thread->sample_left : RVP_LOOK_EVERY_BYTES;
}

void rvp_quick_learn(struct rvp_thread *thread, const void *block, uint64_t usable)
{
	if (__builtin_expect(rvp_local.is_quick || !is_possible(), 0))
		return;
	if (rvp_word_is_confirmed(thread, block, usable) && has_place(thread))
		open_way(thread);
}

void *rvp_quick_given_mapped(void *block, uint64_t bytes)
{
	return rvp_quick_count(block, bytes, rvp_real.malloc_usable_size(block));
}

int64_t rvp_quick_pause(void)
{
	int64_t left;

	if (!rvp_local.thread)
		return 0;
	left = *rvp_quick_sample_left(rvp_local.thread);
	*rvp_quick_sample_left(rvp_local.thread) = PAUSED_BYTES;
	return left;
}

/* The short way may have opened meanwhile: then both count from PAUSED_BYTES. */
void rvp_quick_resume(int64_t left)
{
	if (!rvp_local.thread)
		return;
	rvp_local.thread->sample_left = left;
	*rvp_quick_sample_left(rvp_local.thread) = left;
}

void rvp_quick_leave_parent(void)
{
	rvp_local.is_quick = false;
	rvp_local.sample_left = 0;
	rvp_local.frees_left = 0;
	rvp_local.quick = &nobodys;
}
