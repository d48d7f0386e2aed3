/* SPDX-License-Identifier: MIT */
/* event_encode.h: writes the compact form of an event (event.h). RVP_COMPACT_ROOM_BYTES of room at `at` are
 * scratch.
 *
 * Each field is stored as eight bytes, of which as many count as it has: no branch depends on a length.
 * Processors with lzcnt find a length in one step, older ones in eight; which it is, `has_lzcnt`, is known
 * where the caller was built or found out when it started, not here.
 */
#ifndef RVP_EVENT_ENCODE_H
#define RVP_EVENT_ENCODE_H

#include "record/encode.h"
#include "record/event.h"

/* Zero bits in front of `value`, 64 of 0: by lzcnt, where there is such an instruction. */
static inline __attribute__((always_inline)) unsigned rvp_event_zeros(uint64_t value)
{
#ifdef __x86_64__
	uint64_t zeros;

	__asm__("lzcnt %1, %0" : "=r"(zeros) : "r"(value) : "cc");
	return (unsigned)zeros;
#else
	return value ? (unsigned)__builtin_clzll(value) : 64;
#endif
}

/* Bytes that hold `value`; 0 for 0. */
static inline __attribute__((always_inline)) unsigned rvp_event_length(uint64_t value, bool has_lzcnt)
{
	if (has_lzcnt)
		return (71 - rvp_event_zeros(value)) >> 3;
	return value ? (71u - (unsigned)__builtin_clzll(value)) >> 3 : 0;
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

/* Codes of families, two bits each from the lowest on; 3 unless said. */
#define RVP_FAMILY_CODE(family, code) ((uint64_t)(RVP_COMPACT_OTHER_FAMILY ^ (code)) << 2 * (family))
static const uint64_t rvp_alloc_family_codes =
    ~(RVP_FAMILY_CODE(RVP_FAMILY_MALLOC, 0) | RVP_FAMILY_CODE(RVP_FAMILY_CALLOC, 1) |
      RVP_FAMILY_CODE(RVP_FAMILY_REALLOC, 2));
static const uint64_t rvp_free_family_codes =
    ~(RVP_FAMILY_CODE(RVP_FAMILY_FREE, 0) | RVP_FAMILY_CODE(RVP_FAMILY_REALLOC, 1) |
      RVP_FAMILY_CODE(RVP_FAMILY_DELETE, 2));
_Static_assert(RVP_FAMILY_COUNT <= 32, "every family has two bits");

static inline unsigned rvp_event_family_code(uint64_t codes, unsigned family)
{
	return (unsigned)(codes >> 2 * family & 3) << 3;
}

/* False: the difference takes more than 61 bits (stamps of two clocks): the event needs a record of the other
 * form. */
static inline bool rvp_event_stamp_fits(uint64_t stamp, const struct rvp_delta *delta)
{
	return rvp_zigzag(stamp - delta->stamp) >> 61 == 0;
}

static inline __attribute__((always_inline)) uint8_t *rvp_put_event_stamp(uint8_t *at, uint64_t stamp,
									  uint64_t *last, bool has_lzcnt)
{
	uint64_t zigzag = rvp_zigzag(stamp - *last);
	unsigned length = rvp_event_length(zigzag << 3 | 1, has_lzcnt);

	*last = stamp;
	return rvp_put_bytes(at, zigzag << 3 | (length - 1), length);
}

/* The difference as it is written, and into `length` how many bytes of it count. */
static inline __attribute__((always_inline)) uint64_t rvp_event_address(uint64_t address, uint64_t *last,
									unsigned *length, bool has_lzcnt)
{
	uint64_t difference = address - *last, zigzag = rvp_zigzag((uint64_t)((int64_t)difference >> 3));

	*last = address;
	*length = rvp_event_length(zigzag | 1, has_lzcnt);
	if (__builtin_expect(((difference & 7) | zigzag >> 56) == 0, 1))
		return zigzag;
	*length = 8;
	return difference;
}

/* Family byte and stamp, where they are wanted. */
static inline __attribute__((always_inline)) uint8_t *rvp_put_event_rest(uint8_t *at, unsigned code,
									 unsigned family,
									 const uint64_t *stamp,
									 struct rvp_delta *delta,
									 bool has_lzcnt)
{
	if (__builtin_expect(code == RVP_COMPACT_OTHER_FAMILY << 3, 0))
		*at++ = (uint8_t)family;
	return stamp ? rvp_put_event_stamp(at, *stamp, &delta->stamp, has_lzcnt) : at;
}

/* `stamp` NULL: the event has none of its own. `family` is an enum rvp_family. */
static inline __attribute__((always_inline)) uint8_t *rvp_put_event_free(uint8_t *at, struct rvp_delta *delta,
									 const uint64_t *stamp,
									 uint64_t address, unsigned family,
									 bool has_lzcnt)
{
	unsigned address_length, code = rvp_event_family_code(rvp_free_family_codes, family);
	uint64_t place = rvp_event_address(address, &delta->freed, &address_length, has_lzcnt);

	*at++ = (uint8_t)(RVP_COMPACT_MARK | (stamp ? RVP_COMPACT_STAMP : 0) | code | (address_length - 1));
	at = rvp_put_event_rest(at, code, family, stamp, delta, has_lzcnt);
	return rvp_put_bytes(at, place, address_length);
}

static inline __attribute__((always_inline)) uint8_t *rvp_put_event_alloc(
    uint8_t *at, struct rvp_delta *delta, const uint64_t *stamp, uint64_t address, uint64_t bytes,
    uint32_t stack, uint32_t python, unsigned family, bool has_lzcnt)
{
	unsigned address_length, code = rvp_event_family_code(rvp_alloc_family_codes, family);
	uint64_t place = rvp_event_address(address, &delta->given, &address_length, has_lzcnt);
	unsigned size_code = (bytes > UINT8_MAX) + (bytes > UINT16_MAX) + (bytes > UINT32_MAX);
	uint32_t stack_step = rvp_node_difference(stack, &delta->event_stack);
	uint32_t python_step = rvp_node_difference(python, &delta->event_python);
	unsigned stack_length = rvp_event_length(stack_step, has_lzcnt);
	unsigned python_length = rvp_event_length(python_step, has_lzcnt);
	uint16_t head =
	    (uint16_t)(RVP_COMPACT_MARK | RVP_COMPACT_ALLOC | (stamp ? RVP_COMPACT_STAMP : 0) | code |
		       (address_length - 1) | (python_length << 5 | stack_length << 2 | size_code) << 8);

	memcpy(at, &head, sizeof head);
	at = rvp_put_event_rest(at + sizeof head, code, family, stamp, delta, has_lzcnt);
	at = rvp_put_bytes(at, place, address_length);
	at = rvp_put_bytes(at, bytes, 1u << size_code);
	at = rvp_put_bytes(at, stack_step, stack_length);
	return rvp_put_bytes(at, python_step, python_length);
}

/* The same bytes in fewer steps, for nearly every event of full mode: without a stamp, of a family that has a code, of a
 * block of less than 64 KiB at a multiple of 8 below 2^56, with the Python node of the last alloc; on a processor with
 * lzcnt. Each returns how many bytes. */
static inline __attribute__((always_inline)) uint64_t rvp_plain_address(uint64_t address, uint64_t *last)
{
	int64_t difference = (int64_t)(address - *last);

	*last = address;
	return (uint64_t)(difference >> 2 ^ difference >> 63);
}

static inline __attribute__((always_inline)) uint64_t rvp_put_plain_free(uint8_t *at, struct rvp_delta *delta,
									 uint64_t address, enum rvp_family family)
{
	uint64_t place = rvp_plain_address(address, &delta->freed);
	unsigned zero_bytes = rvp_event_zeros(place | 1) >> 3;

	*at = (uint8_t)((RVP_COMPACT_MARK | 7 | rvp_event_family_code(rvp_free_family_codes, family)) ^ zero_bytes);
	memcpy(at + 1, &place, sizeof place);
	return 9 - zero_bytes;
}

static inline __attribute__((always_inline)) uint64_t rvp_put_plain_alloc(uint8_t *at, struct rvp_delta *delta,
									  uint64_t address, uint64_t bytes,
									  uint32_t stack, enum rvp_family family)
{
	uint64_t place = rvp_plain_address(address, &delta->given);
	uint64_t step = rvp_node_difference(stack, &delta->event_stack);
	unsigned zero_bytes = rvp_event_zeros(place | 1) >> 3, step_zero_bytes = rvp_event_zeros(step) >> 3;
	uint64_t is_long = bytes > UINT8_MAX, size_at = 10 - zero_bytes;
	uint32_t head = ((RVP_COMPACT_MARK | RVP_COMPACT_ALLOC | 7 | 8u << 10 |
			  rvp_event_family_code(rvp_alloc_family_codes, family)) ^
			 zero_bytes) -
			(step_zero_bytes << 10) + ((uint32_t)is_long << 8);

	memcpy(at, &head, sizeof head); /* two bytes of it stay; a word of two is slow to work with */
	memcpy(at + 2, &place, sizeof place);
	memcpy(at + size_at, &bytes, sizeof bytes);
	size_at += is_long;
	memcpy(at + size_at + 1, &step, sizeof step);
	return size_at + 9 - step_zero_bytes;
}

#endif
