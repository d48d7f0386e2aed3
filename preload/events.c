/* SPDX-License-Identifier: MIT */
/* events.c: turns an alloc or a free into its record. See events.h.
 *
 * Steps of an event: walk | room in the slot | order (order.h) | bytes | commit. Room comes before order:
 * what a flush records by itself is stamped then, and an event must not stand behind a stamp that is later
 * than its own.
 *
 * In full mode most events have no stamp. Those of blocks of RVP_EVENT_LARGE_BYTES and more have one always, so that
 * their times are their own; in sampled mode all have, since each stands for many that are not recorded.
 */
#include "preload/events.h"

#include "preload/blocks.h"
#include "preload/count.h"
#include "preload/emit.h"
#include "preload/events_plain.h"
#include "preload/folder.h"
#include "preload/folds.h"
#include "preload/own.h"
#include "preload/stack_room.h"
#include "preload/walk.h"

enum { OTHER_ROOM_BYTES = 512 };

bool rvp_events_have_lzcnt;

void rvp_events_start(void)
{
	rvp_events_have_lzcnt = rvp_machine_has_lzcnt();
}

static bool has_deferred(const struct rvp_thread *thread)
{
	return __builtin_expect(
	    atomic_load_explicit(&thread->slot->deferred_count, memory_order_relaxed) != 0, 0);
}

