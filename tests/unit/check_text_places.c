/* SPDX-License-Identifier: MIT */
/* check_text_places.c: what is told of texts by their place in the chunk is read back as it was said,
 * whatever buffer it came from; each chunk alone. */
#include "preload/text_places.h"
#include "preload/own.h"
#include "record/decode.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAID_MAX = 20000, BUFFERS = 40, BUFFER_BYTES = 48 };

struct said {
	char name[BUFFER_BYTES], args[BUFFER_BYTES];
};

__thread struct rvp_local rvp_local __attribute__((tls_model("initial-exec")));
static struct rvp_counters counters;
static struct said *said; /* of the open chunk */
static unsigned said_count, flush_count, cut_count;

void rvp_lose(enum rvp_loss reason, uint64_t count)
{
	ck_assert_int_eq(reason, RVP_LOSS_TEXT_CUT);
	cut_count += (unsigned)count;
}

static bool is_same(struct rvp_text text, const char *expected)
{
	return text.length == strlen(expected) && memcmp(text.bytes, expected, text.length) == 0;
}

/* The chunk's records, by the decoder alone, are what was said. */
static void collect(struct rvp_thread *thread)
{
	struct rvp_decoder decoder =
	    rvp_decoder_over(rvp_slot_payload(thread->slot), rvp_slot_length(thread->slot));
	struct rvp_record record;

	for (unsigned i = 0; i < said_count; i++) {
		if (!rvp_decode_next(&decoder, &record) || record.kind != RVP_SCOPE ||
		    !is_same(record.SCOPE.category, "kv_cache") ||
		    !is_same(record.SCOPE.name, said[i].name) || !is_same(record.SCOPE.args, said[i].args))
			ck_abort_msg("record %u of chunk %u is not %s, %s", i, flush_count, said[i].name,
				     said[i].args);
	}
	ck_assert(!rvp_decode_next(&decoder, &record) && !decoder.broken);
	said_count = 0;
	flush_count++;
	rvp_slot_restart(thread->slot);
	rvp_thread_begin_chunk(thread);
}

uint8_t *rvp_emit_flush(struct rvp_thread *thread, uint64_t bytes)
{
	collect(thread);
	return rvp_slot_room(thread->slot, RVP_SLOT_BYTES, bytes);
}

static struct rvp_thread *make_thread(void)
{
	struct rvp_thread *thread = calloc(1, sizeof *thread);

	rvp_local.counters = &counters;
	thread->slot = calloc(1, RVP_SLOT_BYTES);
	rvp_slot_restart(thread->slot);
	said = calloc(SAID_MAX, sizeof *said);
	said_count = flush_count = cut_count = 0;
	return thread;
}

static void free_thread(struct rvp_thread *thread)
{
	free(thread->slot);
	free(thread);
	free(said);
}

static uint32_t tell(struct rvp_thread *thread, const char *name, const char *args)
{
	struct rvp_told told[3] = {{.from = "kv_cache"}, {.from = name}, {.from = args}};
	uint32_t before = rvp_slot_length(thread->slot);
	bool is_told = RVP_EMIT_TOLD(thread, SCOPE_REF, told, 3, .category = told[0].text,
				     .name = told[1].text, .args = told[2].text);

	if (!is_told || said_count + 1 == SAID_MAX)
		ck_abort();
	snprintf(said[said_count].name, BUFFER_BYTES, "%s", name);
	snprintf(said[said_count].args, BUFFER_BYTES, "%s", args);
	said_count++;
	return rvp_slot_length(thread->slot) - before;
}

START_TEST(a_text_is_told_once_a_chunk)
{
	struct rvp_thread *thread = make_thread();
	char copy[] = "model.layers.0.attention";
	uint32_t first = tell(thread, "model.layers.0.attention", "");

	ck_assert_uint_gt(first, 24 + 8);
	ck_assert_uint_le(tell(thread, "model.layers.0.attention", ""), 10);
	ck_assert_uint_le(tell(thread, copy, ""), 10);
	ck_assert_uint_le(tell(thread, copy, copy), 10);
	collect(thread);
	ck_assert_uint_eq(tell(thread, "model.layers.0.attention", ""), first);
	collect(thread);
	free_thread(thread);
}
END_TEST

