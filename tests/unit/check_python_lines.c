/* SPDX-License-Identifier: MIT */
/* check_python_lines.c: lines of instructions, against what CPython itself says.
 *
 * Origin of the tables: CPython 3.8.18, 3.9.18, 3.10.13, 3.11.7, 3.12.1 and 3.13.0 compiled this function and
 * printed co_lnotab (before 3.10) or co_linetable, and the lines by co_lines() or dis.findlinestarts(); where
 * that says None, the line of the def is expected. The 200 empty lines make steps that need two bytes.
 *
 *     1  def sample(values, limit=3):
 *     2      total = 0
 *     3      for value in values:
 *     4          total += (value *
 *     5                    limit)
 *     6      with open("/dev/null") as file:
 *     7          total -= len(file.read())
 *   208      return [total,
 *   209              "x" * total]
 */
#include "report/python_lines.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>

/* Instructions up to `end` (a byte offset, not in it) are of `line`. {0, 0} ends a list. */
struct stretch {
	uint32_t end, line;
};

static const uint8_t packed_3_8[] = {0x00, 0x01, 0x04, 0x01, 0x08, 0x01, 0x04, 0x01, 0x02, 0xff, 0x08,
				     0x02, 0x0a, 0x01, 0x1a, 0x7f, 0x00, 0x4a, 0x02, 0x01, 0x06, 0xff};
static const struct stretch stretches_3_8[] = {{4, 2},  {12, 3},   {16, 4},   {18, 5},   {26, 4}, {36, 6},
					       {62, 7}, {64, 208}, {70, 209}, {74, 208}, {0, 0}};
static const uint8_t packed_3_9[] = {0x00, 0x01, 0x04, 0x01, 0x08, 0x01, 0x04, 0x01, 0x02, 0xff, 0x08,
				     0x02, 0x0a, 0x01, 0x2e, 0x7f, 0x00, 0x4a, 0x02, 0x01, 0x06, 0xff};
static const struct stretch stretches_3_9[] = {{4, 2},  {12, 3},   {16, 4},   {18, 5},   {26, 4}, {36, 6},
					       {82, 7}, {84, 208}, {90, 209}, {94, 208}, {0, 0}};
static const uint8_t packed_3_10[] = {0x04, 0x01, 0x08, 0x01, 0x04, 0x01, 0x02, 0x01, 0x08, 0xff, 0x0a, 0x02,
				      0x12, 0x01, 0x1c, 0xff, 0x00, 0x7f, 0x02, 0x4b, 0x06, 0x01, 0x04, 0xff};
static const struct stretch stretches_3_10[] = {{4, 2},  {12, 3}, {16, 4},   {18, 5},   {26, 4},   {36, 6},
						{54, 7}, {82, 6}, {84, 208}, {90, 209}, {94, 208}, {0, 0}};
static const uint8_t packed_3_11[] = {
    0x80, 0x00, 0xd8, 0x0c, 0x0d, 0x80, 0x45, 0xd8, 0x11, 0x17, 0xf0, 0x00, 0x02, 0x05, 0x19, 0xf0,
    0x00, 0x02, 0x05, 0x19, 0x88, 0x05, 0xd8, 0x08, 0x0d, 0x90, 0x25, 0xd8, 0x12, 0x17, 0xf1, 0x03,
    0x01, 0x13, 0x18, 0xf1, 0x00, 0x01, 0x09, 0x19, 0x88, 0x05, 0x88, 0x05, 0xe5, 0x09, 0x0d, 0x88,
    0x6b, 0xd1, 0x09, 0x1a, 0xd4, 0x09, 0x1a, 0xf0, 0x00, 0x01, 0x05, 0x22, 0x98, 0x64, 0xd8, 0x08,
    0x0d, 0x95, 0x13, 0x90, 0x54, 0x97, 0x59, 0x92, 0x59, 0x91, 0x5b, 0x94, 0x5b, 0xd1, 0x11, 0x21,
    0xd4, 0x11, 0x21, 0xd1, 0x08, 0x21, 0x88, 0x05, 0xf0, 0x03, 0x01, 0x05, 0x22, 0xf0, 0x00, 0x01,
    0x05, 0x22, 0xf0, 0x00, 0x01, 0x05, 0x22, 0xf1, 0x00, 0x01, 0x05, 0x22, 0xf4, 0x00, 0x01, 0x05,
    0x22, 0xf0, 0x00, 0x01, 0x05, 0x22, 0xf0, 0x00, 0x01, 0x05, 0x22, 0xf0, 0x00, 0x01, 0x05, 0x22,
    0xf0, 0x00, 0x01, 0x05, 0x22, 0xf0, 0x00, 0x01, 0x05, 0x22, 0xf0, 0x00, 0x01, 0x05, 0x22, 0xf8,
    0xf8, 0xf8, 0xf0, 0x00, 0x01, 0x05, 0x22, 0xf0, 0x00, 0x01, 0x05, 0x22, 0xf0, 0x00, 0x01, 0x05,
    0x22, 0xf0, 0x00, 0x01, 0x05, 0x22, 0xf0, 0x54, 0x06, 0x00, 0x0d, 0x12, 0xd8, 0x0c, 0x0f, 0x90,
    0x25, 0x89, 0x4b, 0xf0, 0x03, 0x01, 0x0c, 0x19, 0xf0, 0x00, 0x01, 0x05, 0x19};
