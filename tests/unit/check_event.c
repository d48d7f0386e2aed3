/* SPDX-License-Identifier: MIT */
/* check_event.c: the compact form of events (record/event.h): every one comes back, as an event and as a
 * record; cut anywhere it is whole or not there; the example of docs/format.md is what is written.
 *
 * Usage: check_event FORMAT_MD
 */
#include "preload/arch/x86_64/machine.h"
#include "record/event_decode.h"
#include "record/event_encode.h"
#include "record/event_skip.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static const char *format_path;
static bool has_lzcnt;

enum { EVENTS = 4096, RUN = 37 };

static uint8_t room[EVENTS * RVP_COMPACT_ROOM_BYTES];
static struct rvp_compact_event written[EVENTS], read_back[EVENTS];

static uint64_t draw(void)
{
	static uint64_t random = 88172645463325252u;

	random ^= random << 13;
	random ^= random >> 7;
	return random ^= random << 17;
}

/* Of any magnitude. */
static uint64_t draw_wide(void)
{
	uint64_t value = draw();

	return value >> value % 64;
}

static struct rvp_compact_event draw_event(uint64_t last_stamp)
{
	struct rvp_compact_event event = {
	    .stamp = last_stamp,
	    .address = draw() % 3 ? 0x7f0000000000 + draw_wide() % 0x100000000 * 8 : draw_wide(),
	    .family = (uint8_t)(draw() % RVP_FAMILY_COUNT),
	    .is_alloc = draw() & 1,
	    .has_stamp = draw() & 1};

	if (event.has_stamp)
		event.stamp += (uint64_t)((int64_t)(draw_wide() << 4) >> 4);
	if (event.is_alloc) {
		event.bytes = draw_wide();
		event.stack = (uint32_t)draw_wide();
		event.python = draw() % 2 ? 0 : (uint32_t)draw_wide();
	}
	return event;
}

static uint8_t *put(uint8_t *at, struct rvp_delta *delta, const struct rvp_compact_event *event)
{
	const uint64_t *stamp = event->has_stamp ? &event->stamp : NULL;

	if (event->is_alloc)
		return rvp_put_event_alloc(at, delta, stamp, event->address, event->bytes, event->stack,
					   event->python, event->family, has_lzcnt);
	return rvp_put_event_free(at, delta, stamp, event->address, event->family, has_lzcnt);
}

/* EVENTS random ones that fit; the length. */
static size_t write_all(void)
{
	struct rvp_delta delta = {0};
	uint8_t *at = room;

	for (size_t i = 0; i < EVENTS; i++) {
		do
			written[i] = draw_event(delta.stamp);
		while (written[i].has_stamp && !rvp_event_stamp_fits(written[i].stamp, &delta));
		uint8_t *end = put(at, &delta, &written[i]);

		ck_assert_int_le(end - at, RVP_COMPACT_BYTES);
		at = end;
	}
	return (size_t)(at - room);
}

static bool is_same(const struct rvp_compact_event *left, const struct rvp_compact_event *right)
{
	return left->stamp == right->stamp && left->address == right->address &&
	       left->bytes == right->bytes && left->stack == right->stack && left->python == right->python &&
	       left->family == right->family && left->is_alloc == right->is_alloc &&
	       left->has_stamp == right->has_stamp;
}

static bool are_same(size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_same(&written[i], &read_back[i]))
			return false;
	return true;
}

static bool stands_for(const struct rvp_record *record, const struct rvp_compact_event *event)
{
	if (!event->is_alloc)
		return record->kind == RVP_FREE && record->FREE.stamp == event->stamp &&
		       record->FREE.address == event->address && record->FREE.family == event->family;
	return record->kind == RVP_ALLOC && record->ALLOC.stamp == event->stamp &&
	       record->ALLOC.address == event->address && record->ALLOC.bytes == event->bytes &&
	       record->ALLOC.stack == event->stack && record->ALLOC.python == event->python &&
	       record->ALLOC.family == event->family;
}

START_TEST(every_event_comes_back)
{
	for (int round = 0; round < 20; round++) {
		has_lzcnt = round % 2 && rvp_machine_has_lzcnt();
		/* In memory of just this length: sanitizers see a read behind it. */
		size_t length = write_all(), count, sum = 0;
		uint8_t *exact = malloc(length);

		memcpy(exact, room, length);
		struct rvp_decoder decoder = rvp_decoder_over(exact, length);

		while ((count = rvp_decode_events(&decoder, read_back + sum,
						  EVENTS - sum < RUN ? EVENTS - sum : RUN)))
			sum += count;
		ck_assert_uint_eq(sum, EVENTS);
		ck_assert(decoder.at == decoder.end);
		ck_assert(are_same(EVENTS));
		free(exact);
	}
}
END_TEST

