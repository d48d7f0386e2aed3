/* SPDX-License-Identifier: MIT */
/* recorder.c: counts every alloc and free, and says which of them get a record (events.c). See recorder.h.
 *
 * Order of steps, so that a kill at any instruction leaves no more than the event in flight:
 *   alloc: real call | counters | record | return to the program
 *   free:  counters | record | real call
 */
#include "preload/recorder.h"

#include "preload/blocks.h"
#include "preload/cost.h"
#include "preload/count.h"
#include "preload/device_own.h"
#include "preload/full.h"
#include "preload/own.h"
#include "preload/pause.h"
#include "preload/quick.h"
#include "preload/rate.h"
#include "preload/real.h"
#include "preload/sample.h"
#include "preload/snapshot.h"
#include "preload/writes.h"
#include "preload/writes_pages.h"
#include "preload/writes_places.h"

/* Which record the block gets; 0: none. */
static enum rvp_kind wanted_record(struct rvp_thread *thread, uint64_t bytes, enum rvp_family family)
{
	if (rvp_is_full_mode())
		return RVP_ALLOC;
	if (bytes >= rvp_process.threshold_bytes ? rvp_rate_takes(&thread->large)
						 : rvp_family_is_aligned(family) && rvp_rate_takes(&thread->aligned))
		return RVP_ALLOC;
	return rvp_sample_hits(thread, rvp_quick_sample_left(thread), bytes, rvp_process.sample_bytes) ? RVP_SAMPLE : 0;
}

/* Now and then a thread looks whether a snapshot is due. */
static void moved(struct rvp_thread *thread, uint64_t bytes)
{
	thread->moved_bytes += bytes;
	if (__builtin_expect(thread->moved_bytes >= RVP_LOOK_EVERY_BYTES || thread->events_left == 0, 0))
		rvp_snapshot_look(thread);
	thread->events_left--;
}

/* Full mode has no samples: its countdown of bytes, while a window is closed, is of looks alone. */
static bool is_counted_down(void)
{
	return rvp_local.frees_left <= 0 || (rvp_is_full_mode() && rvp_local.sample_left < RVP_QUICK_CLOSED_BYTES);
}

/* The same of a thread whose other events went the short way: each sample means much, and so does an event whose
 * countdown ended. */
static void moved_quickly(struct rvp_thread *thread, bool is_sample)
{
	if (!rvp_local.is_quick || (!is_sample && !is_counted_down()))
		return;
	rvp_local.frees_left = RVP_LOOK_EVERY_EVENTS;
	if (rvp_is_full_mode())
		rvp_local.sample_left = RVP_LOOK_EVERY_BYTES;
	thread->events_left = 0;
}

/* Around all of an event's; as rvp_cost_begin and rvp_cost_end. */
static inline uint64_t begin(struct rvp_thread *thread)
{
	rvp_full_begin_long(thread);
	return rvp_cost_begin(thread);
}

static inline void end(struct rvp_thread *thread, uint64_t bytes, uint64_t cost)
{
	if (cost)
		rvp_full_catch_up(thread);
	moved(thread, bytes);
	rvp_cost_end(thread, cost);
	rvp_full_end_long(thread);
}

void rvp_on_alloc(struct rvp_thread *thread, void *block, uint64_t bytes, enum rvp_family family,
		  struct rvp_caller caller)
{
	uint64_t cost = begin(thread);
	enum rvp_kind kind = wanted_record(thread, bytes, family);
	uint64_t usable = rvp_real.malloc_usable_size(block);

	rvp_count_alloc(bytes, usable);
	rvp_quick_learn(thread, block, usable);
	rvp_full_learn(thread, block, usable);
	if (kind && !(rvp_pause_matters() && rvp_pause_takes(block)))
		rvp_event_alloc(thread, kind, block, bytes, family, caller);
	if (__builtin_expect(bytes >= rvp_writes_floor, 0))
		rvp_places_put((struct rvp_written_place){(uint64_t)block, bytes, 0});
	moved_quickly(thread, kind == RVP_SAMPLE);
	end(thread, bytes, cost);
}

static void leave_place(uint64_t address)
{
	struct rvp_written_place place = rvp_places_take(address);

	if (place.number)
		rvp_followed_gone(place.number - 1);
}

void rvp_on_free(struct rvp_thread *thread, void *block, uint64_t usable, enum rvp_family family)
{
	uint64_t cost = begin(thread);

	if (__builtin_expect(usable >= RVP_FALL_BYTES, 0))
		rvp_snapshot_before_fall(thread, usable);
	rvp_count_free(usable);
	if (__builtin_expect(usable >= rvp_writes_floor, 0))
		leave_place((uint64_t)block);
	if (!(rvp_pause_matters() && rvp_pause_took(block)))
		rvp_event_free(thread, block, usable, family);
	moved_quickly(thread, false);
	end(thread, usable, cost);
}

