/* SPDX-License-Identifier: MIT */
/* event_skip.h: past runs of compact events (event.h), for who wants to know no more of them than how many
 * there are and from when to when: of each one its length is found and, where it has one, its stamp.
 *
 * Whoever skips gets no more addresses and nodes of this chunk: what they count from is not kept. Stamps it
 * gets, since those of other records count from them. What is skipped is what rvp_decode_event would hand out
 * (tests/unit/check_event.c).
 */
#ifndef RVP_EVENT_SKIP_H
#define RVP_EVENT_SKIP_H

#include "record/event_decode.h"

struct rvp_skipped {
	uint64_t count, first_stamp, last_stamp; /* the least and the greatest; meaningful with a count */
};

#define RVP_SKIP_NODE(length) ((length) > 4 ? 0x80 : (length))
#define RVP_SKIP_BYTES(shape) \
	((1 << ((shape)&3)) + RVP_SKIP_NODE((shape) >> 2 & 7) + RVP_SKIP_NODE((shape) >> 5))
#define RVP_SKIP_BYTE(shape) ((uint8_t)(RVP_SKIP_BYTES(shape) > 0x7f ? 0x80 : RVP_SKIP_BYTES(shape)))
#define RVP_SKIP_4(shape)                                                             \
	RVP_SKIP_BYTE(shape), RVP_SKIP_BYTE((shape) + 1), RVP_SKIP_BYTE((shape) + 2), \
	    RVP_SKIP_BYTE((shape) + 3)
#define RVP_SKIP_16(shape) \
	RVP_SKIP_4(shape), RVP_SKIP_4((shape) + 4), RVP_SKIP_4((shape) + 8), RVP_SKIP_4((shape) + 12)
#define RVP_SKIP_64(shape) \
	RVP_SKIP_16(shape), RVP_SKIP_16((shape) + 16), RVP_SKIP_16((shape) + 32), RVP_SKIP_16((shape) + 48)

/* By byte 1 of an alloc: bytes of its size and nodes; 0x80: no event has such a one. */
static const uint8_t rvp_skip_bytes[256] = {RVP_SKIP_64(0), RVP_SKIP_64(64), RVP_SKIP_64(128),
					    RVP_SKIP_64(192)};

/* Behind the event at `at`, from where RVP_COMPACT_ROOM_BYTES can be read; NULL: there is none. */
static inline __attribute__((always_inline)) const uint8_t *rvp_skip_event(const uint8_t *at, uint64_t *stamp)
{
	unsigned head = *at, is_alloc = head >> 6 & 1, bytes = rvp_skip_bytes[at[1]] & -is_alloc;

	if (head < RVP_COMPACT_MARK || bytes == 0x80)
		return NULL;
	at += 1 + is_alloc + ((head >> 3 & 3) == RVP_COMPACT_OTHER_FAMILY);
	if (head & RVP_COMPACT_STAMP)
		at = rvp_get_event_stamp(at, stamp);
	return at + (head & 7) + 1 + bytes;
}

static inline void rvp_see_skipped(struct rvp_skipped *skipped, uint64_t stamp)
{
	skipped->first_stamp = stamp < skipped->first_stamp ? stamp : skipped->first_stamp;
	skipped->last_stamp = stamp > skipped->last_stamp ? stamp : skipped->last_stamp;
	skipped->count++;
}

/* Past the whole run of events that begins at decoder->at. */
static inline struct rvp_skipped rvp_skip_events(struct rvp_decoder *decoder)
{
	struct rvp_skipped skipped = {.first_stamp = UINT64_MAX};
	uint64_t stamp = decoder->delta.stamp;
	const uint8_t *at = decoder->at, *end;
	struct rvp_compact_event event;

	while (decoder->end - at >= RVP_COMPACT_ROOM_BYTES && (end = rvp_skip_event(at, &stamp))) {
		rvp_see_skipped(&skipped, stamp);
		at = end;
	}
	decoder->at = at;
	decoder->delta.stamp = stamp;
	while (rvp_decode_event(decoder, &event))
		rvp_see_skipped(&skipped, event.stamp);
	return skipped;
}

#endif
