/* SPDX-License-Identifier: MIT */
/* check_schedule.c: torch.profiler's examples, step by step, and what is said of each specification that is none. Many
 * more schedules, against Python's and a walk from step to step: check_schedule.py. */
#include "record/schedule.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <string.h>

static struct rvp_schedule schedule;
static char complaint[200];

static bool is_read(const char *text)
{
	complaint[0] = 0;
	return rvp_schedule_read(&schedule, text, strlen(text), complaint, sizeof complaint);
}

static const char *action(uint64_t step)
{
	return rvp_action_name(rvp_schedule_action(&schedule, step));
}

START_TEST(one_step_of_a_decode)
{
	ck_assert(is_read("wait=80,warmup=3,active=1,repeat=1"));
	for (uint64_t step = 0; step < 200; step++)
		ck_assert_str_eq(action(step), step < 80 ? "NONE"
					       : step < 83 ? "WARMUP"
					       : step == 83 ? "RECORD_AND_SAVE"
							    : "NONE");
}
END_TEST

START_TEST(two_steps_once)
{
	static const char *const wanted[] = {"NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE", "NONE", "NONE"};

	ck_assert(is_read("wait=1,warmup=1,active=2,repeat=1"));
	for (uint64_t step = 0; step < 7; step++)
		ck_assert_str_eq(action(step), wanted[step]);
}
END_TEST

START_TEST(each_step)
{
	ck_assert(is_read("wait=0,warmup=0,active=1"));
	for (uint64_t step = 0; step < 100; step++)
		ck_assert_str_eq(action(step), "RECORD_AND_SAVE");
}
END_TEST

START_TEST(an_early_first_cycle)
{
	static const char *const with[] = {"NONE", "NONE", "WARMUP", "RECORD_AND_SAVE", "NONE", "NONE", "NONE",
					   "WARMUP", "RECORD_AND_SAVE", "NONE"};
	static const char *const without[] = {"NONE", "NONE", "NONE", "NONE", "NONE", "WARMUP", "RECORD_AND_SAVE", "NONE"};

	ck_assert(is_read("wait=3,warmup=1,active=1,repeat=2,skip_first=2,skip_first_wait=1"));
	for (uint64_t step = 0; step < 10; step++)
		ck_assert_str_eq(action(step), with[step]);
	ck_assert_str_eq(action(9 + 4), "NONE"); /* repeat counts the first cycle too */
	ck_assert(is_read("skip_first_wait=0,skip_first=2,wait=3,warmup=1,active=1"));
	for (uint64_t step = 0; step < 8; step++)
		ck_assert_str_eq(action(step), without[step]);
}
END_TEST

START_TEST(the_largest_numbers)
{
	ck_assert(is_read("wait=1000000000000000,warmup=1000000000000000,active=1000000000000000,"
			  "repeat=1000000000000000,skip_first=1000000000000000,skip_first_wait=1"));
	ck_assert_str_eq(action(1000000000000000), "WARMUP");
	ck_assert_str_eq(action(2000000000000000), "RECORD");
	ck_assert_str_eq(action(3000000000000000 - 2), "RECORD");
	ck_assert_str_eq(action(3000000000000000 - 1), "RECORD_AND_SAVE");
	ck_assert_str_eq(action(3000000000000000), "NONE");
	ck_assert_str_eq(action(UINT64_MAX / 2), action(UINT64_MAX / 2 % 3000000000000000));
}
END_TEST

static const struct {
	const char *text, *complaint;
} refused[] = {
    {"", "schedule: it is empty; as in wait=80,warmup=3,active=1,repeat=1"},
    {"wait=1,warmup=1", "schedule: active is missing: how many steps each cycle records; as in "
			"wait=80,warmup=3,active=1,repeat=1"},
    {"wait=1,active=0", "schedule: active is 0, so no step would ever be recorded; it is 1 or more"},
    {"wait=-1,active=1", "schedule: wait is '-1', but no number here can be below 0"},
    {"active=-3", "schedule: active is '-3', but no number here can be below 0"},
    {"active=1,skip_first=-2", "schedule: skip_first is '-2', but no number here can be below 0"},
    {"active=x", "schedule: active is 'x', not a whole number up to 10^15"},
    {"active=1.5", "schedule: active is '1.5', not a whole number up to 10^15"},
    {"active=+1", "schedule: active is '+1', not a whole number up to 10^15"},
    {"active=1000000000000001", "schedule: active is '1000000000000001', not a whole number up to 10^15"},
    {"active=99999999999999999999999", "schedule: active is '99999999999999999999999', not a whole number up to 10^15"},
    {"active=", "schedule: active has no number; as in wait=80,warmup=3,active=1,repeat=1"},
    {"active=1,active=1", "schedule: active is said twice"},
    {"wait=1,active=1,wait=2", "schedule: wait is said twice"},
    {"active=1,", "schedule: there is nothing before or behind a comma; as in wait=80,warmup=3,active=1,repeat=1"},
    {",active=1", "schedule: there is nothing before or behind a comma; as in wait=80,warmup=3,active=1,repeat=1"},
    {"80,3,1,1", "schedule: '80' has no '='; as in wait=80,warmup=3,active=1,repeat=1"},
    {"wiat=1,active=1", "schedule: there is no 'wiat' (did you mean 'wait'?)"},
    {"skip-first=1,active=1", "schedule: there is no 'skip-first' (did you mean 'skip_first'?)"},
    {"every=1,active=1", "schedule: there is no 'every'; there are wait, warmup, active, repeat, skip_first, "
			 "skip_first_wait"},
    {"=1,active=1", "schedule: there is no ''; there are wait, warmup, active, repeat, skip_first, skip_first_wait"},
    {"active = 1", "schedule: there is no 'active ' (did you mean 'active'?)"},
};

START_TEST(what_is_none)
{
	struct rvp_schedule before;

	ck_assert(is_read("wait=7,active=9"));
	before = schedule;
	ck_assert(!is_read(refused[_i].text));
	ck_assert_str_eq(complaint, refused[_i].complaint);
	ck_assert_mem_eq(&before, &schedule, sizeof before);
}
END_TEST

START_TEST(a_complaint_is_cut)
{
	char small[12] = "";

	ck_assert(!rvp_schedule_read(&schedule, "active=abcdefgh", 15, small, sizeof small));
	ck_assert_str_eq(small, "schedule: a");
	ck_assert(!rvp_schedule_read(&schedule, "active=1", 7, small, 0));
}
END_TEST

START_TEST(colons_for_commas)
{
	ck_assert(is_read("wait=1:warmup=2:active=3"));
	ck_assert_uint_eq(schedule.wait, 1);
	ck_assert_uint_eq(schedule.warmup, 2);
	ck_assert_uint_eq(schedule.active, 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("schedule");
	TCase *steps = tcase_create("steps"), *texts = tcase_create("texts");

	tcase_add_test(steps, one_step_of_a_decode);
	tcase_add_test(steps, two_steps_once);
	tcase_add_test(steps, each_step);
	tcase_add_test(steps, an_early_first_cycle);
	tcase_add_test(steps, the_largest_numbers);
	tcase_add_loop_test(texts, what_is_none, 0, sizeof refused / sizeof *refused);
	tcase_add_test(texts, a_complaint_is_cut);
	tcase_add_test(texts, colons_for_commas);
	suite_add_tcase(suite, steps);
	suite_add_tcase(suite, texts);
	return run_suite(suite);
}
