/* SPDX-License-Identifier: MIT */
/* event_decode.h: reads runs of compact events (event.h), many at a call: the fast way through a chunk.
 *
 *     decoder = rvp_decoder_over(payload, length);
 *     for (;;) {
 *             count = rvp_decode_events(&decoder, events, room);     0: what comes next is no compact event
 *             if (!count && !rvp_decode_next(&decoder, &record))     any record, a compact event too
 *                     break;                                         the end, or decoder.broken
 *     }
 *
 * Invariants
 *   (E1) No read leaves [decoder->at, decoder->end): near the end events are read from a copy with zeros
 * behind it. (E2) An event is handed out whole or not at all; `at` and `delta` are then as before it. (E3)
 * Nothing that is read is trusted: lengths are bounded by their bits.
 */
#ifndef RVP_EVENT_DECODE_H
#define RVP_EVENT_DECODE_H

#include "record/decode.h"
#include "record/event.h"

#include <stddef.h>
#include <string.h>

static const uint64_t rvp_byte_masks[9] = {
    0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, 0xffffffffffffffff,
};

static inline uint64_t rvp_get_bytes(const uint8_t *at, unsigned length)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return value & rvp_byte_masks[length];
}

static inline uint32_t rvp_get_node(const uint8_t *at, unsigned length)
{
	uint32_t zigzag = (uint32_t)rvp_get_bytes(at, length);

	return zigzag >> 1 ^ -(zigzag & 1);
}

static inline uint64_t rvp_get_event_address(const uint8_t *at, unsigned length)
{
	uint64_t value = rvp_get_bytes(at, length);

	return length == 8 ? value : (value >> 1 ^ -(value & 1)) << 3;
}

static inline const uint8_t *rvp_get_event_stamp(const uint8_t *at, uint64_t *last)
{
	unsigned length = (*at & 7u) + 1;
	uint64_t zigzag = rvp_get_bytes(at, length) >> 3;

	*last += zigzag >> 1 ^ -(zigzag & 1);
	return at + length;
}

/* One event at `at`, from where RVP_COMPACT_ROOM_BYTES can be read; NULL: there is none, and `delta` is as it
 * was. */
static inline __attribute__((always_inline)) const uint8_t *rvp_get_event(const uint8_t *at,
									  struct rvp_delta *delta,
									  struct rvp_compact_event *event)
{
	unsigned head = *at++, shape = 0, address_length = (head & 7) + 1, code = head >> 3 & 3;

	if (head & RVP_COMPACT_ALLOC)
		shape = *at++;
	if (head < RVP_COMPACT_MARK || (shape >> 2 & 7) > 4 || shape >> 5 > 4)
		return NULL;
	event->is_alloc = (head & RVP_COMPACT_ALLOC) != 0;
	event->has_stamp = (head & RVP_COMPACT_STAMP) != 0;
	event->family = event->is_alloc ? rvp_alloc_families[code % 3] : rvp_free_families[code % 3];
	if (__builtin_expect(code == RVP_COMPACT_OTHER_FAMILY, 0))
		event->family = *at++;
	if (event->has_stamp)
		at = rvp_get_event_stamp(at, &delta->stamp);
	event->stamp = delta->stamp;
	uint64_t *last = event->is_alloc ? &delta->given : &delta->freed;

	event->address = *last += rvp_get_event_address(at, address_length);
	at += address_length;
	event->bytes = event->stack = event->python = 0;
	if (!event->is_alloc)
		return at;
	event->bytes = rvp_get_bytes(at, 1u << (shape & 3));
	at += 1u << (shape & 3);
	event->stack = delta->event_stack += rvp_get_node(at, shape >> 2 & 7);
	at += shape >> 2 & 7;
	event->python = delta->event_python += rvp_get_node(at, shape >> 5);
	return at + (shape >> 5);
}

/* The event at decoder->at where less than RVP_COMPACT_ROOM_BYTES are left. */
static inline bool rvp_decode_last_event(struct rvp_decoder *decoder, struct rvp_compact_event *event)
{
	uint8_t copy[2 * RVP_COMPACT_ROOM_BYTES] = {0};
	size_t left = (size_t)(decoder->end - decoder->at);
	struct rvp_delta delta = decoder->delta;
	const uint8_t *end;

	memcpy(copy, decoder->at, left < RVP_COMPACT_ROOM_BYTES ? left : RVP_COMPACT_ROOM_BYTES);
	end = rvp_get_event(copy, &delta, event);
	if (!end || (size_t)(end - copy) > left)
		return false;
	decoder->at += end - copy;
	decoder->delta = delta;
	return true;
}

/* The next event. False: no compact event is next, or no whole one. */
static inline bool rvp_decode_event(struct rvp_decoder *decoder, struct rvp_compact_event *event)
{
	const uint8_t *end;

	if (decoder->at == decoder->end || *decoder->at < RVP_COMPACT_MARK)
		return false;
	if (decoder->end - decoder->at < RVP_COMPACT_ROOM_BYTES)
		return rvp_decode_last_event(decoder, event);
	end = rvp_get_event(decoder->at, &decoder->delta, event);
	decoder->at = end ? end : decoder->at;
	return end;
}

/* At most `room` events of the run that begins at decoder->at; how many. */
static inline size_t rvp_decode_events(struct rvp_decoder *decoder, struct rvp_compact_event *events,
				       size_t room)
{
	struct rvp_delta delta = decoder->delta;
	const uint8_t *at = decoder->at;
	size_t count = 0;

	while (count < room && decoder->end - at >= RVP_COMPACT_ROOM_BYTES && *at >= RVP_COMPACT_MARK) {
		const uint8_t *end = rvp_get_event(at, &delta, &events[count]);

		if (!end)
			break;
		at = end;
		count++;
	}
	decoder->at = at;
	decoder->delta = delta;
	while (count < room && decoder->end - decoder->at < RVP_COMPACT_ROOM_BYTES &&
	       rvp_decode_event(decoder, &events[count]))
		count++;
	return count;
}

#endif