struct rvp_move rvp_on_move_begin(struct rvp_thread *thread, void *block, uint64_t usable)
{
	struct rvp_move move = {.block = block, .usable = usable};

	if (__builtin_expect(usable >= RVP_FALL_BYTES, 0))
		rvp_snapshot_before_fall(thread, usable);
	move.passed_over = rvp_pause_matters() && rvp_pause_took(block);
	move.recorded = !move.passed_over && rvp_event_free(thread, block, usable, RVP_FAMILY_REALLOC);
	if (__builtin_expect(usable >= rvp_writes_floor, 0))
		move.place = rvp_places_take((uint64_t)block);
	return move;
}

/* A followed block goes on at its new place. */
static void move_place(uint32_t number, uint64_t to, uint64_t bytes)
{
	struct rvp_written_place place = rvp_places_take(to);

	if (!place.address) {
		rvp_followed_gone(number - 1);
		return;
	}
	place.number = number;
	rvp_followed_moved(number - 1, to, bytes);
	rvp_places_put(place);
}

void rvp_on_move_done(struct rvp_thread *thread, struct rvp_move move, void *to, uint64_t bytes,
		      enum rvp_family family, struct rvp_caller caller)
{
	rvp_count_free(move.usable);
	if (to)
		rvp_on_alloc(thread, to, bytes, family, caller);
	if (__builtin_expect(move.place.number != 0, 0))
		move_place(move.place.number, (uint64_t)to, bytes);
}

void rvp_on_move_failed(struct rvp_thread *thread, struct rvp_move move)
{
	if (move.place.address)
		rvp_places_put(move.place);
	if (move.passed_over)
		rvp_pause_takes_again(move.block);
	if (move.recorded)
		rvp_event_unfree(thread, move.block);
}

/* The allocator's own inner call, which the outer one stands for; a tail call of its returns into our hook.
 */
static bool is_inner_call(uint64_t pc)
{
	return rvp_local.phase == RVP_REAL &&
	       ((pc >= rvp_real.allocator_low && pc < rvp_real.allocator_high) ||
		rvp_real_is_our_code((const void *)pc));
}

enum besides { NOT_OURS, NO_THREAD, NESTED };

static enum besides why_beside(uint64_t pc)
{
	uint32_t state = atomic_load(&rvp_process.state);

	if (state == RVP_UNBORN && !rvp_real_is_looking())
		atomic_fetch_add_explicit(&rvp_process.early_count, 1, memory_order_relaxed);
	if (state != RVP_READY || !atomic_load_explicit(rvp_alive, memory_order_relaxed))
		return NOT_OURS;
	if (rvp_local.phase == RVP_OUTSIDE)
		return NO_THREAD;
	return is_inner_call(pc) ? NOT_OURS : NESTED;
}

static void note_beside(enum besides why, enum rvp_kind kind, void *block, uint64_t bytes,
			enum rvp_family family)
{
	if (why == NESTED) {
		rvp_lose(RVP_LOSS_REENTRANT, 1);
		rvp_event_defer(kind, block, bytes, family);
	} else if (rvp_is_full_mode()) {
		rvp_lose(atomic_load(&rvp_process.locked) ? RVP_LOSS_SECCOMP : RVP_LOSS_NO_BUFFER, 1);
	}
}

void rvp_beside_alloc(void *block, uint64_t bytes, enum rvp_family family, uint64_t pc)
{
	enum besides why;

	if (__builtin_expect(rvp_local.phase == RVP_OWN, 0)) {
		rvp_own_alloc(block);
		return;
	}
	why = why_beside(pc);
	if (why == NOT_OURS)
		return;
	rvp_count_alloc(bytes, rvp_real.malloc_usable_size(block));
	if (rvp_process.is_windowed && atomic_load(&rvp_process.entry->held))
		return;
	note_beside(why, RVP_ALLOC, block, bytes, family);
}

void rvp_beside_free(void *block, uint64_t usable, enum rvp_family family, uint64_t pc)
{
	enum besides why;
	bool was_recorded;

	if (__builtin_expect(rvp_local.phase == RVP_OWN, 0)) {
		rvp_own_free(block, usable, family);
		return;
	}
	why = why_beside(pc);
	if (why == NOT_OURS)
		return;
	rvp_count_free(usable);
	was_recorded = rvp_table_is_of_recorded() && rvp_blocks_remove((uint64_t)block);
	if (was_recorded && !rvp_is_full_mode() && why == NESTED)
		rvp_lose(RVP_LOSS_NO_BUFFER, 1); /* a recorded block whose end no record tells */
	if (rvp_process.is_windowed && !was_recorded)
		return;
	note_beside(why, RVP_FREE, block, usable, family);
}
