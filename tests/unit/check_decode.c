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

		if (schema->fields[i].kind == 'X')
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

	ck_assert_int_eq(left->kind, right->kind);
	for (unsigned i = 0; i < schema->field_count; i++) {
		const char *a = (const char *)&left->ALLOC + schema->fields[i].offset;
		const char *b = (const char *)&right->ALLOC + schema->fields[i].offset;

		if (schema->fields[i].kind != 'X') {
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
	tcase_add_test(cases, cut_at_every_byte);
	tcase_add_test(cases, what_is_no_record);
	return run_suite(suite);
}
