/* SPDX-License-Identifier: MIT */
/* events_plain.h: the records of full mode that are nearly all: no stamp is due, the slot has room, and the block is less
 * than RVP_EVENT_LARGE_BYTES. For events.c, and for hooks that have them inline (full.h).
 *
 * A stamp is due for each event where a log has met its bound, and in sampled mode, so these need not be asked for here.
 */
#ifndef RVP_EVENTS_PLAIN_H
#define RVP_EVENTS_PLAIN_H

#include "preload/order.h"
#include "record/event_encode.h"

enum {
	RVP_EVENT_LARGE_BYTES = 4096,
	RVP_EVENT_LENGTHS_END = 1 + RVP_SLOT_BYTES - RVP_SLOT_PAYLOAD_AT - RVP_COMPACT_ROOM_BYTES
};

/* Whether the processor has lzcnt; known from the constructor on. */
extern bool rvp_events_have_lzcnt __attribute__((visibility("hidden")));

/* Where the next stamp is due, of an event that takes one now: in so many bytes, and where the slot may have no room for a
 * compact event, so that this need not be asked for by itself. */
static inline uint64_t rvp_event_next_stamp(struct rvp_slot *slot)
{
	uint64_t stamp_at = rvp_slot_length(slot) + RVP_ORDER_EVERY_BYTES;

	return stamp_at < RVP_EVENT_LENGTHS_END ? stamp_at : RVP_EVENT_LENGTHS_END;
}

/* Of an event on a block that is not large, by a thread whose slot has this word. */
static inline __attribute__((always_inline)) bool rvp_event_is_plain(const struct rvp_thread *thread, uint64_t address,
								     uint64_t word)
{
	return rvp_order_is_known(&thread->order, address, (uint32_t)word);
}

static inline __attribute__((always_inline)) uint64_t rvp_event_word(const struct rvp_thread *thread)
{
	return atomic_load_explicit(&thread->slot->word, memory_order_relaxed);
}

/* Appends what `put`, of `at`, writes there, to the slot of which `word` is; it returns how many bytes. */
#define RVP_EVENT_APPEND(thread, word, put)                                                    \
	do {                                                                                   \
		struct rvp_slot *slot_ = (thread)->slot;                                       \
		uint8_t *at = rvp_slot_payload(slot_) + (uint32_t)(word);                      \
		uint64_t bytes_ = (uint64_t)(put);                                             \
		slot_->record_count++;                                                         \
		atomic_store_explicit(&slot_->word, (word) + bytes_, memory_order_release);    \
	} while (0)

/* A plain event of what rvp_put_plain_alloc and its kin can write. */
static inline __attribute__((always_inline)) void rvp_event_put_plain_free(struct rvp_thread *thread, uint64_t word,
									   uint64_t address, enum rvp_family family)
{
	RVP_EVENT_APPEND(thread, word, rvp_put_plain_free(at, &thread->delta, address, family));
}

static inline __attribute__((always_inline)) void rvp_event_put_plain_alloc(struct rvp_thread *thread, uint64_t word,
									    uint64_t address, uint64_t bytes,
									    uint32_t stack, uint32_t python,
									    enum rvp_family family)
{
	if (__builtin_expect(python == thread->delta.event_python, 1))
		RVP_EVENT_APPEND(thread, word, rvp_put_plain_alloc(at, &thread->delta, address, bytes, stack, family));
	else
		RVP_EVENT_APPEND(thread, word, rvp_put_event_alloc(at, &thread->delta, NULL, address, bytes, stack,
								   python, family, true) - at);
}

#endif
