/* SPDX-License-Identifier: MIT */
/* python_lines.c: the three ways in which CPython packs lines.
 *
 *   before 3.10  co_lnotab     pairs: bytes of code (0..255), lines (-128..127); an instruction has the
 *                              sum of lines of all pairs up to the one that passes it
 *   3.10         co_linetable  pairs: bytes of code, lines from the last line; -128: no line
 *   since 3.11   co_linetable  entries: 1 kkkk nnn, kind k, n + 1 code units of 2 bytes, then by kind:
 *                              0..9   one byte: columns, same line
 *                              10..12 two bytes: columns, line + (kind - 10)
 *                              13     signed varint: line
 *                              14     signed varint: line, then three varints: end line, columns
 *                              15     nothing: no line
 * varint: 6 bits a byte, least first, bit 6 says that more follow; signed: bit 0 is the sign.
 *
 * Bytes come from a program's memory: a table that ends inside an entry is read up to there. */
#include "report/python_lines.h"

#include <stdbool.h>

enum { VERSION_3_10 = 0x30a, VERSION_3_11 = 0x30b, NO_LINE = -128 };
enum { KIND_LONG = 14, KIND_NO_COLUMNS = 13, KIND_ONE_LINE = 10, KIND_NONE = 15, VARINT_MAX_BYTES = 6 };

struct reader {
	const uint8_t *at, *end;
	bool is_broken;
};

static uint8_t next_byte(struct reader *reader)
{
	if (reader->at < reader->end)
		return *reader->at++;
	reader->is_broken = true;
	return 0;
}

static uint32_t next_number(struct reader *reader)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < VARINT_MAX_BYTES; i++) {
		uint8_t byte = next_byte(reader);

		value |= (uint32_t)(byte & 63) << (6 * i);
		if (!(byte & 64))
			return value;
	}
	reader->is_broken = true;
	return value;
}

static int64_t next_signed(struct reader *reader)
{
	uint32_t value = next_number(reader);

	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* How many lines an entry of 3.11 goes on; skips its columns. */
static int64_t line_step(struct reader *reader, unsigned kind)
{
	int64_t step = 0;

	if (kind >= KIND_NO_COLUMNS && kind < KIND_NONE)
		step = next_signed(reader);
	if (kind == KIND_LONG)
		for (int i = 0; i < 3; i++)
			next_number(reader);
	if (kind < KIND_NO_COLUMNS)
		next_byte(reader);
	if (kind >= KIND_ONE_LINE && kind < KIND_NO_COLUMNS) {
		next_byte(reader);
		step = kind - KIND_ONE_LINE;
	}
	return step;
}

static int64_t line_by_locations(struct reader reader, int64_t line, uint32_t instruction)
{
	uint64_t end = 0;

	while (reader.at < reader.end) {
		uint8_t head = next_byte(&reader);
		unsigned kind = head >> 3 & 15;

		if (!(head & 0x80))
			return 0;
		end += 2u * ((head & 7u) + 1);
		line += line_step(&reader, kind);
		if (reader.is_broken)
			return 0;
		if (instruction < end)
			return kind == KIND_NONE ? 0 : line;
	}
	return 0;
}

static int64_t line_by_linetable(struct reader reader, int64_t line, uint32_t instruction)
{
	uint64_t end = 0;

	while (reader.end - reader.at >= 2) {
		uint8_t bytes = next_byte(&reader);
		int8_t step = (int8_t)next_byte(&reader);

		end += bytes;
		if (step != NO_LINE)
			line += step;
		if (instruction < end)
			return step == NO_LINE ? 0 : line;
	}
	return 0;
}

static int64_t line_by_lnotab(struct reader reader, int64_t line, uint32_t instruction)
{
	uint64_t begin = 0;

	while (reader.end - reader.at >= 2) {
		begin += next_byte(&reader);
		if (begin > instruction)
			break;
		line += (int8_t)next_byte(&reader);
	}
	return line;
}

uint32_t rvp_python_line(const struct rvp_python_lines *lines, uint32_t instruction)
{
	struct reader reader = {.at = lines->packed, .end = lines->packed + lines->packed_bytes};
	int64_t line;

	if (!lines->packed_bytes)
		return lines->first_line;
	if (lines->version >= VERSION_3_11)
		line = line_by_locations(reader, lines->first_line, instruction);
	else if (lines->version == VERSION_3_10)
		line = line_by_linetable(reader, lines->first_line, instruction);
	else
		line = line_by_lnotab(reader, lines->first_line, instruction);
	return line > 0 && line <= UINT32_MAX ? (uint32_t)line : lines->first_line;
}
