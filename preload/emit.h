/* SPDX-License-Identifier: MIT */
/* emit.h: appends a record to the calling thread's slot. Only between rvp_enter and rvp_leave (H2).
 *
 *     RVP_EMIT(thread, NODE, 0, .node = n, .parent = p, .pc = pc);    texts: bytes of its text fields together
 *
 * Never fails as far as the caller sees: when the record cannot be kept (no slot, log closed) it is dropped and
 * counted by reason. After it returns true the record outlives the process.
 */
#ifndef RVP_EMIT_H
#define RVP_EMIT_H

#include "preload/thread.h"
#include "record/encode.h"

/* Room for `bytes`, flushing the slot if need be; NULL: dropped, and counted. flush.c */
uint8_t *rvp_emit_flush(struct rvp_thread *thread, uint64_t bytes);

static inline uint8_t *rvp_emit_room(struct rvp_thread *thread, uint64_t bytes)
{
	uint8_t *room = thread->slot ? rvp_slot_room(thread->slot, RVP_SLOT_BYTES, bytes) : 0;

	return __builtin_expect(room != 0, 1) ? room : rvp_emit_flush(thread, bytes);
}

static inline void rvp_emit_commit(struct rvp_thread *thread, const uint8_t *end)
{
	rvp_slot_commit(thread->slot, end);
	thread->other_records++;
}

/* The values are computed before the room is looked for: computing a stamp can itself emit (deferred events). */
#define RVP_EMIT(thread, ID, texts, ...)                                                                     \
	({                                                                                                   \
		const struct rvp_record_##ID rvp_record_ = {__VA_ARGS__};                                    \
		uint8_t *rvp_at_ = rvp_emit_room(thread, rvp_record_max_bytes(texts));                       \
		if (rvp_at_)                                                                                 \
			rvp_emit_commit(thread, rvp_put_##ID(rvp_at_, &(thread)->delta, &rvp_record_));      \
		rvp_at_ != 0;                                                                                \
	})

#endif
