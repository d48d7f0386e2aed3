/* SPDX-License-Identifier: MIT */
/* recorder.c: counts every alloc and free, and records those that the mode wants. See recorder.h.
 *
 * Order of steps, so that a kill at any instruction leaves no more than the event in flight:
 *   alloc: real call | counters | record | return to the program
 *   free:  counters | record | real call
 * The record's stamp is taken after the real malloc and before the real free, so two threads' events of one
 * address are stamped in the order in which the address changed hands.
 */
#include "preload/recorder.h"

#include "preload/aligned.h"
#include "preload/blocks.h"
#include "preload/cost.h"
#include "preload/count.h"
#include "preload/emit.h"
#include "preload/folds.h"
#include "preload/folder.h"
#include "preload/own.h"
#include "preload/real.h"
#include "preload/sample.h"
#include "preload/snapshot.h"
#include "preload/stack_room.h"
#include "preload/walk.h"
#include "preload/writes.h"
#include "preload/writes_pages.h"
#include "preload/writes_places.h"

uint64_t rvp_event_stamp(struct rvp_thread *thread)
{
	uint64_t stamp;

	/* A handler's event that came before the stamp goes into the log before it. */
	do {
		if (thread->slot && atomic_load_explicit(&thread->slot->deferred_count, memory_order_relaxed))
			rvp_drain_deferred(thread);
		stamp = rvp_stamp();
	} while (thread->slot && atomic_load_explicit(&thread->slot->deferred_count, memory_order_relaxed));
	thread->last_stamp = stamp;
	return stamp;
}

struct rvp_path rvp_event_path(struct rvp_thread *thread, struct rvp_caller caller)
{
	if (!rvp_stack_has_room(thread)) {
		rvp_lose(RVP_LOSS_SMALL_STACK, 1);
		return (struct rvp_path){0, 0};
	}
	RVP_COUNT(walk_count, 1);
	return rvp_walk(thread, caller);
}

static bool is_full_mode(void)
{
	return rvp_process.options.mode == RVP_MODE_FULL;
}

static bool is_folded(void)
{
	return atomic_load_explicit(&rvp_process.tree->folded, memory_order_relaxed);
}

/* Which record the block gets; 0: none. */
static enum rvp_kind wanted_record(struct rvp_thread *thread, uint64_t bytes, enum rvp_family family)
{
	if (is_full_mode() || bytes >= rvp_process.threshold_bytes)
		return RVP_ALLOC;
	if (rvp_family_is_aligned(family) && rvp_aligned_is_wanted(thread))
		return RVP_ALLOC;
	return rvp_sample_hits(thread, bytes, rvp_process.sample_bytes) ? RVP_SAMPLE : 0;
}

/* In sampled mode a block's end is recorded when its address is in the table; without a place there the block
 * itself is not recorded either: it would never end. */
static bool remember(uint64_t address)
{
	if (is_full_mode() || rvp_blocks_insert(address))
		return true;
	rvp_lose(RVP_LOSS_BLOCK_TABLE, 1);
	return false;
}

static void record_alloc(struct rvp_thread *thread, enum rvp_kind kind, void *block, uint64_t bytes,
			 enum rvp_family family, struct rvp_caller caller)
{
	struct rvp_path path;
	uint64_t stamp;
	bool kept;

	if (!thread->slot && !rvp_folder_give_slot(thread)) {
		rvp_lose(atomic_load(&rvp_process.locked) ? RVP_LOSS_SECCOMP : RVP_LOSS_NO_BUFFER, 1);
		return;
	}
	stamp = rvp_event_stamp(thread);
	path = rvp_event_path(thread, caller);
	if (is_folded()) {
		rvp_fold(path, bytes, kind == RVP_SAMPLE);
		RVP_COUNT(fold_count, 1);
		return;
	}
	if (!remember((uint64_t)block))
		return;
	if (kind == RVP_ALLOC)
		kept = RVP_EMIT(thread, ALLOC, 0, .stamp = stamp, .address = (uint64_t)block, .bytes = bytes,
				.stack = path.stack, .python = path.python, .family = family);
	else
		kept = RVP_EMIT(thread, SAMPLE, 0, .stamp = stamp, .address = (uint64_t)block, .bytes = bytes,
				.stack = path.stack, .python = path.python, .family = family);
	if (kept)
		RVP_COUNT(recorded_count, 1);
}