uint64_t rvp_event_stamp(struct rvp_thread *thread)
{
	uint64_t stamp;

	/* A handler's event that came before the stamp goes into the log before it. */
	do {
		if (thread->slot && has_deferred(thread))
			rvp_drain_deferred(thread);
		if (thread->slot)
			rvp_emit_room(thread, OTHER_ROOM_BYTES);
		stamp = rvp_stamp();
	} while (thread->slot && has_deferred(thread));
	rvp_order_mark();
	thread->order.stamp_at = 0;
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

static bool is_folded(void)
{
	return atomic_load_explicit(&rvp_process.tree->folded, memory_order_relaxed);
}

/* In sampled mode, and in a windowed process, a block's end is recorded when its address is in the table; without a place there the block
 * itself is not recorded either: it would never end. */
static bool remember(uint64_t address)
{
	if (!rvp_table_is_of_recorded() || rvp_blocks_insert(address))
		return true;
	rvp_lose(RVP_LOSS_BLOCK_TABLE, 1);
	return false;
}

/* Where a record's bytes go, and its stamp; NULL: dropped, and counted. */
static uint8_t *room_and_stamp(struct rvp_thread *thread, uint64_t address, uint64_t *stamp)
{
	uint8_t *at;

	do {
		if (has_deferred(thread))
			rvp_drain_deferred(thread);
		at = rvp_emit_room(thread, RVP_COMPACT_ROOM_BYTES);
		if (!at)
			return NULL;
		*stamp = rvp_order_stamp(&thread->order, address, rvp_event_next_stamp(thread->slot));
	} while (has_deferred(thread));
	if (__builtin_expect(!rvp_is_full_mode() || is_folded(), 0))
		thread->order.stamp_at = 0;
	thread->last_stamp = *stamp;
	return at;
}

static bool has_slot(struct rvp_thread *thread)
{
	if (__builtin_expect(thread->slot != NULL, 1) || rvp_folder_give_slot(thread))
		return true;
	rvp_lose(atomic_load(&rvp_process.locked) ? RVP_LOSS_SECCOMP : RVP_LOSS_NO_BUFFER, 1);
	return false;
}

static void put_alloc_with_stamp(struct rvp_thread *thread, struct rvp_record_ALLOC record,
				 enum rvp_kind kind)
{
	struct rvp_delta *delta = &thread->delta;
	uint8_t *at = room_and_stamp(thread, record.address, &record.stamp);

	if (!at)
		return;
	if (kind == RVP_SAMPLE)
		at = rvp_put_SAMPLE(at, delta,
				    &(struct rvp_record_SAMPLE){record.stamp, record.address, record.bytes,
								record.stack, record.python, record.family});
	else if (!rvp_event_stamp_fits(record.stamp, delta))
		at = rvp_put_ALLOC(at, delta, &record);
	else
		at = rvp_put_event_alloc(at, delta, &record.stamp, record.address, record.bytes,
					 (uint32_t)record.stack, (uint32_t)record.python,
					 (unsigned)record.family, rvp_events_have_lzcnt);
	rvp_slot_commit(thread->slot, at);
}

static __attribute__((noinline)) void alloc_otherwise(struct rvp_thread *thread, enum rvp_kind kind,
						      void *block, uint64_t bytes, enum rvp_family family,
						      struct rvp_path path)
{
	if (is_folded()) {
		rvp_fold(path, bytes, kind == RVP_SAMPLE);
		RVP_COUNT(fold_count, 1);
	} else if (remember((uint64_t)block)) {
		put_alloc_with_stamp(thread,
				     (struct rvp_record_ALLOC){.address = (uint64_t)block,
							       .bytes = bytes,
							       .stack = path.stack,
							       .python = path.python,
							       .family = family},
				     kind);
	}
}

void rvp_event_alloc_of_path(struct rvp_thread *thread, enum rvp_kind kind, void *block, uint64_t bytes,
			     enum rvp_family family, struct rvp_path path)
{
	uint64_t word = rvp_event_word(thread);

	if (bytes >= RVP_EVENT_LARGE_BYTES || rvp_process.is_windowed ||
	    !rvp_event_is_plain(thread, (uint64_t)block, word))
		alloc_otherwise(thread, kind, block, bytes, family, path);
	else
		RVP_EVENT_APPEND(thread, word,
				 rvp_put_event_alloc(at, &thread->delta, NULL, (uint64_t)block, bytes, path.stack,
						     path.python, family, rvp_events_have_lzcnt) -
				     at);
}

void rvp_event_alloc(struct rvp_thread *thread, enum rvp_kind kind, void *block, uint64_t bytes,
		     enum rvp_family family, struct rvp_caller caller)
{
	/* Before the walk, which defines what it finds in the slot. */
	if (has_slot(thread))
		rvp_event_alloc_of_path(thread, kind, block, bytes, family, rvp_event_path(thread, caller));
}

static bool put_free_with_stamp(struct rvp_thread *thread, struct rvp_record_FREE record)
{
	struct rvp_delta *delta = &thread->delta;
	uint8_t *at = room_and_stamp(thread, record.address, &record.stamp);

	if (!at)
		return false;
	if (rvp_event_stamp_fits(record.stamp, delta))
		at = rvp_put_event_free(at, delta, &record.stamp, record.address, (unsigned)record.family,
					rvp_events_have_lzcnt);
	else
		at = rvp_put_FREE(at, delta, &record);
	rvp_slot_commit(thread->slot, at);
	return true;
}

static __attribute__((noinline)) bool free_otherwise(struct rvp_thread *thread, void *block,
						     enum rvp_family family)
{
	if (rvp_table_is_of_recorded() ? !rvp_blocks_remove((uint64_t)block) : is_folded())
		return false;
	return has_slot(thread) &&
	       put_free_with_stamp(thread,
				   (struct rvp_record_FREE){.address = (uint64_t)block, .family = family});
}

bool rvp_event_free(struct rvp_thread *thread, void *block, uint64_t usable, enum rvp_family family)
{
	uint64_t word = thread->slot ? rvp_event_word(thread) : 0;

	if (!thread->slot || usable >= RVP_EVENT_LARGE_BYTES || rvp_process.is_windowed ||
	    !rvp_event_is_plain(thread, (uint64_t)block, word))
		return free_otherwise(thread, block, family);
	RVP_EVENT_APPEND(thread, word, rvp_put_event_free(at, &thread->delta, NULL, (uint64_t)block, family,
							  rvp_events_have_lzcnt) -
					   at);
	return true;
}

void rvp_event_unfree(struct rvp_thread *thread, void *block)
{
	struct rvp_record_UNFREE record = {.address = (uint64_t)block};
	uint8_t *at = room_and_stamp(thread, record.address, &record.stamp);

	if (rvp_table_is_of_recorded())
		rvp_blocks_insert((uint64_t)block);
	if (at)
		rvp_emit_commit(thread, rvp_put_UNFREE(at, &thread->delta, &record));
}

/* `kind` is stored last: the reader skips an entry with
 * 0. */
void rvp_event_defer(enum rvp_kind kind, void *block, uint64_t bytes, enum rvp_family family)
{
	struct rvp_slot *slot = rvp_local.thread ? rvp_local.thread->slot : NULL;
	uint64_t number;

	if (!rvp_is_full_mode() || (kind == RVP_ALLOC && rvp_process.is_windowed && !remember((uint64_t)block)))
		return;
	number = slot ? atomic_fetch_add(&slot->deferred_count, 1) : RVP_DEFERRED_MAX;
	if (number >= RVP_DEFERRED_MAX) {
		rvp_lose(RVP_LOSS_NO_BUFFER, 1);
		return;
	}

	struct rvp_deferred *event = &slot->deferred[number];

	event->stamp = rvp_order_stamp_beside(&rvp_local.thread->order, (uint64_t)block);
	event->address = (uint64_t)block;
	event->bytes = bytes;
	event->family = family;
	__atomic_store_n(&event->kind, kind, __ATOMIC_RELEASE);
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
		thread->other_records--;
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
