/* SPDX-License-Identifier: MIT */
/* columns.c: see columns.h. Columns that are joined come from a file that anybody may have damaged: no byte is taken
 * from behind a column's end or put behind the piece's. */
#include "record/columns.h"

#include "record/address_model.h"
#include "record/chunk.h"
#include "record/event_decode.h"
#include "record/event_encode.h"

/* Where the fields of a compact event are. */
struct layout {
	unsigned bytes; /* of all of them */
	unsigned at[6], length[6];
	uint8_t column[6];
	unsigned count; /* fields behind head and shape */
	unsigned address; /* which of them it is; of an alloc the size is the next one */
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
	layout.address = layout.count;
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

/* Behind it differences may count from 0. */
static void see_rest(struct rvp_address_model *model, uint64_t bytes)
{
	if (model && bytes >= RVP_MODEL_REST_BYTES)
		model->last_given = model->last_freed = 0;
}

static void put_rest(struct rvp_columns *columns, struct rvp_address_model *model, const uint8_t *from, const uint8_t *to)
{
	uint8_t length[RVP_NUMBER_MAX_BYTES], none = 0, *end = length;

	if (from == to)
		return;
	see_rest(model, (uint64_t)(to - from));
	for (uint64_t left = (uint64_t)(to - from);; left >>= 7) {
		*end++ = (uint8_t)(left < 0x80 ? left : left | 0x80);
		if (left < 0x80)
			break;
	}
	put(columns, RVP_COLUMN_HEADS, &none, 1);
	put(columns, RVP_COLUMN_LENGTHS, length, (size_t)(end - length));
	put(columns, RVP_COLUMN_REST, from, (size_t)(to - from));
}

static uint64_t field_of(const uint8_t *event, const struct layout *layout, unsigned field)
{
	uint64_t value = 0;

	memcpy(&value, event + layout->at[field], layout->length[field]);
	return value;
}

/* Where a difference of these bytes leads from `last`. */
static uint64_t address_from(uint64_t last, uint64_t value, unsigned length)
{
	return last + (length == 8 ? value : (value >> 1 ^ -(value & 1)) << 3);
}

/* Whether the difference is written as who joins will write it. */
static bool is_usual(uint64_t last, uint64_t address, uint64_t value, unsigned length)
{
	unsigned usual;

	return rvp_event_address(address, &last, &usual, false) == value && usual == length;
}

/* By what the address of a free is foretold; 0: it is not. */
static uint32_t foretell_free(struct rvp_columns *columns, struct rvp_address_model *model, const uint8_t *event,
			      const struct layout *layout)
{
	uint64_t value = field_of(event, layout, layout->address), last = model->last_freed;
	unsigned length = layout->length[layout->address];
	uint64_t address = address_from(last, value, length);
	uint32_t age = is_usual(last, address, value, length) ? rvp_model_age(model, address) : 0;
	uint8_t byte = (uint8_t)(age < 255 ? age : 255);
	uint16_t long_age = (uint16_t)age;

	model->last_freed = address;
	put(columns, RVP_COLUMN_AGES, &byte, 1);
	if (age >= 255)
		put(columns, RVP_COLUMN_LONG_AGES, (const uint8_t *)&long_age, 2);
	if (age)
		rvp_model_take_back(model, age);
	return age;
}

static uint32_t foretell_alloc(struct rvp_columns *columns, struct rvp_address_model *model, const uint8_t *event,
			       const struct layout *layout)
{
	uint64_t value = field_of(event, layout, layout->address), last = model->last_given;
	unsigned length = layout->length[layout->address];
	uint64_t address = address_from(last, value, length);
	uint32_t class = rvp_model_class(field_of(event, layout, layout->address + 1));
	uint32_t rank = is_usual(last, address, value, length) ? rvp_model_rank(&model->piles[class], address) : 0;
	uint8_t byte = (uint8_t)rank;

	put(columns, RVP_COLUMN_RANKS, &byte, 1);
	if (rank)
		rvp_model_take_off(&model->piles[class], rank);
	rvp_model_give(model, address, class);
	rvp_model_note_newest(model);
	return rank;
}

static void put_event(struct rvp_columns *columns, struct rvp_address_model *model, const uint8_t *event)
{
	unsigned head = event[0], shape = head & RVP_COMPACT_ALLOC ? event[1] : 0;
	struct layout layout = layout_of(head, shape, head & RVP_COMPACT_STAMP ? event[stamp_at(head)] : 0);
	bool is_told = model && (layout.is_alloc ? foretell_alloc(columns, model, event, &layout)
						 : foretell_free(columns, model, event, &layout));
	uint8_t told_head = (uint8_t)(is_told ? head & ~7u : head);

	put(columns, RVP_COLUMN_HEADS, &told_head, 1);
	if (layout.is_alloc)
		put(columns, RVP_COLUMN_SHAPES, event + 1, 1);
	for (unsigned i = 0; i < layout.count; i++)
		if (!is_told || i != layout.address)
			put(columns, layout.column[i], event + layout.at[i], layout.length[i]);
}

/* The events of a payload; what lies between them is rest, from *rest on. */
static void split_payload(struct rvp_columns *columns, struct rvp_address_model *model, const uint8_t *payload,
			  size_t bytes, const uint8_t **rest)
{
	struct rvp_decoder decoder = rvp_decoder_over(payload, bytes);
	struct rvp_compact_event event;
	struct rvp_record record;

	for (;;) {
		const uint8_t *at = decoder.at;

		if (rvp_decode_event(&decoder, &event)) {
			put_rest(columns, model, *rest, at);
			put_event(columns, model, at);
			*rest = decoder.at;
		} else if (!rvp_decode_next(&decoder, &record)) {
			return;
		}
	}
}

void rvp_columns_split(struct rvp_columns *columns, const uint8_t *piece, size_t bytes, struct rvp_address_model *model)
{
	const uint8_t *rest = piece;

	if (model)
		rvp_model_begin(model);
	memset(columns->counts, 0, sizeof columns->counts);
	for (size_t at = 0; at + sizeof(struct rvp_chunk_header) <= bytes;) {
		struct rvp_chunk_header header;

		memcpy(&header, piece + at, sizeof header);
		at += sizeof header;
		if (!rvp_chunk_header_is_good(&header) || header.payload_bytes > bytes - at)
			continue;
		split_payload(columns, model, piece + at, header.payload_bytes, &rest);
		at += rvp_chunk_room(header.payload_bytes);
	}
	put_rest(columns, model, rest, piece + bytes);
}

/* ---- together ---- */

struct joining {
	const struct rvp_columns *columns;
	size_t taken[RVP_COLUMN_COUNT];
	uint8_t *at, *end;
	struct rvp_address_model *model; /* NULL: nothing is foretold */
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
		if (byte >= 0x80)
			continue;
		see_rest(joining->model, length);
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

/* The next bytes of a column, which are not taken yet; 0: there are not so many. */
static uint64_t peek(const struct joining *joining, unsigned column, unsigned bytes)
{
	size_t taken = joining->taken[column];

	return bytes <= joining->columns->counts[column] - taken
		   ? rvp_get_bytes(joining->columns->bytes[column] + taken, bytes)
		   : 0;
}

/* What an address is foretold by: into *told; 0: it is not. False: the columns are damaged. */
static bool take_told(struct joining *joining, unsigned column, uint32_t *told)
{
	*told = 0;
	if (!joining->model)
		return true;
	if (joining->taken[column] == joining->columns->counts[column])
		return false;
	*told = joining->columns->bytes[column][joining->taken[column]++];
	if (column != RVP_COLUMN_AGES || *told != 255)
		return true;
	*told = (uint32_t)peek(joining, RVP_COLUMN_LONG_AGES, 2);
	joining->taken[RVP_COLUMN_LONG_AGES] += 2;
	return *told && joining->taken[RVP_COLUMN_LONG_AGES] <= joining->columns->counts[RVP_COLUMN_LONG_AGES];
}

/* Puts the address of an event that is foretold, where at[0] is; how many bytes. 0: the columns are damaged. */
static unsigned put_told(struct joining *joining, uint8_t *at, bool is_alloc, uint32_t told, uint32_t class)
{
	struct rvp_address_model *model = joining->model;
	struct rvp_model_pile *pile = &model->piles[class];
	uint64_t *last = is_alloc ? &model->last_given : &model->last_freed, address;
	unsigned length;

	if (is_alloc ? told > pile->count : told > model->count || !rvp_model_at(model, told)->is_live)
		return 0;
	address = is_alloc ? pile->addresses[pile->count - told] : rvp_model_at(model, told)->address;
	rvp_put_bytes(at, rvp_event_address(address, last, &length, false), length);
	if (is_alloc)
		rvp_model_take_off(pile, told);
	else
		rvp_model_take_back(model, told);
	return length;
}

/* The address, foretold or not; the head gets its length. */
static bool take_address(struct joining *joining, uint8_t *head, uint32_t told, uint32_t class)
{
	bool is_alloc = (*head & RVP_COMPACT_ALLOC) != 0;
	unsigned length = (*head & 7) + 1, place = length < 3 ? length - 1 : 2;
	uint8_t *at = joining->at;

	if (told && !(length = put_told(joining, at, is_alloc, told, class)))
		return false;
	if (told) {
		*head = (uint8_t)(*head | (length - 1));
		joining->at += length;
	} else if (!take_few(joining, (is_alloc ? RVP_COLUMN_BIRTHS : RVP_COLUMN_DEATHS) + place, length)) {
		return false;
	}
	if (joining->model && !told) {
		uint64_t *last = is_alloc ? &joining->model->last_given : &joining->model->last_freed;

		*last = address_from(*last, rvp_get_bytes(at, length), length);
	}
	if (joining->model && is_alloc)
		rvp_model_give(joining->model, joining->model->last_given, class);
	return true;
}

static bool take_rest_of_alloc(struct joining *joining, unsigned shape)
{
	return take_few(joining, RVP_COLUMN_SIZES + ((shape & 3) != 0), 1u << (shape & 3)) &&
	       take_few(joining, RVP_COLUMN_STACKS + ((shape >> 2 & 7) > 1), shape >> 2 & 7) &&
	       take_few(joining, RVP_COLUMN_PYTHONS + (shape >> 5 > 1), shape >> 5);
}

/* Where there is room for any event. */
static bool take_event(struct joining *joining, unsigned head)
{
	bool is_alloc = (head & RVP_COMPACT_ALLOC) != 0;
	uint8_t *begin = joining->at;
	unsigned shape = is_alloc ? next_of(joining, RVP_COLUMN_SHAPES) : 0;
	uint32_t told, class = 0;

	*joining->at++ = (uint8_t)head;
	joining->taken[RVP_COLUMN_HEADS]++;
	if (!take_told(joining, is_alloc ? RVP_COLUMN_RANKS : RVP_COLUMN_AGES, &told) || (told && head & 7))
		return false;
	if (is_alloc && !take_few(joining, RVP_COLUMN_SHAPES, 1))
		return false;
	if ((head >> 3 & 3) == RVP_COMPACT_OTHER_FAMILY && !take_few(joining, RVP_COLUMN_FAMILIES, 1))
		return false;
	if (head & RVP_COMPACT_STAMP &&
	    !take_few(joining, RVP_COLUMN_STAMPS, (next_of(joining, RVP_COLUMN_STAMPS) & 7u) + 1))
		return false;
	if (is_alloc)
		class = rvp_model_class(peek(joining, RVP_COLUMN_SIZES + ((shape & 3) != 0), 1u << (shape & 3)));
	if (!take_address(joining, begin, told, class))
		return false;
	return !is_alloc || take_rest_of_alloc(joining, shape);
}

/* The same where there may be less room. */
static bool take_last_event(struct joining *joining, unsigned head)
{
	uint8_t room[RVP_COMPACT_ROOM_BYTES + 16], *at = joining->at;
	bool is_taken;

	joining->at = room;
	is_taken = take_event(joining, head);
	if (!is_taken || joining->at - room > joining->end - at)
		return false;
	memcpy(at, room, (size_t)(joining->at - room));
	joining->at = at + (joining->at - room);
	return true;
}

/* The next item; its head is there. */
static bool take_item(struct joining *joining)
{
	unsigned head = next_of(joining, RVP_COLUMN_HEADS);

	if (head < RVP_COMPACT_MARK) {
		joining->taken[RVP_COLUMN_HEADS]++;
		return take_rest(joining);
	}
	return joining->end - joining->at >= RVP_COMPACT_ROOM_BYTES ? take_event(joining, head)
								     : take_last_event(joining, head);
}

bool rvp_columns_join(const struct rvp_columns *columns, uint8_t *piece, size_t bytes, struct rvp_address_model *model)
{
	struct joining joining = {.columns = columns, .at = piece, .end = piece + bytes, .model = model};

	if (model)
		rvp_model_begin(model);
	while (joining.taken[RVP_COLUMN_HEADS] < columns->counts[RVP_COLUMN_HEADS])
		if (!take_item(&joining))
			return false;
	for (int i = 0; i < RVP_COLUMN_COUNT; i++)
		if (joining.taken[i] != columns->counts[i])
			return false;
	return joining.at == joining.end;
}