static const struct stretch stretches_3_11[] = {{2, 1},   {6, 2},     {14, 3},    {18, 4},    {20, 5},
						{32, 4},  {64, 6},    {136, 7},   {168, 6},   {174, 1},
						{182, 6}, {184, 208}, {192, 209}, {196, 208}, {0, 0}};
static const uint8_t packed_3_12[] = {
    0x80, 0x00, 0xd8, 0x0c, 0x0d, 0x80, 0x45, 0xd8, 0x11, 0x17, 0xf2, 0x00, 0x02, 0x05, 0x19,
    0x88, 0x05, 0xd8, 0x08, 0x0d, 0x90, 0x25, 0xd8, 0x12, 0x17, 0xf1, 0x03, 0x01, 0x13, 0x18,
    0xf1, 0x00, 0x01, 0x09, 0x19, 0x89, 0x05, 0xf0, 0x03, 0x02, 0x05, 0x19, 0xf4, 0x06, 0x00,
    0x0a, 0x0e, 0x88, 0x6b, 0xd3, 0x09, 0x1a, 0xf0, 0x00, 0x01, 0x05, 0x22, 0x98, 0x64, 0xd8,
    0x08, 0x0d, 0x94, 0x13, 0x90, 0x54, 0x97, 0x59, 0x91, 0x59, 0x93, 0x5b, 0xd3, 0x11, 0x21,
    0xd1, 0x08, 0x21, 0x88, 0x05, 0xf7, 0x03, 0x01, 0x05, 0x22, 0xf0, 0x54, 0x06, 0x00, 0x0d,
    0x12, 0xd8, 0x0c, 0x0f, 0x90, 0x25, 0x89, 0x4b, 0xf0, 0x03, 0x01, 0x0c, 0x19, 0xf0, 0x00,
    0x01, 0x05, 0x19, 0xf7, 0x55, 0x06, 0x01, 0x05, 0x22, 0xf0, 0x00, 0x01, 0x05, 0x22, 0xfa};
static const struct stretch stretches_3_12[] = {
    {2, 1},   {6, 2},   {16, 3},    {20, 4},    {22, 5},    {34, 4},  {36, 3},  {60, 6},
    {116, 7}, {132, 6}, {134, 208}, {142, 209}, {146, 208}, {164, 6}, {170, 1}, {0, 0}};
static const uint8_t packed_3_13[] = {
    0x80, 0x00, 0xd8, 0x0c, 0x0d, 0x80, 0x45, 0xdb, 0x11, 0x17, 0x88, 0x05, 0xd8, 0x08, 0x0d, 0xd8,
    0x12, 0x17, 0xf1, 0x03, 0x01, 0x13, 0x18, 0xf1, 0x00, 0x01, 0x09, 0x19, 0x8a, 0x05, 0xf1, 0x03,
    0x00, 0x12, 0x18, 0xf4, 0x06, 0x00, 0x0a, 0x0e, 0x88, 0x6b, 0xd4, 0x09, 0x1a, 0x98, 0x64, 0xd8,
    0x08, 0x0d, 0x94, 0x13, 0x90, 0x54, 0x97, 0x59, 0x91, 0x59, 0x93, 0x5b, 0xd3, 0x11, 0x21, 0xd1,
    0x08, 0x21, 0x88, 0x05, 0xf7, 0x03, 0x00, 0x0a, 0x1b, 0xf0, 0x54, 0x06, 0x00, 0x0d, 0x12, 0xd8,
    0x0c, 0x0f, 0x90, 0x25, 0x89, 0x4b, 0xf0, 0x03, 0x01, 0x0c, 0x19, 0xf0, 0x00, 0x01, 0x05, 0x19,
    0xf7, 0x55, 0x06, 0x00, 0x0a, 0x1b, 0xd5, 0x09, 0x1a, 0xfa};
static const struct stretch stretches_3_13[] = {
    {2, 1},   {6, 2},   {16, 3},    {18, 4},    {20, 5},    {34, 4},  {38, 3},  {62, 6},
    {118, 7}, {134, 6}, {136, 208}, {144, 209}, {148, 208}, {176, 6}, {182, 1}, {0, 0}};

static const struct {
	uint32_t version;
	const uint8_t *packed;
	size_t packed_bytes;
	const struct stretch *stretches;
} cases[] = {
    {0x308, packed_3_8, sizeof packed_3_8, stretches_3_8},
    {0x309, packed_3_9, sizeof packed_3_9, stretches_3_9},
    {0x30a, packed_3_10, sizeof packed_3_10, stretches_3_10},
    {0x30b, packed_3_11, sizeof packed_3_11, stretches_3_11},
    {0x30c, packed_3_12, sizeof packed_3_12, stretches_3_12},
    {0x30d, packed_3_13, sizeof packed_3_13, stretches_3_13},
};
enum { CASE_COUNT = sizeof cases / sizeof *cases };

