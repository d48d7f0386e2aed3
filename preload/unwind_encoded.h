/* SPDX-License-Identifier: MIT */
/* unwind_encoded.h: a reader of DWARF's numbers and of .eh_frame's encoded pointers.
 *
 * Rule: nothing is read at or behind `end`; what would be sets `is_bad` and reads as 0.
 */
#ifndef RVP_UNWIND_ENCODED_H
#define RVP_UNWIND_ENCODED_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Pointer encodings: the low four bits say the format, the next three what it counts from. */
enum {
	RVP_ENCODED_ABSOLUTE = 0x00,
	RVP_ENCODED_TABLE = 0x3b, /* from the header's start, signed, 4 bytes */
	RVP_ENCODED_OMIT = 0xff,
};

struct rvp_encoded {
	const uint8_t *at, *end;
	bool is_bad;
};

static inline uint64_t rvp_encoded_fixed(struct rvp_encoded *reader, unsigned bytes)
{
	uint64_t value = 0;

	if (reader->is_bad || reader->at > reader->end || (uint64_t)(reader->end - reader->at) < bytes) {
		reader->is_bad = true;
		return 0;
	}
	memcpy(&value, reader->at, bytes);
	reader->at += bytes;
	return value;
}

static inline int64_t rvp_encoded_fixed_signed(struct rvp_encoded *reader, unsigned bytes)
{
	unsigned shift = 64 - 8 * bytes;

	return (int64_t)(rvp_encoded_fixed(reader, bytes) << shift) >> shift;
}

static inline uint64_t rvp_encoded_unsigned(struct rvp_encoded *reader)
{
	uint64_t value = 0;

	for (unsigned shift = 0; !reader->is_bad; shift += 7) {
		uint64_t byte = rvp_encoded_fixed(reader, 1);

		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static inline int64_t rvp_encoded_signed(struct rvp_encoded *reader)
{
	uint64_t value = 0, byte = 0;
	unsigned shift = 0;

	do {
		byte = rvp_encoded_fixed(reader, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !reader->is_bad);
	if (byte & 0x40 && shift < 64)
		value |= ~0ul << shift;
	return (int64_t)value;
}

/* Terminated within the unit, else "" and bad. */
static inline const char *rvp_encoded_string(struct rvp_encoded *reader)
{
	const char *string = (const char *)reader->at;

	while (rvp_encoded_fixed(reader, 1) != 0)
		;
	return reader->is_bad ? "" : string;
}

/* Takes the length at the start of a CIE or FDE and ends the reader there. False: the end of the section, or
 * bad. */
static inline bool rvp_encoded_unit(struct rvp_encoded *reader)
{
	uint64_t length = rvp_encoded_fixed(reader, 4);

	if (length == 0xffffffff)
		length = rvp_encoded_fixed(reader, 8);
	if (reader->is_bad || !length || length > (uint64_t)(reader->end - reader->at))
		return false;
	reader->end = reader->at + length;
	return true;
}

/* A pointer; `header` is what "relative to data" counts from. Indirect and unknown ones are bad. */
static inline uint64_t rvp_encoded_pointer(struct rvp_encoded *reader, uint8_t encoding, uint64_t header)
{
	uint64_t from = (encoding & 0x70) == 0x10 ? (uint64_t)reader->at : header, value;

	if (encoding == RVP_ENCODED_OMIT)
		return 0;
	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c: value = rvp_encoded_fixed(reader, 8); break;
	case 0x01: value = rvp_encoded_unsigned(reader); break;
	case 0x02: value = rvp_encoded_fixed(reader, 2); break;
	case 0x03: value = rvp_encoded_fixed(reader, 4); break;
	case 0x09: value = (uint64_t)rvp_encoded_signed(reader); break;
	case 0x0a: value = (uint64_t)rvp_encoded_fixed_signed(reader, 2); break;
	case 0x0b: value = (uint64_t)rvp_encoded_fixed_signed(reader, 4); break;
	default: reader->is_bad = true; return 0;
	}
	switch (encoding & 0x70) {
	case 0x00: return value;
	case 0x10:
	case 0x30: return value + from;
	default: reader->is_bad = true; return 0;
	}
}

#endif
