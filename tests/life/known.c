/* SPDX-License-Identifier: MIT */
/* known.c: see known.h. */
#include "tests/life/known.h"

#include "record/decode.h"
#include "record/encode.h"

#include <string.h>

enum { STAMP_FIRST = 1000, STAMP_STEP = 13 };

static const char letters[] = "the quick brown fox jumps over the lazy dog again";

static uint64_t stamp_of(uint64_t number)
{
	return STAMP_FIRST + STAMP_STEP * number;
}

static uint64_t address_of(uint64_t number)
{
	return 0x7f0000000000 + number * 0x9e3779b97 % 0x1000000 * 16;
}

static struct rvp_text text_of(uint64_t number)
{
	return (struct rvp_text){.bytes = letters, .length = number % (sizeof letters - 1)};
}

uint8_t *known_put(uint8_t *at, struct rvp_delta *delta, uint64_t number)
{
	if (number % 5 < 3)
		return rvp_put_ALLOC(at, delta,
				     &(struct rvp_record_ALLOC){.stamp = stamp_of(number),
								.address = address_of(number),
								.bytes = number * number,
								.stack = number % 97,
								.python = number % 7,
								.family = RVP_FAMILY_MALLOC});
	if (number % 5 == 3)
		return rvp_put_FREE(at, delta,
				    &(struct rvp_record_FREE){.stamp = stamp_of(number),
							      .address = address_of(number),
							      .family = RVP_FAMILY_FREE});
	return rvp_put_THREAD_NAME(at, delta,
				   &(struct rvp_record_THREAD_NAME){
				       .stamp = stamp_of(number), .tid = number, .name = text_of(number)});
}

uint64_t known_number(const struct rvp_record *record)
{
	/* The stamp is the first field of each of the kinds that are used here. */
	uint64_t stamp = record->ALLOC.stamp - STAMP_FIRST;

	return stamp % STAMP_STEP == 0 ? stamp / STAMP_STEP : UINT64_MAX;
}

bool known_is(const struct rvp_record *record, uint64_t number)
{
	struct rvp_text text = text_of(number);

	if (known_number(record) != number)
		return false;
	if (number % 5 < 3)
		return record->kind == RVP_ALLOC && record->ALLOC.address == address_of(number) &&
		       record->ALLOC.bytes == number * number && record->ALLOC.stack == number % 97 &&
		       record->ALLOC.python == number % 7 && record->ALLOC.family == RVP_FAMILY_MALLOC;
	if (number % 5 == 3)
		return record->kind == RVP_FREE && record->FREE.address == address_of(number) &&
		       record->FREE.family == RVP_FAMILY_FREE;
	return record->kind == RVP_THREAD_NAME && record->THREAD_NAME.tid == number &&
	       record->THREAD_NAME.name.length == text.length &&
	       memcmp(record->THREAD_NAME.name.bytes, text.bytes, text.length) == 0;
}

const char *known_prefix(const struct rvp_log *log, uint32_t slots, uint64_t *count)
{
	uint64_t next[16];

	*count = 0;
	for (uint32_t i = 0; i < slots; i++)
		next[i] = i;
	if (log->torn_chunks || log->missing_chunks)
		return "a chunk is said to be missing or torn";
	for (size_t i = 0; i < log->chunk_count; i++) {
		const struct rvp_chunk *chunk = &log->chunks[i];
		struct rvp_decoder decoder = rvp_decoder_over(chunk->payload, chunk->payload_bytes);
		struct rvp_record record;

		if (chunk->slot >= slots)
			return "a chunk of a slot that does not exist";
		for (; rvp_decode_next(&decoder, &record); next[chunk->slot] += slots, ++*count)
			if (!known_is(&record, next[chunk->slot]))
				return known_number(&record) < next[chunk->slot]
					   ? "a record is there twice"
					   : "a record is lost or invented";
		if (decoder.broken)
			return "a chunk holds something that is no record";
	}
	return NULL;
}
