/* SPDX-License-Identifier: MIT */
/* decode.c: one decoder for every kind, driven by the schema table (decode.h).
 *
 * Input is a file that anybody may have damaged: every byte is checked, nothing is trusted, and no read leaves
 * [at, end). Invariant (D1): a record is handed out whole or not at all.
 */
#include "record/decode.h"

#include "record/event_decode.h"

#include <string.h>

struct rvp_decoder rvp_decoder_over(const void *payload, uint64_t length)
{
	return (struct rvp_decoder){.at = payload, .end = (const uint8_t *)payload + length, .begin = payload};
}

static bool get_number(struct rvp_decoder *decoder, uint64_t *value)
{
	uint64_t sum = 0;

	for (unsigned shift = 0; shift < 64 && decoder->at < decoder->end; shift += 7) {
		uint64_t byte = *decoder->at++;

		if (shift == 63 && byte > 1)
			return false;
		sum |= (byte & 0x7f) << shift;
		if (byte < 0x80) {
			*value = sum;
			return true;
		}
	}
	return false;
}

static bool get_difference(struct rvp_decoder *decoder, uint64_t *value, uint64_t *last)
{
	uint64_t zigzag;

	if (!get_number(decoder, &zigzag))
		return false;
	*last += zigzag >> 1 ^ -(zigzag & 1);
	*value = *last;
	return true;
}

static bool get_bytes(struct rvp_decoder *decoder, uint64_t length, struct rvp_text *text)
{
	if (length > (uint64_t)(decoder->end - decoder->at))
		return false;
	*text = (struct rvp_text){.bytes = (const char *)decoder->at, .length = length};
	decoder->at += length;
	return true;
}

static bool get_text(struct rvp_decoder *decoder, struct rvp_text *text)
{
	uint64_t length;

	return get_number(decoder, &length) && get_bytes(decoder, length, text);
}

/* The field that stands at `place`, wholly before `end`; it does not refer further. */
static bool get_earlier_text(const uint8_t *begin, uint64_t place, const uint8_t *end, struct rvp_text *text)
{
	struct rvp_decoder there = {.at = begin + place, .end = end};
	uint64_t number;

	return place < (uint64_t)(end - begin) && get_number(&there, &number) && number & 1 &&
	       get_bytes(&there, number >> 1, text);
}

static bool get_reference(struct rvp_decoder *decoder, struct rvp_text *text)
{
	const uint8_t *start = decoder->at;
	uint64_t number;

	if (!get_number(decoder, &number))
		return false;
	*text = (struct rvp_text){.bytes = (const char *)start};
	if (number & 1)
		return get_bytes(decoder, number >> 1, text);
	return !number || get_earlier_text(decoder->begin, number >> 1, start, text);
}

static bool get_field(struct rvp_decoder *decoder, char kind, void *value)
{
	switch (kind) {
	case 'U': return get_number(decoder, value);
	case 'T': return get_difference(decoder, value, &decoder->delta.stamp);
	case 'A': return get_difference(decoder, value, &decoder->delta.address);
	case 'S': return get_difference(decoder, value, &decoder->delta.stack);
	case 'P': return get_difference(decoder, value, &decoder->delta.python);
	case 'D': return get_difference(decoder, value, &decoder->delta.device_ns);
	case 'C': return get_difference(decoder, value, &decoder->delta.correlation);
	case 'X': return get_text(decoder, value);
	case 'R': return get_reference(decoder, value);
	}
	return false;
}

static bool fail(struct rvp_decoder *decoder, const uint8_t *start)
{
	decoder->at = start;
	decoder->broken = true;
	return false;
}

/* A compact event, as the record that it stands for. */
static bool get_event(struct rvp_decoder *decoder, struct rvp_record *record)
{
	struct rvp_compact_event event;

	if (!rvp_decode_event(decoder, &event))
		return fail(decoder, decoder->at);
	record->kind = event.is_alloc ? RVP_ALLOC : RVP_FREE;
	if (event.is_alloc)
		record->ALLOC = (struct rvp_record_ALLOC){.stamp = event.stamp,
							  .address = event.address,
							  .bytes = event.bytes,
							  .stack = event.stack,
							  .python = event.python,
							  .family = event.family};
	else
		record->FREE = (struct rvp_record_FREE){
		    .stamp = event.stamp, .address = event.address, .family = event.family};
	return true;
}

bool rvp_decode_next(struct rvp_decoder *decoder, struct rvp_record *record)
{
	const uint8_t *start = decoder->at;

	if (decoder->broken || start == decoder->end)
		return false;
	if (*start >= RVP_COMPACT_MARK)
		return get_event(decoder, record);
	record->kind = *decoder->at++;
	if (record->kind >= RVP_KIND_COUNT || !rvp_schemas[record->kind].name)
		return fail(decoder, start);

	const struct rvp_schema *schema = &rvp_schemas[record->kind];
	char *fields = (char *)&record->ALLOC;

	for (unsigned i = 0; i < schema->field_count; i++)
		if (!get_field(decoder, schema->fields[i].kind, fields + schema->fields[i].offset))
			return fail(decoder, start);
	record->kind = rvp_kind_as_read(record->kind);
	return true;
}
