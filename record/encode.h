/* SPDX-License-Identifier: MIT */
/* encode.h: one inline encoder a kind of record, made from schema.def: rvp_put_ALLOC(at, &delta, &record).
 *
 * The caller has reserved the room (RVP_EVENT_MAX_BYTES, plus the texts' lengths): there is no bounds test and
 * no failure here. Nothing is allocated, nothing locks, no libc function is called but memcpy.
 */
#ifndef RVP_ENCODE_H
#define RVP_ENCODE_H

#include "record/schema.h"

#include <string.h>

static inline uint64_t rvp_zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint8_t *rvp_put_number(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static inline uint8_t *rvp_put_difference(uint8_t *at, uint64_t value, uint64_t *last)
{
	at = rvp_put_number(at, rvp_zigzag(value - *last));
	*last = value;
	return at;
}

static inline uint8_t *rvp_put_text(uint8_t *at, struct rvp_text text)
{
	uint64_t length = text.length < RVP_TEXT_MAX_BYTES ? text.length : RVP_TEXT_MAX_BYTES;

	at = rvp_put_number(at, length);
	if (length)
		memcpy(at, text.bytes, length);
	return at + length;
}

/* A text without bytes stands at its length in the payload; both 0: the empty text. */
static inline uint8_t *rvp_put_reference(uint8_t *at, struct rvp_text text)
{
	uint64_t length = text.length < RVP_TEXT_MAX_BYTES ? text.length : RVP_TEXT_MAX_BYTES;

	if (!text.bytes)
		return rvp_put_number(at, text.length << 1);
	at = rvp_put_number(at, length << 1 | 1);
	memcpy(at, text.bytes, length);
	return at + length;
}

#define RVP_PUT_U(name) at = rvp_put_number(at, record->name);
#define RVP_PUT_T(name) at = rvp_put_difference(at, record->name, &delta->stamp);
#define RVP_PUT_A(name) at = rvp_put_difference(at, record->name, &delta->address);
#define RVP_PUT_S(name) at = rvp_put_difference(at, record->name, &delta->stack);
#define RVP_PUT_P(name) at = rvp_put_difference(at, record->name, &delta->python);
#define RVP_PUT_D(name) at = rvp_put_difference(at, record->name, &delta->device_ns);
#define RVP_PUT_C(name) at = rvp_put_difference(at, record->name, &delta->correlation);
#define RVP_PUT_X(name) at = rvp_put_text(at, record->name);
#define RVP_PUT_R(name) at = rvp_put_reference(at, record->name);
#define RVP_PUT_FIELD(kind, name, what) RVP_PUT_##kind(name)

#define RVP_RECORD(ID, number, name, what)                                                                   \
	static inline uint8_t *rvp_put_##ID(uint8_t *at, struct rvp_delta *delta,                            \
					    const struct rvp_record_##ID *record)                            \
	{                                                                                                    \
		(void)delta;                                                                                 \
		*at++ = number;                                                                              \
		RVP_FIELDS_##ID(RVP_PUT_FIELD) return at;                                                    \
	}
#include "record/schema.def"

/* Bytes to reserve for a record of any kind with texts of these lengths together. */
static inline uint64_t rvp_record_max_bytes(uint64_t texts_length)
{
	return 1 + 16 * RVP_NUMBER_MAX_BYTES + texts_length;
}

#endif
