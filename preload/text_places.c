/* SPDX-License-Identifier: MIT */
/* text_places.c: see text_places.h. */
#define RVPROF_ABSENT
#include "rvprof.h"
#include "preload/text_places.h"
#include "preload/own.h"

#include <string.h>

_Static_assert(RVP_SLOT_BYTES <= 1 << 16, "a place in a payload has 16 bits");

static bool begins_character(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80;
}

/* The last place at which the text, which is longer than that, may end. */
static size_t cut(const char *text)
{
	size_t length = RVPROF_TEXT_BYTES;

	rvp_lose(RVP_LOSS_TEXT_CUT, 1);
	while (length > RVPROF_TEXT_BYTES - 4 && !begins_character(text[length]))
		length--;
	return length;
}

struct rvp_text rvp_text_of(const char *text)
{
	size_t length = text ? strnlen(text, RVPROF_TEXT_BYTES + 1) : 0;

	return (struct rvp_text){.bytes = text, .length = length > RVPROF_TEXT_BYTES ? cut(text) : length};
}

static uint16_t *entry(struct rvp_thread *thread, uint64_t key)
{
	return &thread->text_places[key * 0x9e3779b97f4a7c15u >> (64 - RVP_TEXT_PLACES_BITS)];
}

static uint16_t *by_pointer(struct rvp_thread *thread, const char *text)
{
	return entry(thread, (uint64_t)text);
}

static uint16_t *by_content(struct rvp_thread *thread, struct rvp_text text)
{
	uint64_t key = text.length, word;
	size_t i = 0;

	for (; i + sizeof word <= text.length; i += sizeof word) {
		memcpy(&word, text.bytes + i, sizeof word);
		key = (key ^ word) * 0x9e3779b97f4a7c15u;
		key ^= key >> 32;
	}
	for (; i < text.length; i++)
		key = (key ^ (unsigned char)text.bytes[i]) * 0x9e3779b97f4a7c15u;
	return entry(thread, key ^ key >> 32);
}

/* Whether the caller's text is the one at the place, to its last byte. */
static bool is_at(struct rvp_thread *thread, uint16_t place, const char *text)
{
	const uint8_t *at = rvp_slot_payload(thread->slot) + place;
	size_t length;

	if (!place)
		return false;
	length = *at++;
	if (length & 0x80)
		length = (length & 0x7f) | (size_t)*at++ << 7;
	length >>= 1;
	return strncmp(text, (const char *)at, length) == 0 && !text[length];
}

static struct rvp_text at_place(uint16_t place)
{
	return (struct rvp_text){.bytes = NULL, .length = place};
}

/* Bytes that the text takes if it does not stand in the chunk where its content would be found. */
static uint64_t find_by_content(struct rvp_thread *thread, struct rvp_told *told)
{
	struct rvp_text text = rvp_text_of(told->from);
	uint16_t place = *by_content(thread, text);

	if (!is_at(thread, place, told->from)) {
		told->text = text;
		return text.length;
	}
	*by_pointer(thread, told->from) = place;
	told->text = at_place(place);
	return 0;
}

static inline uint64_t find(struct rvp_thread *thread, struct rvp_told *told)
{
	uint16_t place;

	if (!told->from || !*told->from)
		return 0;
	place = *by_pointer(thread, told->from);
	if (__builtin_expect(!is_at(thread, place, told->from), 0))
		return find_by_content(thread, told);
	told->text = at_place(place);
	return 0;
}

/* No room, or no slot yet: a text in full is right in whichever chunk it comes to stand. */
static uint8_t *room_in_full(struct rvp_thread *thread, struct rvp_told *told, unsigned count)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < count; i++) {
		if (told[i].from && *told[i].from && !told[i].text.bytes)
			told[i].text = rvp_text_of(told[i].from);
		bytes += told[i].text.length;
	}
	return rvp_emit_room(thread, rvp_record_max_bytes(bytes));
}

uint8_t *rvp_told_room(struct rvp_thread *thread, struct rvp_told *told, unsigned count)
{
	uint8_t *room = NULL;
	uint64_t bytes = 0;

	if (__builtin_expect(thread->slot != NULL, 1)) {
		for (unsigned i = 0; i < count; i++)
			bytes += find(thread, &told[i]);
		room = rvp_slot_room(thread->slot, RVP_SLOT_BYTES, rvp_record_max_bytes(bytes));
	}
	return __builtin_expect(room != NULL, 1) ? room : room_in_full(thread, told, count);
}

static size_t field_bytes(struct rvp_text text)
{
	uint64_t number = text.bytes ? text.length << 1 | 1 : text.length << 1;

	return (text.bytes ? text.length : 0) + (number < 0x80 ? 1 : number < 0x4000 ? 2 : 3);
}

void rvp_told_note(struct rvp_thread *thread, const struct rvp_told *told, unsigned count, const uint8_t *end)
{
	while (count--) {
		end -= field_bytes(told[count].text);
		if (!told[count].text.bytes)
			continue;
		*by_pointer(thread, told[count].from) = (uint16_t)(end - rvp_slot_payload(thread->slot));
		*by_content(thread, told[count].text) = (uint16_t)(end - rvp_slot_payload(thread->slot));
	}
}
