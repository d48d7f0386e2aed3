/* SPDX-License-Identifier: MIT */
/* brief.h: a recorded alloc or free in short, and a decoder for it alone. Nearly all records of a full log are these
 * two: what reads them ahead, skips them or matches them by the hundred need not know the other kinds.
 *
 * Rules
 *   - rvp_decode_brief takes a record or leaves it: what it does not take, rvp_decode_next must look at.
 *   - Both give the same numbers from the same bytes (tests/fuzz/fuzz_decode.c compares them).
 */
#ifndef RVP_REPORT_BRIEF_H
#define RVP_REPORT_BRIEF_H

#include "record/decode.h"

#include <string.h>

struct rvp_brief {
	uint64_t ns; /* set by who knows the clock */
	uint64_t stamp, address, bytes;
	uint64_t stack, python;
	uint8_t kind, family; /* kind: RVP_ALLOC or RVP_FREE */
};

/* So many bytes may be read behind the beginning of a record that is decoded quickly. */
enum { RVP_BRIEF_ROOM_BYTES = 1 + 6 * RVP_NUMBER_MAX_BYTES };

/* The seven low bits of each byte, put together. */
static inline uint64_t rvp_brief_squeeze(uint64_t word)
{
	word &= 0x7f7f7f7f7f7f7f7f;
	word = (word & 0x7f007f007f007f00) >> 1 | (word & 0x007f007f007f007f);
	word = (word & 0x3fff00003fff0000) >> 2 | (word & 0x00003fff00003fff);
	return (word & 0x0fffffff00000000) >> 4 | (word & 0x000000000fffffff);
}

/* A number of at most 8 bytes at `at`, or NULL. Without a branch on its length: lengths can't be foretold. */
static inline const uint8_t *rvp_brief_number(const uint8_t *at, uint64_t *value)
{
	uint64_t word, last;

	memcpy(&word, at, sizeof word);
	last = ~word & 0x8080808080808080;
	if (__builtin_expect(!last, 0))
		return NULL;
	*value = rvp_brief_squeeze(word & (last ^ (last - 1)));
	return at + (__builtin_ctzll(last) >> 3) + 1;
}

static inline uint64_t rvp_brief_signed(uint64_t zigzag)
{
	return zigzag >> 1 ^ -(zigzag & 1);
}

/* Small numbers that are nearly always 0. */
static inline const uint8_t *rvp_brief_small(const uint8_t *at, uint64_t *value)
{
	if (__builtin_expect(*at >= 0x80, 0))
		return NULL;
	*value = *at;
	return at + 1;
}

/* True: the next record was an alloc or a free and is in `brief`, all but ns. */
static inline bool rvp_decode_brief(struct rvp_decoder *decoder, struct rvp_brief *brief)
{
	const uint8_t *at = decoder->at;
	uint64_t stamp, address, stack = 0, python = 0, family;

	if (decoder->end - at < RVP_BRIEF_ROOM_BYTES || (*at != RVP_ALLOC && *at != RVP_FREE))
		return false;
	brief->kind = *at++;
	if (!(at = rvp_brief_number(at, &stamp)) || !(at = rvp_brief_number(at, &address)))
		return false;
	brief->bytes = 0;
	if (brief->kind == RVP_ALLOC &&
	    (!(at = rvp_brief_number(at, &brief->bytes)) || !(at = rvp_brief_number(at, &stack)) ||
	     !(at = rvp_brief_number(at, &python))))
		return false;
	if (!(at = rvp_brief_small(at, &family)))
		return false;
	brief->family = (uint8_t)family;
	brief->stamp = decoder->delta.stamp += rvp_brief_signed(stamp);
	brief->address = decoder->delta.address += rvp_brief_signed(address);
	if (brief->kind == RVP_ALLOC) {
		brief->stack = decoder->delta.stack += rvp_brief_signed(stack);
		brief->python = decoder->delta.python += rvp_brief_signed(python);
	}
	decoder->at = at;
	return true;
}

/* The record that it was. */
static inline void rvp_brief_expand(const struct rvp_brief *brief, struct rvp_record *record)
{
	record->kind = brief->kind;
	if (brief->kind == RVP_FREE)
		record->FREE = (struct rvp_record_FREE){brief->stamp, brief->address, brief->family};
	else
		record->ALLOC = (struct rvp_record_ALLOC){.stamp = brief->stamp,
							  .address = brief->address,
							  .bytes = brief->bytes,
							  .stack = brief->stack,
							  .python = brief->python,
							  .family = brief->family};
}

#endif
