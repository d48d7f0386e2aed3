/* SPDX-License-Identifier: MIT */
/* event_encode.h: writes the compact form of an event (event.h). RVP_COMPACT_ROOM_BYTES of room at `at` are
 * scratch.
 *
 * Each field is stored as eight bytes, of which as many count as it has: no branch depends on a length.
 */
#ifndef RVP_EVENT_ENCODE_H
#define RVP_EVENT_ENCODE_H

#include "record/encode.h"
#include "record/event.h"

/* Bytes that hold `value`, 1 at the least. */
static inline unsigned rvp_event_length(uint64_t value)
{
	return (71u - (unsigned)__builtin_clzll(value | 1)) >> 3;
}

/* The same, 0 for 0. */
static inline unsigned rvp_node_length(uint32_t value)
{
	return (70u - (unsigned)__builtin_clzll((uint64_t)value << 1 | 1)) >> 3;
}

static inline uint8_t *rvp_put_bytes(uint8_t *at, uint64_t value, unsigned length)
{
	memcpy(at, &value, sizeof value);
	return at + length;
}

static inline uint32_t rvp_node_difference(uint32_t node, uint32_t *last)
{
	uint32_t difference = node - *last;

	*last = node;
	return difference << 1 ^ (uint32_t)((int32_t)difference >> 31);
}

/* The code of `family` in byte 0, in place. */
static inline unsigned rvp_event_family_code(const uint8_t *families, unsigned family)
{
	for (unsigned code = 0; code < RVP_COMPACT_OTHER_FAMILY; code++)
		if (families[code] == family)
			return code << 3;
	return RVP_COMPACT_OTHER_FAMILY << 3;
}

/* False: the difference takes more than 61 bits (stamps of two clocks): the event needs a record of the other
 * form. */
static inline bool rvp_event_stamp_fits(uint64_t stamp, const struct rvp_delta *delta)
{
	return rvp_zigzag(stamp - delta->stamp) >> 61 == 0;
}

static inline uint8_t *rvp_put_event_stamp(uint8_t *at, uint64_t stamp, uint64_t *last)
{
	uint64_t zigzag = rvp_zigzag(stamp - *last);
	unsigned length = rvp_event_length(zigzag << 3);

	*last = stamp;
	return rvp_put_bytes(at, zigzag << 3 | (length - 1), length);
}

/* The difference as it is written, and into `length` how many bytes of it count. */
static inline uint64_t rvp_event_address(uint64_t address, uint64_t *last, unsigned *length)
{
	uint64_t difference = address - *last, zigzag = rvp_zigzag((uint64_t)((int64_t)difference >> 3));

	*last = address;
	*length = rvp_event_length(zigzag);
	if (__builtin_expect((difference & 7) == 0 && zigzag >> 56 == 0, 1))
		return zigzag;
	*length = 8;
	return difference;
}

/* Family byte and stamp, where they are wanted. */
static inline uint8_t *rvp_put_event_rest(uint8_t *at, unsigned code, unsigned family, const uint64_t *stamp,
					  struct rvp_delta *delta)
{
	if (__builtin_expect(code == RVP_COMPACT_OTHER_FAMILY << 3, 0))
		*at++ = (uint8_t)family;
	return stamp ? rvp_put_event_stamp(at, *stamp, &delta->stamp) : at;
}

/* `stamp` NULL: the event has none of its own. */
static inline __attribute__((always_inline)) uint8_t *rvp_put_event_free(uint8_t *at, struct rvp_delta *delta,
									 const uint64_t *stamp,
									 uint64_t address, unsigned family)
{
	unsigned address_length, code = rvp_event_family_code(rvp_free_families, family);
	uint64_t place = rvp_event_address(address, &delta->freed, &address_length);

	*at++ = (uint8_t)(RVP_COMPACT_MARK | (stamp ? RVP_COMPACT_STAMP : 0) | code | (address_length - 1));
	at = rvp_put_event_rest(at, code, family, stamp, delta);
	return rvp_put_bytes(at, place, address_length);
}

static inline __attribute__((always_inline)) uint8_t *rvp_put_event_alloc(
    uint8_t *at, struct rvp_delta *delta, const uint64_t *stamp, uint64_t address, uint64_t bytes,
    uint32_t stack, uint32_t python, unsigned family)
{
	unsigned address_length, code = rvp_event_family_code(rvp_alloc_families, family);
	uint64_t place = rvp_event_address(address, &delta->given, &address_length);
	unsigned size_code = (bytes > UINT8_MAX) + (bytes > UINT16_MAX) + (bytes > UINT32_MAX);
	uint32_t stack_step = rvp_node_difference(stack, &delta->event_stack);
	uint32_t python_step = rvp_node_difference(python, &delta->event_python);
	unsigned stack_length = rvp_node_length(stack_step), python_length = rvp_node_length(python_step);

	*at++ = (uint8_t)(RVP_COMPACT_MARK | RVP_COMPACT_ALLOC | (stamp ? RVP_COMPACT_STAMP : 0) | code |
			  (address_length - 1));
	*at++ = (uint8_t)(python_length << 5 | stack_length << 2 | size_code);
	at = rvp_put_event_rest(at, code, family, stamp, delta);
	at = rvp_put_bytes(at, place, address_length);
	at = rvp_put_bytes(at, bytes, 1u << size_code);
	at = rvp_put_bytes(at, stack_step, stack_length);
	return rvp_put_bytes(at, python_step, python_length);
}

#endif