/* Buffers are written over with texts of any length, prefixes of each other among them. */
START_TEST(buffers_change)
{
	static char buffers[BUFFERS][BUFFER_BYTES];
	struct rvp_thread *thread = make_thread();

	srand(7);
	for (int i = 0; i < 300000; i++) {
		char *name = buffers[rand() % BUFFERS], *args = buffers[rand() % BUFFERS];

		if (rand() % 4 == 0)
			snprintf(name, BUFFER_BYTES, "model.layers.%d.attention.projection", rand() % 200);
		if (rand() % 4 == 0)
			name[rand() % (BUFFER_BYTES - 1)] = '\0';
		tell(thread, name, args);
	}
	collect(thread);
	ck_assert_uint_gt(flush_count, 20);
	free_thread(thread);
}
END_TEST

/* More texts than the table has places: each is still right. */
START_TEST(more_texts_than_places)
{
	static char names[5 * RVP_TEXT_PLACES][BUFFER_BYTES];
	struct rvp_thread *thread = make_thread();

	for (int round = 0; round < 4; round++)
		for (int i = 0; i < 5 * RVP_TEXT_PLACES; i++) {
			snprintf(names[i], BUFFER_BYTES, "operator %d", i);
			tell(thread, names[i], names[(i * 7 + round) % (5 * RVP_TEXT_PLACES)]);
		}
	collect(thread);
	free_thread(thread);
}
END_TEST

/* A text of any length that comes when the chunk is full is spelled out in the next one. */
START_TEST(a_chunk_ends_between_texts)
{
	struct rvp_thread *thread = make_thread();

	for (unsigned left = 0; left < 400; left += 13) {
		uint8_t *end = rvp_slot_payload(thread->slot) + RVP_SLOT_BYTES - RVP_SLOT_PAYLOAD_AT - left;
		uint32_t flushes;

		tell(thread, "before", "also before");
		flushes = flush_count;
		while (flush_count == flushes &&
		       rvp_slot_payload(thread->slot) + rvp_slot_length(thread->slot) < end)
			tell(thread, "before", "also before");
		tell(thread, "before", "a text of forty bytes or so, not told yet");
		tell(thread, "before", "also before");
		collect(thread);
	}
	free_thread(thread);
}
END_TEST

START_TEST(a_long_text_is_cut)
{
	struct rvp_thread *thread = make_thread();
	struct rvp_record record;
	struct rvp_decoder decoder;
	char text[1100];

	memset(text, 'x', sizeof text);
	text[1099] = '\0';
	for (int i = 0; i < 2; i++) {
		struct rvp_told told[1] = {{.from = text}};

		ck_assert(RVP_EMIT_TOLD(thread, SCOPE_REF, told, 1, .args = told[0].text));
	}
	ck_assert_uint_eq(cut_count, 2);
	decoder = rvp_decoder_over(rvp_slot_payload(thread->slot), rvp_slot_length(thread->slot));
	ck_assert(rvp_decode_next(&decoder, &record) && record.SCOPE.args.length == 1024);
	ck_assert(rvp_decode_next(&decoder, &record) && record.SCOPE.args.length == 1024);
	free_thread(thread);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("text_places");
	TCase *cases = tcase_create("text_places");

	suite_add_tcase(suite, cases);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, a_text_is_told_once_a_chunk);
	tcase_add_test(cases, buffers_change);
	tcase_add_test(cases, more_texts_than_places);
	tcase_add_test(cases, a_chunk_ends_between_texts);
	tcase_add_test(cases, a_long_text_is_cut);
	return run_suite(suite);
}