static struct rvp_python_lines lines_of(int number)
{
	return (struct rvp_python_lines){cases[number].version, 1, cases[number].packed,
					 cases[number].packed_bytes};
}

START_TEST(every_instruction_has_the_line_that_cpython_says)
{
	struct rvp_python_lines lines = lines_of(_i);
	uint32_t at = 0;

	for (const struct stretch *stretch = cases[_i].stretches; stretch->end; stretch++)
		for (; at < stretch->end; at += 2)
			ck_assert_msg(rvp_python_line(&lines, at) == stretch->line,
				      "version %x at %u: %u, not %u", cases[_i].version, at,
				      rvp_python_line(&lines, at), stretch->line);
	ck_assert_uint_gt(at, 50);
}
END_TEST

/* By hand from CPython's Objects/lnotab_notes.txt: "a line step of more than 127 is split", here 300 = 127 +
 * 127 + 46, and a step of code of more than 255: 256 = 255 + 1. */
START_TEST(lnotab_steps_too_large_for_a_byte_are_summed)
{
	static const uint8_t packed[] = {6, 127, 0, 127, 0, 46, 255, 0, 1, 1};
	struct rvp_python_lines lines = {0x309, 10, packed, sizeof packed};

	ck_assert_uint_eq(rvp_python_line(&lines, 4), 10);
	ck_assert_uint_eq(rvp_python_line(&lines, 6), 310);
	ck_assert_uint_eq(rvp_python_line(&lines, 260), 310);
	ck_assert_uint_eq(rvp_python_line(&lines, 262), 311);
}
END_TEST

START_TEST(an_empty_table_gives_the_line_of_the_def)
{
	struct rvp_python_lines lines = {0x30b, 77, NULL, 0};

	ck_assert_uint_eq(rvp_python_line(&lines, 0), 77);
}
END_TEST

START_TEST(an_instruction_behind_the_table_gets_the_line_of_the_def)
{
	struct rvp_python_lines lines = lines_of(_i);

	/* Before 3.10 the table does not say where the code ends: the last line goes on. */
	ck_assert_uint_eq(rvp_python_line(&lines, 1 << 20), cases[_i].version >= 0x30a ? 1 : 208);
}
END_TEST

static uint32_t true_line(int number, uint32_t instruction)
{
	const struct stretch *stretch = cases[number].stretches;

	while (stretch->end && stretch->end <= instruction)
		stretch++;
	return stretch->line;
}

/* Every prefix, in a block of exactly its size, so that a sanitizer sees a byte read too many. Where a table
 * says how far it reaches (since 3.10), what is left of it is right or the line of the def, never another
 * one. */
START_TEST(a_cut_table_is_read_no_further_than_its_end)
{
	for (size_t length = 0; length < cases[_i].packed_bytes; length++) {
		uint8_t *copy = malloc(length + 1);
		struct rvp_python_lines lines = {cases[_i].version, 1, copy + 1, length};

		for (size_t i = 0; i < length; i++)
			copy[1 + i] = cases[_i].packed[i];
		for (uint32_t at = 0; at < 300; at += 2) {
			uint32_t line = rvp_python_line(&lines, at);

			ck_assert_uint_ge(line, 1);
			if (cases[_i].version >= 0x30a)
				ck_assert_msg(line == 1 || line == true_line(_i, at), "%zu bytes, at %u: %u",
					      length, at, line);
		}
		free(copy);
	}
}
END_TEST

START_TEST(a_table_of_noise_neither_hangs_nor_gives_a_line_below_one)
{
	uint8_t noise[64];

	srand((unsigned)_i + 1);
	for (int round = 0; round < 2000; round++) {
		struct rvp_python_lines lines = {cases[_i].version, 5, noise, sizeof noise};

		for (size_t i = 0; i < sizeof noise; i++)
			noise[i] = (uint8_t)rand();
		ck_assert_uint_ge(rvp_python_line(&lines, (uint32_t)rand() % 512), 1);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("python_lines");
	TCase *tests = tcase_create("lines");

	tcase_add_loop_test(tests, every_instruction_has_the_line_that_cpython_says, 0, CASE_COUNT);
	tcase_add_test(tests, lnotab_steps_too_large_for_a_byte_are_summed);
	tcase_add_test(tests, an_empty_table_gives_the_line_of_the_def);
	tcase_add_loop_test(tests, an_instruction_behind_the_table_gets_the_line_of_the_def, 0, CASE_COUNT);
	tcase_add_loop_test(tests, a_cut_table_is_read_no_further_than_its_end, 0, CASE_COUNT);
	tcase_add_loop_test(tests, a_table_of_noise_neither_hangs_nor_gives_a_line_below_one, 0, CASE_COUNT);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