START_TEST(as_records)
{
	struct rvp_decoder decoder = rvp_decoder_over(room, write_all());
	struct rvp_record record;

	for (size_t i = 0; i < EVENTS; i++)
		ck_assert(rvp_decode_next(&decoder, &record) && stands_for(&record, &written[i]));
	ck_assert(!rvp_decode_next(&decoder, &record) && !decoder.broken);
}
END_TEST

/* One that the short forms can write, at the edges of each length too. */
static struct rvp_compact_event draw_plain_event(void)
{
	struct rvp_compact_event event = {.address = (draw() % 3 ? 0x7f0000000000 + draw_wide() % 0x100000000 * 8
								 : draw_wide() >> 8 & ~(uint64_t)7),
					  .is_alloc = draw() & 1};

	event.family = (event.is_alloc ? rvp_alloc_families : rvp_free_families)[draw() % 3];
	if (event.is_alloc) {
		event.bytes = draw() % 4 ? draw_wide() & UINT16_MAX : UINT8_MAX + (draw() & 1);
		event.stack = (uint32_t)draw_wide();
	}
	return event;
}

START_TEST(the_short_forms_are_the_same_bytes)
{
	struct rvp_delta delta = {0}, plain_delta = {0};
	uint8_t plain[RVP_COMPACT_ROOM_BYTES];

	if (!rvp_machine_has_lzcnt())
		return;
	for (int i = 0; i < 20000; i++) {
		struct rvp_compact_event event = draw_plain_event();
		uint64_t length = (uint64_t)(put(room, &delta, &event) - room);

		ck_assert_uint_eq(event.is_alloc ? rvp_put_plain_alloc(plain, &plain_delta, event.address, event.bytes,
								       event.stack, event.family)
						 : rvp_put_plain_free(plain, &plain_delta, event.address, event.family),
				  length);
		ck_assert_mem_eq(plain, room, length);
		ck_assert_mem_eq(&plain_delta, &delta, sizeof delta);
	}
}
END_TEST

/* Records of other kinds between events: only stamps are common to both. */
START_TEST(among_other_records)
{
	struct rvp_delta delta = {0};
	struct rvp_compact_event event;
	struct rvp_record record;
	uint8_t *at = rvp_put_event_alloc(room, &delta, &(uint64_t){5000}, 0x7f0000000040, 1, 1, 0,
					  RVP_FAMILY_MALLOC, has_lzcnt);

	at =
	    rvp_put_NODE(at, &delta, &(struct rvp_record_NODE){.node = 9, .parent = 8, .pc = 0x555500001234});
	at = rvp_put_THREAD_NAME(at, &delta, &(struct rvp_record_THREAD_NAME){.stamp = 7000, .tid = 3});
	uint8_t *before = at;

	at = rvp_put_event_alloc(at, &delta, NULL, 0x7f0000000080, 24, 2, 1, RVP_FAMILY_MALLOC, has_lzcnt);
	ck_assert_int_eq(at - before, 6);
	struct rvp_decoder decoder = rvp_decoder_over(room, (size_t)(at - room));

	ck_assert_uint_eq(rvp_decode_events(&decoder, &event, 1), 1);
	ck_assert_uint_eq(rvp_decode_events(&decoder, &event, 1), 0);
	ck_assert(rvp_decode_next(&decoder, &record) && record.kind == RVP_NODE &&
		  record.NODE.pc == 0x555500001234);
	ck_assert(rvp_decode_next(&decoder, &record) && record.kind == RVP_THREAD_NAME);
	ck_assert_uint_eq(rvp_decode_events(&decoder, &event, 1), 1);
	ck_assert_uint_eq(event.stamp, 7000);
	ck_assert_uint_eq(event.address, 0x7f0000000080);
	ck_assert_uint_eq(event.stack, 2);
}
END_TEST

