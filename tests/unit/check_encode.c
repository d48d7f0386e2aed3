/* SPDX-License-Identifier: MIT */
/* check_encode.c: what the encoder writes, byte by byte. */
#include "record/encode.h"
#include "tests/unit/run_suite.h"

#include <check.h>

static void expect_number(uint64_t value, const char *bytes, size_t length)
{
	uint8_t room[16];

	ck_assert_uint_eq((size_t)(rvp_put_number(room, value) - room), length);
	ck_assert_mem_eq(room, bytes, length);
}

START_TEST(numbers)
{
	expect_number(0, "\x00", 1);
	expect_number(127, "\x7f", 1);
	expect_number(128, "\x80\x01", 2);
	expect_number(300, "\xac\x02", 2);
	expect_number(UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
}
END_TEST

START_TEST(zigzag)
{
	ck_assert_uint_eq(rvp_zigzag(0), 0);
	ck_assert_uint_eq(rvp_zigzag((uint64_t)-1), 1);
	ck_assert_uint_eq(rvp_zigzag(1), 2);
	ck_assert_uint_eq(rvp_zigzag((uint64_t)INT64_MIN), UINT64_MAX);
}
END_TEST

START_TEST(a_record_byte_by_byte)
{
	struct rvp_delta delta = {.stamp = 100, .address = 0x1000};
	struct rvp_record_FREE record = {.stamp = 103, .address = 0xff8, .family = RVP_FREE};
	uint8_t room[RVP_EVENT_MAX_BYTES];
	const uint8_t expected[] = {15, 6, 15, 15};

	ck_assert_uint_eq((size_t)(rvp_put_FREE(room, &delta, &record) - room), sizeof expected);
	ck_assert_mem_eq(room, expected, sizeof expected);
	ck_assert_uint_eq(delta.stamp, 103);
	ck_assert_uint_eq(delta.address, 0xff8);
}
END_TEST

START_TEST(long_texts_are_cut)
{
	static char text[RVP_TEXT_MAX_BYTES + 100];
	static uint8_t room[RVP_TEXT_MAX_BYTES + 200];
	struct rvp_delta delta = {0};
	struct rvp_record_ENVIRONMENT record = {.text = {text, sizeof text}};

	memset(text, 'x', sizeof text);
	ck_assert_uint_eq((size_t)(rvp_put_ENVIRONMENT(room, &delta, &record) - room),
			  1 + 3 + RVP_TEXT_MAX_BYTES);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("encode");
	TCase *cases = tcase_create("encode");

	suite_add_tcase(suite, cases);
	tcase_add_test(cases, numbers);
	tcase_add_test(cases, zigzag);
	tcase_add_test(cases, a_record_byte_by_byte);
	tcase_add_test(cases, long_texts_are_cut);
	return run_suite(suite);
}
