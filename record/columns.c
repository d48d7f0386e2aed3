/* SPDX-License-Identifier: MIT */
/* columns.c: see columns.h. Columns that are joined come from a file that anybody may have damaged: no byte is taken
 * from behind a column's end or put behind the piece's. */
#include "record/columns.h"

#include "record/chunk.h"
#include "record/event_decode.h"

/* Where the fields of a compact event are. */
struct layout {
	unsigned bytes; /* of all of them */
	unsigned at[6], length[6];
	uint8_t column[6];
	unsigned count; /* fields behind head and shape */
	bool is_alloc;
};

static inline void add_field(struct layout *layout, unsigned column, unsigned length)
{
	if (!length)
		return;
	layout->at[layout->count] = layout->bytes;
	layout->length[layout->count] = length;
	layout->column[layout->count++] = (uint8_t)column;
	layout->bytes += length;
}

static unsigned by_length(unsigned column, unsigned length, unsigned most)
{
	return column + (length < most ? length : most) - 1;
}

/* Behind the stamp's first byte, whose length it tells. `stamp` is that byte, where there is one. */
static inline __attribute__((always_inline)) struct layout layout_of(unsigned head, unsigned shape, unsigned stamp)
{
	struct layout layout = {.is_alloc = (head & RVP_COMPACT_ALLOC) != 0};
	unsigned address = (head & 7) + 1, size = 1u << (shape & 3), stack = shape >> 2 & 7, python = shape >> 5;

	layout.bytes = layout.is_alloc ? 2 : 1;
	if ((head >> 3 & 3) == RVP_COMPACT_OTHER_FAMILY)
		add_field(&layout, RVP_COLUMN_FAMILIES, 1);
	if (head & RVP_COMPACT_STAMP)
		add_field(&layout, RVP_COLUMN_STAMPS, (stamp & 7) + 1);
	if (!layout.is_alloc) {
		add_field(&layout, by_length(RVP_COLUMN_DEATHS, address, 3), address);
		return layout;
	}
	add_field(&layout, by_length(RVP_COLUMN_BIRTHS, address, 3), address);
	add_field(&layout, by_length(RVP_COLUMN_SIZES, size, 2), size);
	add_field(&layout, by_length(RVP_COLUMN_STACKS, stack ? stack : 1, 2), stack);
	add_field(&layout, by_length(RVP_COLUMN_PYTHONS, python ? python : 1, 2), python);
	return layout;
}

/* Where the stamp would be. */
static unsigned stamp_at(unsigned head)
{
	return 1 + (head & RVP_COMPACT_ALLOC ? 1 : 0) + ((head >> 3 & 3) == RVP_COMPACT_OTHER_FAMILY);
}

/* ---- apart ---- */

static void put(struct rvp_columns *columns, unsigned column, const uint8_t *from, size_t bytes)
{
	memcpy(columns->bytes[column] + columns->counts[column], from, bytes);
	columns->counts[column] += bytes;
}

static void put_rest(struct rvp_columns *columns, const uint8_t *from, const uint8_t *to)
{
	uint8_t length[RVP_NUMBER_MAX_BYTES], none = 0, *end = length;

	if (from == to)
		return;
	for (uint64_t left = (uint64_t)(to - from);; left >>= 7) {
		*end++ = (uint8_t)(left < 0x80 ? left : left | 0x80);
		if (left < 0x80)
			break;
	}
	put(columns, RVP_COLUMN_HEADS, &none, 1);
	put(columns, RVP_COLUMN_LENGTHS, length, (size_t)(end - length));
	put(columns, RVP_COLUMN_REST, from, (size_t)(to - from));
}

static void put_event(struct rvp_columns *columns, const uint8_t *event)
{
	unsigned head = event[0], shape = head & RVP_COMPACT_ALLOC ? event[1] : 0;
	struct layout layout = layout_of(head, shape, head & RVP_COMPACT_STAMP ? event[stamp_at(head)] : 0);

	put(columns, RVP_COLUMN_HEADS, event, 1);
	if (layout.is_alloc)
		put(columns, RVP_COLUMN_SHAPES, event + 1, 1);
	for (unsigned i = 0; i < layout.count; i++)
		put(columns, layout.column[i], event + layout.at[i], layout.length[i]);
}

/* The events of a payload; what lies between them is rest, from *rest on. */
static void split_payload(struct rvp_columns *columns, const uint8_t *payload, size_t bytes, const uint8_t **rest)
{
	struct rvp_decoder decoder = rvp_decoder_over(payload, bytes);
	struct rvp_compact_event event;
	struct rvp_record record;

	for (;;) {
		const uint8_t *at = decoder.at;

		if (rvp_decode_event(&decoder, &event)) {
			put_rest(columns, *rest, at);
			put_event(columns, at);
			*rest = decoder.at;
		} else if (!rvp_decode_next(&decoder, &record)) {
			return;
		}
	}
}

void rvp_columns_split(struct rvp_columns *columns, const uint8_t *piece, size_t bytes)
{
	const uint8_t *rest = piece;

	memset(columns->counts, 0, sizeof columns->counts);
	for (size_t at = 0; at + sizeof(struct rvp_chunk_header) <= bytes;) {
		struct rvp_chunk_header header;

		memcpy(&header, piece + at, sizeof header);
		at += sizeof header;
		if (!rvp_chunk_header_is_good(&header) || header.payload_bytes > bytes - at)
			continue;
		split_payload(columns, piece + at, header.payload_bytes, &rest);
		at += rvp_chunk_room(header.payload_bytes);
	}
	put_rest(columns, rest, piece + bytes);
}

