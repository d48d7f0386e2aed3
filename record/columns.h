/* SPDX-License-Identifier: MIT */
/* columns.h: the bytes of a piece of a log, sorted by what they are: heads of compact events with heads, addresses with
 * addresses. Like bytes side by side are packed to less than half of what they take mixed (packed_log.h). Nothing is
 * understood but where a field ends, so that joining gives back each byte, whatever the piece held.
 *
 *   heads     byte 0 of each compact event (event.h) in order; 0: bytes that are none stand here
 *   shapes    byte 1 of allocs         families  family bytes                  stamps    stamps
 *   births, deaths  addresses of allocs and of frees; those of one byte and of two, and longer ones, in columns of their own
 *   sizes, stacks, pythons  fields of allocs; those of one byte, and longer ones, in columns of their own
 *   ranks, ages, long ages  of allocs and of frees, a byte each: 0, or by what its address is foretold (address_model.h). Then it
 *             is in no other column, and the head's bits for its length are 0. An age of 255 and more is 255, and two bytes
 *   lengths   of what is no compact event: how many bytes, LEB128      rest      these bytes
 */
#ifndef RVP_COLUMNS_H
#define RVP_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rvp_column {
	RVP_COLUMN_HEADS,
	RVP_COLUMN_SHAPES,
	RVP_COLUMN_FAMILIES,
	RVP_COLUMN_STAMPS,
	RVP_COLUMN_BIRTHS, /* of one byte, of two, of more */
	RVP_COLUMN_DEATHS = RVP_COLUMN_BIRTHS + 3,
	RVP_COLUMN_SIZES = RVP_COLUMN_DEATHS + 3, /* of one byte, of more */
	RVP_COLUMN_STACKS = RVP_COLUMN_SIZES + 2,
	RVP_COLUMN_PYTHONS = RVP_COLUMN_STACKS + 2,
	RVP_COLUMN_LENGTHS = RVP_COLUMN_PYTHONS + 2,
	RVP_COLUMN_REST,
	RVP_COLUMN_RANKS,
	RVP_COLUMN_AGES,
	RVP_COLUMN_LONG_AGES,
	RVP_COLUMN_COUNT,
	RVP_COLUMN_COUNT_BARE = RVP_COLUMN_RANKS /* of a piece in which nothing is foretold */
};

struct rvp_columns {
	uint8_t *bytes[RVP_COLUMN_COUNT];
	size_t counts[RVP_COLUMN_COUNT];
	size_t room; /* of each */
};

/* What a column can need for a piece of so many bytes. */
static inline size_t rvp_columns_room(size_t bytes)
{
	return bytes + 64;
}

/* Sorts piece[0, bytes), which begins where a chunk may. Each column has rvp_columns_room(bytes). What `model` held is
 * overwritten; NULL: nothing is foretold. */
struct rvp_address_model;
void rvp_columns_split(struct rvp_columns *columns, const uint8_t *piece, size_t bytes, struct rvp_address_model *model);

/* Puts them together again; 8 bytes behind each column may be read. False: these columns do not make a piece of so many
 * bytes. Without a model nothing is foretold. */
bool rvp_columns_join(const struct rvp_columns *columns, uint8_t *piece, size_t bytes, struct rvp_address_model *model);

#endif