/* True when a FREE record was written. */
static bool record_free(struct rvp_thread *thread, void *block, enum rvp_family family)
{
	uint64_t stamp;

	if (is_full_mode() ? is_folded() : !rvp_blocks_remove((uint64_t)block))
		return false;
	if (!thread->slot && !rvp_folder_give_slot(thread)) {
		rvp_lose(atomic_load(&rvp_process.locked) ? RVP_LOSS_SECCOMP : RVP_LOSS_NO_BUFFER, 1);
		return false;
	}
	stamp = rvp_event_stamp(thread);
	if (!RVP_EMIT(thread, FREE, 0, .stamp = stamp, .address = (uint64_t)block, .family = family))
		return false;
	RVP_COUNT(recorded_count, 1);
	return true;
}

/* Now and then a thread looks whether a snapshot is due. */
static void moved(struct rvp_thread *thread, uint64_t bytes)
{
	thread->moved_bytes += bytes;
	if (__builtin_expect(thread->moved_bytes >= RVP_LOOK_EVERY_BYTES || thread->events_left == 0, 0))
		rvp_snapshot_look(thread);
	thread->events_left--;
}

static void count_alloc(uint64_t bytes, uint64_t usable)
{
	RVP_COUNT(alloc_count, 1);
	RVP_COUNT(alloc_bytes, bytes);
	RVP_COUNT(alloc_usable_bytes, usable);
}

static void count_free(uint64_t usable)
{
	RVP_COUNT(free_count, 1);
	RVP_COUNT(free_usable_bytes, usable);
}

void rvp_on_alloc(struct rvp_thread *thread, void *block, uint64_t bytes, enum rvp_family family,
		  struct rvp_caller caller)
{
	uint64_t cost = rvp_cost_begin(thread);
	enum rvp_kind kind = wanted_record(thread, bytes, family);

	count_alloc(bytes, rvp_real.malloc_usable_size(block));
	if (kind)
		record_alloc(thread, kind, block, bytes, family, caller);
	if (__builtin_expect(bytes >= rvp_writes_floor, 0))
		rvp_places_put((struct rvp_written_place){(uint64_t)block, bytes, 0});
	moved(thread, bytes);
	rvp_cost_end(cost);
}

static void leave_place(uint64_t address)
{
	struct rvp_written_place place = rvp_places_take(address);

	if (place.number)
		rvp_followed_gone(place.number - 1);
}

void rvp_on_free(struct rvp_thread *thread, void *block, uint64_t usable, enum rvp_family family)
{
	uint64_t cost = rvp_cost_begin(thread);

	count_free(usable);
	if (__builtin_expect(usable >= rvp_writes_floor, 0))
		leave_place((uint64_t)block);
	record_free(thread, block, family);
	moved(thread, usable);
	rvp_cost_end(cost);
}

struct rvp_move rvp_on_move_begin(struct rvp_thread *thread, void *block, uint64_t usable)
{
	struct rvp_move move = {.block = block, .usable = usable};

	move.recorded = record_free(thread, block, RVP_FAMILY_REALLOC);
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
	count_free(move.usable);
	if (to)
		rvp_on_alloc(thread, to, bytes, family, caller);
	if (__builtin_expect(move.place.number != 0, 0))
		move_place(move.place.number, (uint64_t)to, bytes);
}

