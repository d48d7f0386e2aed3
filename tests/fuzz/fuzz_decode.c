/* SPDX-License-Identifier: MIT */
/* fuzz_decode.c: any bytes as the payload of a chunk.
 *
 *   (F1) The decoder stays inside them, and its texts do.
 *   (F2) It ends: at the end, or broken at a place inside; it always moves on.
 *   (F3) It is deterministic: a second decoder over the same bytes gives the same records.
 *   (F4) Runs of compact events, from memory that ends where the bytes do, are the records that came one by one.
 */
#include "record/event_decode.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <string.h>

static void check_text(struct rvp_text text, const uint8_t *bytes, size_t length)
{
	const uint8_t *start = (const uint8_t *)text.bytes;

	if (start < bytes || start > bytes + length || text.length > (size_t)(bytes + length - start))
		abort();
}

static void check_texts(const struct rvp_record *record, const uint8_t *bytes, size_t length)
{
	const struct rvp_schema *schema = &rvp_schemas[record->kind];
	const char *fields = (const char *)&record->ALLOC;
	struct rvp_text text;

	for (unsigned i = 0; i < schema->field_count; i++) {
		if (schema->fields[i].kind != 'X' && schema->fields[i].kind != 'R')
			continue;
		memcpy(&text, fields + schema->fields[i].offset, sizeof text);
		check_text(text, bytes, length);
	}
}

static bool stands_for(const struct rvp_record *record, const struct rvp_compact_event *event)
{
	if (!event->is_alloc)
		return record->kind == RVP_FREE && record->FREE.stamp == event->stamp &&
		       record->FREE.address == event->address && record->FREE.family == event->family;
	return record->kind == RVP_ALLOC && record->ALLOC.stamp == event->stamp &&
	       record->ALLOC.address == event->address && record->ALLOC.bytes == event->bytes &&
	       record->ALLOC.stack == event->stack && record->ALLOC.python == event->python;
}

static void check_runs(const uint8_t *bytes, size_t length)
{
	uint8_t *exact = malloc(length + 1);
	struct rvp_decoder decoder = rvp_decoder_over(exact, length), one = rvp_decoder_over(bytes, length);
	struct rvp_compact_event events[7];
	struct rvp_record record;
	size_t count;

	memcpy(exact, bytes, length);
	do {
		count = rvp_decode_events(&decoder, events, sizeof events / sizeof events[0]);
		for (size_t i = 0; i < count; i++)
			if (!rvp_decode_next(&one, &record) || !stands_for(&record, &events[i]))
				abort();
		if (decoder.at - exact != one.at - bytes)
			abort();
	} while (count || (rvp_decode_next(&decoder, &record) && rvp_decode_next(&one, &record)));
	if (decoder.broken != (rvp_decode_next(&one, &record), one.broken) || decoder.at - exact != one.at - bytes)
		abort();
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct rvp_decoder decoder = rvp_decoder_over(bytes, length), again = decoder;
	struct rvp_record record, same;

	memset(&record, 0, sizeof record);
	memset(&same, 0, sizeof same);
	for (;;) {
		const uint8_t *before = decoder.at;
		bool more = rvp_decode_next(&decoder, &record);

		if (more != rvp_decode_next(&again, &same))
			abort();
		if (!more)
			break;
		if (decoder.at <= before || decoder.at > bytes + length)
			abort();
		if (memcmp(&record, &same, sizeof record) != 0)
			abort();
		check_texts(&record, bytes, length);
	}
	if (decoder.at < bytes || decoder.at > bytes + length ||
	    (!decoder.broken && decoder.at != bytes + length))
		abort();
	check_runs(bytes, length);
	return 0;
}
