/* SPDX-License-Identifier: MIT */
/* events.c: turns an alloc or a free into its record. See events.h.
 *
 * The record's stamp is taken after the real malloc and before the real free, so two threads' events of one
 * address are stamped in the order in which the address changed hands.
 */
#include "preload/events.h"

#include "preload/blocks.h"
#include "preload/count.h"
#include "preload/emit.h"
#include "preload/folder.h"
#include "preload/folds.h"
#include "preload/own.h"
#include "preload/stack_room.h"
#include "preload/walk.h"

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

static bool is_folded(void)
{
	return atomic_load_explicit(&rvp_process.tree->folded, memory_order_relaxed);
}

/* In sampled mode a block's end is recorded when its address is in the table; without a place there the block
 * itself is not recorded either: it would never end. */
static bool remember(uint64_t address)
{
	if (rvp_is_full_mode() || rvp_blocks_insert(address))
		return true;
	rvp_lose(RVP_LOSS_BLOCK_TABLE, 1);
	return false;
}

void rvp_event_alloc(struct rvp_thread *thread, enum rvp_kind kind, void *block, uint64_t bytes,
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

bool rvp_event_free(struct rvp_thread *thread, void *block, enum rvp_family family)
{
	uint64_t stamp;

	if (rvp_is_full_mode() ? is_folded() : !rvp_blocks_remove((uint64_t)block))
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

void rvp_event_unfree(struct rvp_thread *thread, void *block)
{
	uint64_t stamp = rvp_event_stamp(thread);

	if (!rvp_is_full_mode())
		rvp_blocks_insert((uint64_t)block);
	RVP_EMIT(thread, UNFREE, 0, .stamp = stamp, .address = (uint64_t)block);
}

/* `kind` is stored last: the reader skips an entry with
 * 0. */
void rvp_event_defer(enum rvp_kind kind, void *block, uint64_t bytes, enum rvp_family family)
{
	struct rvp_slot *slot = rvp_local.thread ? rvp_local.thread->slot : NULL;
	uint64_t number;

	if (!rvp_is_full_mode())
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
