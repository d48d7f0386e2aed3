/* SPDX-License-Identifier: MIT */
/* check_decode.c: every kind comes back as it was written, and nothing that is no record is handed out. */
#include "record/decode.h"
#include "record/encode.h"
#include "tests/unit/run_suite.h"

#include <check.h>

static const uint64_t samples[] = {0, 1, 127, 128, 16383, 16384, 1u << 31, 0x7fffffffffff, UINT64_MAX};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static void fill(struct rvp_record *record, int kind, unsigned round)
{
	const struct rvp_schema *schema = &rvp_schemas[kind];
	char *fields = (char *)&record->ALLOC;

	memset(record, 0, sizeof *record);
	record->kind = (enum rvp_kind)kind;
	for (unsigned i = 0; i < schema->field_count; i++) {
		char *at = fields + schema->fields[i].offset;

		if (schema->fields[i].kind == 'X' || schema->fields[i].kind == 'R')
			*(struct rvp_text *)(void *)at = (struct rvp_text){"some text", (round + i) % 10};
		else
			*(uint64_t *)(void *)at = samples[(round + i) % SAMPLES];
	}
}

static uint8_t *put(uint8_t *at, struct rvp_delta *delta, const struct rvp_record *record)
{
#define RVP_RECORD(ID, number, name, what) \
	if (record->kind == number)        \
		return rvp_put_##ID(at, delta, &record->ID);
#include "record/schema.def"
	return at;
}

static void compare(const struct rvp_record *left, const struct rvp_record *right)
{
	const struct rvp_schema *schema = &rvp_schemas[left->kind];

	ck_assert_int_eq(rvp_kind_as_read(left->kind), right->kind);
	for (unsigned i = 0; i < schema->field_count; i++) {
		const char *a = (const char *)&left->ALLOC + schema->fields[i].offset;
		const char *b = (const char *)&right->ALLOC + schema->fields[i].offset;

		if (schema->fields[i].kind != 'X' && schema->fields[i].kind != 'R') {
			ck_assert_uint_eq(*(const uint64_t *)(const void *)a,
					  *(const uint64_t *)(const void *)b);
			continue;
		}
		const struct rvp_text *one = (const void *)a, *two = (const void *)b;

		ck_assert_uint_eq(one->length, two->length);
		ck_assert(one->length == 0 || memcmp(one->bytes, two->bytes, one->length) == 0);
	}
}

static size_t write_all(uint8_t *room, unsigned rounds)
{
	struct rvp_delta delta = {0};
	struct rvp_record record;
	uint8_t *at = room;

	for (unsigned round = 0; round < rounds; round++)
		for (int kind = 0; kind < RVP_KIND_COUNT; kind++)
			if (rvp_schemas[kind].name) {
				fill(&record, kind, round);
				at = put(at, &delta, &record);
			}
	return (size_t)(at - room);
}

static uint8_t room[1 << 17];

START_TEST(every_kind_comes_back)
{
	size_t length = write_all(room, 9);
	struct rvp_decoder decoder = rvp_decoder_over(room, length);
	struct rvp_record read, expected;

	for (unsigned round = 0; round < 9; round++)
		for (int kind = 0; kind < RVP_KIND_COUNT; kind++)
			if (rvp_schemas[kind].name) {
				fill(&expected, kind, round);
				ck_assert(rvp_decode_next(&decoder, &read));
				compare(&expected, &read);
			}
	ck_assert(!rvp_decode_next(&decoder, &read) && !decoder.broken);
}
END_TEST

static struct rvp_text text_at(const uint8_t *place)
{
	return (struct rvp_text){NULL, (uint64_t)(place - room)};
}