void rvp_on_move_failed(struct rvp_thread *thread, struct rvp_move move)
{
	uint64_t stamp;

	if (move.place.address)
		rvp_places_put(move.place);
	if (!move.recorded)
		return;
	stamp = rvp_event_stamp(thread);
	if (!is_full_mode())
		rvp_blocks_insert((uint64_t)move.block);
	RVP_EMIT(thread, UNFREE, 0, .stamp = stamp, .address = (uint64_t)move.block);
}

/* The allocator's own inner call, which the outer one stands for; a tail call of its returns into our hook.
 */
static bool is_inner_call(uint64_t pc)
{
	return rvp_local.phase == RVP_REAL &&
	       ((pc >= rvp_real.allocator_low && pc < rvp_real.allocator_high) ||
		rvp_real_is_our_code((const void *)pc));
}

/* Leaves the event where the interrupted hook finds it. `kind` is stored last: the reader skips an entry with
 * 0. */
static void defer(enum rvp_kind kind, void *block, uint64_t bytes, enum rvp_family family)
{
	struct rvp_slot *slot = rvp_local.thread ? rvp_local.thread->slot : NULL;
	uint64_t number;

	if (!is_full_mode())
		return;
	number = slot ? atomic_fetch_add(&slot->deferred_count, 1) : RVP_DEFERRED_MAX;
	if (number >= RVP_DEFERRED_MAX) {
		rvp_lose(RVP_LOSS_NO_BUFFER, 1);
		return;
	}

	struct rvp_deferred *event = &slot->deferred[number];

	event->stamp = rvp_stamp();
	event->address = (uint64_t)block;
	event->bytes = bytes;
	event->family = family;
	__atomic_store_n(&event->kind, kind, __ATOMIC_RELEASE);
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
		defer(kind, block, bytes, family);
	} else if (is_full_mode()) {
		rvp_lose(atomic_load(&rvp_process.locked) ? RVP_LOSS_SECCOMP : RVP_LOSS_NO_BUFFER, 1);
	}
}

void rvp_beside_alloc(void *block, uint64_t bytes, enum rvp_family family, uint64_t pc)
{
	enum besides why = why_beside(pc);

	if (why == NOT_OURS)
		return;
	count_alloc(bytes, rvp_real.malloc_usable_size(block));
	note_beside(why, RVP_ALLOC, block, bytes, family);
}

void rvp_beside_free(void *block, uint64_t usable, enum rvp_family family, uint64_t pc)
{
	enum besides why = why_beside(pc);

	if (why == NOT_OURS)
		return;
	count_free(usable);
	if (!is_full_mode() && rvp_blocks_remove((uint64_t)block) && why == NESTED)
		rvp_lose(RVP_LOSS_NO_BUFFER, 1); /* a recorded block whose end no record tells */
	note_beside(why, RVP_FREE, block, usable, family);
}

static void emit_deferred(struct rvp_thread *thread, const struct rvp_deferred *event)
{
	bool kept;

	if (event->kind == RVP_ALLOC)
		kept = RVP_EMIT(thread, ALLOC, 0, .stamp = event->stamp, .address = event->address,
				.bytes = event->bytes, .family = event->family);
	else
		kept = RVP_EMIT(thread, FREE, 0, .stamp = event->stamp, .address = event->address,
				.family = event->family);
	if (kept)
		RVP_COUNT(recorded_count, 1);
}

void rvp_drain_deferred(struct rvp_thread *thread)
{
	struct rvp_slot *slot = thread->slot;
	uint64_t done = 0, count;

	do {
		count = atomic_load(&slot->deferred_count);
		for (; done < count && done < RVP_DEFERRED_MAX; done++) {
			/* Copied: the flush that this may cause must not find it twice. */
			struct rvp_deferred event = slot->deferred[done];

			if (event.kind)
				emit_deferred(thread, &event);
			slot->deferred[done].kind =
			    0; /* a kill before this: the reader sees it twice, takes it once */
		}
	} while (!atomic_compare_exchange_strong(&slot->deferred_count, &count, 0));
}