START_TEST(cut_at_every_byte)
{
	static size_t end_of[EVENTS + 1];
	struct rvp_delta delta = {0};
	struct rvp_record record;

	write_all();
	for (size_t i = 0; i < EVENTS; i++)
		end_of[i + 1] =
		    end_of[i] + (size_t)(put(room + end_of[i], &delta, &written[i]) - (room + end_of[i]));
	for (size_t cut = 0, whole = 0; cut < 1500; cut++) {
		uint8_t *exact = malloc(cut + 1);
		struct rvp_decoder decoder = rvp_decoder_over(exact, cut);

		memcpy(exact, room, cut);
		whole += end_of[whole + 1] <= cut;
		ck_assert(rvp_decode_events(&decoder, read_back, EVENTS) == whole && are_same(whole));
		ck_assert(decoder.at == exact + end_of[whole] && !rvp_decode_next(&decoder, &record));
		ck_assert(decoder.broken == (end_of[whole] != cut));
		free(exact);
	}
}
END_TEST

/* Lengths of a node that are none. */
/* Anything, cut anywhere: as many events, the same stamps, and the same place behind them. */
START_TEST(skipped_is_what_would_be_read)
{
	size_t whole = write_all(), wrong = 0;

	for (int round = 0; round < 50000; round++) {
		size_t first = draw() % (whole - 400), length = draw() % 400;
		struct rvp_skipped expected = {.first_stamp = UINT64_MAX}, skipped;
		struct rvp_decoder read = rvp_decoder_over(room + first, length), skip = read;
		struct rvp_compact_event event;

		while (rvp_decode_event(&read, &event))
			rvp_see_skipped(&expected, event.stamp);
		skipped = rvp_skip_events(&skip);
		wrong += skipped.count != expected.count || skip.at != read.at || skip.delta.stamp != read.delta.stamp ||
			 skipped.first_stamp != expected.first_stamp || skipped.last_stamp != expected.last_stamp;
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(what_is_no_event)
{
	for (unsigned shape = 0; shape < 256; shape++) {
		uint8_t bytes[RVP_COMPACT_ROOM_BYTES + 1] = {RVP_COMPACT_MARK | RVP_COMPACT_ALLOC,
							     (uint8_t)shape};
		struct rvp_decoder decoder = rvp_decoder_over(bytes, sizeof bytes);
		struct rvp_compact_event event;
		bool is_event = (shape >> 2 & 7) <= 4 && shape >> 5 <= 4;

		ck_assert_uint_eq(rvp_decode_events(&decoder, &event, 1), is_event);
		ck_assert(is_event || decoder.at == bytes);
	}
}
END_TEST

/* The example of docs/format.md, and that it is there. */
START_TEST(the_example)
{
	static const char expected[] =
	    "e5 24 81 3e 00 00 00 00 c0 1f 18 0e 04 / 85 10 00 00 00 c0 1f / c0 00 0e 20";
	static char text[1 << 18];
	struct rvp_delta delta = {0};
	char hex[256] = "";
	uint8_t *end[4] = {room};
	FILE *file = fopen(format_path, "re");

	end[1] = rvp_put_event_alloc(end[0], &delta, &(uint64_t){1000}, 0x7f0000000000, 24, 7, 2,
				     RVP_FAMILY_MALLOC, has_lzcnt);
	end[2] = rvp_put_event_free(end[1], &delta, NULL, 0x7f0000000040, RVP_FAMILY_FREE, has_lzcnt);
	end[3] =
	    rvp_put_event_alloc(end[2], &delta, NULL, 0x7f0000000038, 32, 7, 2, RVP_FAMILY_MALLOC, has_lzcnt);
	for (int i = 0; i < 3; i++) {
		for (uint8_t *at = end[i]; at < end[i + 1]; at++)
			sprintf(hex + strlen(hex), "%02x ", *at);
		strcat(hex, i < 2 ? "/ " : "");
	}
	hex[strlen(hex) - 1] = 0;
	ck_assert_str_eq(hex, expected);
	ck_assert(file && fread(text, 1, sizeof text - 1, file) > 0);
	fclose(file);
	ck_assert_ptr_nonnull(strstr(text, expected));
}
END_TEST

int main(int count, char **words)
{
	Suite *suite = suite_create("event");
	TCase *cases = tcase_create("event");

	format_path = count > 1 ? words[1] : "docs/format.md";
	suite_add_tcase(suite, cases);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, every_event_comes_back);
	tcase_add_test(cases, as_records);
	tcase_add_test(cases, the_short_forms_are_the_same_bytes);
	tcase_add_test(cases, among_other_records);
	tcase_add_test(cases, cut_at_every_byte);
	tcase_add_test(cases, skipped_is_what_would_be_read);
	tcase_add_test(cases, what_is_no_event);
	tcase_add_test(cases, the_example);
	return run_suite(suite);
}