/* ---- together ---- */

struct joining {
	const struct rvp_columns *columns;
	size_t taken[RVP_COLUMN_COUNT];
	uint8_t *at, *end;
};

/* Whether `column` has so many bytes more, and the piece has room for them. */
static bool has(const struct joining *joining, unsigned column, uint64_t bytes)
{
	return bytes <= joining->columns->counts[column] - joining->taken[column] &&
	       bytes <= (uint64_t)(joining->end - joining->at);
}

static bool take(struct joining *joining, unsigned column, uint64_t bytes)
{
	if (!has(joining, column, bytes))
		return false;
	memcpy(joining->at, joining->columns->bytes[column] + joining->taken[column], bytes);
	joining->at += bytes;
	joining->taken[column] += bytes;
	return true;
}

static bool take_rest(struct joining *joining)
{
	uint64_t length = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (joining->taken[RVP_COLUMN_LENGTHS] == joining->columns->counts[RVP_COLUMN_LENGTHS])
			return false;
		uint8_t byte = joining->columns->bytes[RVP_COLUMN_LENGTHS][joining->taken[RVP_COLUMN_LENGTHS]++];

		length |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return take(joining, RVP_COLUMN_REST, length);
	}
	return false;
}

static uint8_t next_of(const struct joining *joining, unsigned column)
{
	return joining->taken[column] < joining->columns->counts[column]
		   ? joining->columns->bytes[column][joining->taken[column]]
		   : 0;
}

static bool take_event(struct joining *joining, unsigned head)
{
	unsigned shape = head & RVP_COMPACT_ALLOC ? next_of(joining, RVP_COLUMN_SHAPES) : 0;
	unsigned stamp = head & RVP_COMPACT_STAMP ? next_of(joining, RVP_COLUMN_STAMPS) : 0;
	struct layout layout = layout_of(head, shape, stamp);

	if (!take(joining, RVP_COLUMN_HEADS, 1) || (layout.is_alloc && !take(joining, RVP_COLUMN_SHAPES, 1)))
		return false;
	for (unsigned i = 0; i < layout.count; i++)
		if (!take(joining, layout.column[i], layout.length[i]))
			return false;
	return true;
}

/* As take(), of at most 8 bytes, where the piece has room for 8 and 8 may be read behind the column's end: what is copied
 * too much is overwritten by what follows. */
static inline __attribute__((always_inline)) bool take_few(struct joining *joining, unsigned column, unsigned bytes)
{
	size_t taken = joining->taken[column];

	if (bytes > joining->columns->counts[column] - taken)
		return false;
	memcpy(joining->at, joining->columns->bytes[column] + taken, 8);
	joining->at += bytes;
	joining->taken[column] = taken + bytes;
	return true;
}

/* The same as take_event() where there is room for any event. */
static bool take_event_quickly(struct joining *joining, unsigned head)
{
	unsigned address = (head & 7) + 1, place = address < 3 ? address - 1 : 2, shape;

	*joining->at++ = (uint8_t)head;
	joining->taken[RVP_COLUMN_HEADS]++;
	shape = head & RVP_COMPACT_ALLOC ? next_of(joining, RVP_COLUMN_SHAPES) : 0;
	if (head & RVP_COMPACT_ALLOC && !take_few(joining, RVP_COLUMN_SHAPES, 1))
		return false;
	if ((head >> 3 & 3) == RVP_COMPACT_OTHER_FAMILY && !take_few(joining, RVP_COLUMN_FAMILIES, 1))
		return false;
	if (head & RVP_COMPACT_STAMP &&
	    !take_few(joining, RVP_COLUMN_STAMPS, (next_of(joining, RVP_COLUMN_STAMPS) & 7u) + 1))
		return false;
	if (!(head & RVP_COMPACT_ALLOC))
		return take_few(joining, RVP_COLUMN_DEATHS + place, address);
	return take_few(joining, RVP_COLUMN_BIRTHS + place, address) &&
	       take_few(joining, RVP_COLUMN_SIZES + ((shape & 3) != 0), 1u << (shape & 3)) &&
	       take_few(joining, RVP_COLUMN_STACKS + ((shape >> 2 & 7) > 1), shape >> 2 & 7) &&
	       take_few(joining, RVP_COLUMN_PYTHONS + (shape >> 5 > 1), shape >> 5);
}

/* The next item; its head is there. */
static bool take_item(struct joining *joining)
{
	unsigned head = next_of(joining, RVP_COLUMN_HEADS);

	if (head < RVP_COMPACT_MARK) {
		joining->taken[RVP_COLUMN_HEADS]++;
		return take_rest(joining);
	}
	return joining->end - joining->at >= RVP_COMPACT_ROOM_BYTES ? take_event_quickly(joining, head)
								     : take_event(joining, head);
}

bool rvp_columns_join(const struct rvp_columns *columns, uint8_t *piece, size_t bytes)
{
	struct joining joining = {.columns = columns, .at = piece, .end = piece + bytes};

	while (joining.taken[RVP_COLUMN_HEADS] < columns->counts[RVP_COLUMN_HEADS])
		if (!take_item(&joining))
			return false;
	for (int i = 0; i < RVP_COLUMN_COUNT; i++)
		if (joining.taken[i] != columns->counts[i])
			return false;
	return joining.at == joining.end;
}