/* A text is given by the place where a record before has it; once, twice, across kinds. */
START_TEST(texts_that_stand_before)
{
	static const struct rvp_text layer = {"layers.0", 8}, weights = {"weights", 7};
	struct rvp_delta delta = {0};
	struct rvp_record_SCOPE_REF first = {.stamp = 1, .category = weights, .name = layer};
	uint8_t *end = rvp_put_SCOPE_REF(room, &delta, &first);
	struct rvp_record_TAG_REF second = {
	    .stamp = 2, .address = 77, .category = text_at(end - 1 - 9 - 8), .name = text_at(end - 1 - 9)};
	uint8_t *rest = rvp_put_TAG_REF(end, &delta, &second);
	struct rvp_decoder decoder = rvp_decoder_over(room, (size_t)(rest - room));
	struct rvp_record record;

	ck_assert_int_le(rest - end, 9);
	ck_assert(rvp_decode_next(&decoder, &record) && record.kind == RVP_SCOPE);
	ck_assert_uint_eq(record.SCOPE.args.length, 0);
	ck_assert(rvp_decode_next(&decoder, &record) && record.kind == RVP_TAG);
	ck_assert_uint_eq(record.TAG.address, 77);
	ck_assert_uint_eq(record.TAG.category.length, 7);
	ck_assert_mem_eq(record.TAG.category.bytes, "weights", 7);
	ck_assert_uint_eq(record.TAG.name.length, 8);
	ck_assert_mem_eq(record.TAG.name.bytes, "layers.0", 8);
}
END_TEST

/* A place that holds no text, one of the field itself, one behind it, and one whose text reaches into the field. */
START_TEST(places_without_a_text)
{
	struct rvp_delta delta = {0};
	struct rvp_record_SCOPE_REF first = {.stamp = 1, .name = {"layers.0", 8}};
	size_t begin = (size_t)(rvp_put_SCOPE_REF(room, &delta, &first) - room);

	for (size_t place = 1; place < 64; place++) {
		struct rvp_delta before = delta;
		struct rvp_record_SCOPE_REF bad = {.stamp = 2, .category = {NULL, place}};
		struct rvp_decoder decoder =
		    rvp_decoder_over(room, (size_t)(rvp_put_SCOPE_REF(room + begin, &before, &bad) - room));
		struct rvp_record record;

		ck_assert(rvp_decode_next(&decoder, &record));
		if (!rvp_decode_next(&decoder, &record)) {
			ck_assert(decoder.broken);
			continue;
		}
		ck_assert_uint_lt(place, begin);
		ck_assert((const uint8_t *)record.SCOPE.category.bytes + record.SCOPE.category.length <=
			  room + begin + 4);
	}
}
END_TEST

/* A cut payload gives whole records up to the cut: never more, never one that is not there. */
START_TEST(cut_at_every_byte)
{
	size_t length = write_all(room, 1);

	for (size_t cut = 0; cut <= length; cut++) {
		struct rvp_decoder decoder = rvp_decoder_over(room, cut);
		struct rvp_record record;
		const uint8_t *end = room;

		while (rvp_decode_next(&decoder, &record))
			end = decoder.at;
		ck_assert(decoder.at == end && end <= room + cut);
		ck_assert_int_eq(decoder.broken, end != room + cut);
	}
}
END_TEST

static void expect_broken(const char *bytes, size_t length)
{
	struct rvp_decoder decoder = rvp_decoder_over(bytes, length);
	struct rvp_record record;

	ck_assert(!rvp_decode_next(&decoder, &record));
	ck_assert(decoder.broken);
	ck_assert_ptr_eq(decoder.at, bytes);
	ck_assert(!rvp_decode_next(&decoder, &record));
}

START_TEST(what_is_no_record)
{
	expect_broken("\x00", 1);                                                  /* no kind */
	expect_broken("\x7f", 1);                                                  /* an unknown one */
	expect_broken("\xff", 1);                                                  /* beyond the table */
	expect_broken("\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02\x00", 12);     /* 65 bits */
	expect_broken("\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00\x00", 13); /* more than ten bytes */
	expect_broken("\x03\x05"
		      "abcd",
		      6); /* a text that leaves */
	expect_broken("\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
		      "abcd",
		      15); /* ... by far */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("decode");
	TCase *cases = tcase_create("decode");

	suite_add_tcase(suite, cases);
	tcase_add_test(cases, every_kind_comes_back);
	tcase_add_test(cases, texts_that_stand_before);
	tcase_add_test(cases, places_without_a_text);
	tcase_add_test(cases, cut_at_every_byte);
	tcase_add_test(cases, what_is_no_record);
	return run_suite(suite);
}
