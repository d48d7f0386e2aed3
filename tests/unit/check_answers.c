/* SPDX-License-Identifier: MIT */
/* check_answers.c: the questions of `rvprof report` on made runs, whole, whose figures are worked out by hand. */
#include "report/inquiry.h"
#include "report/memory_trace.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/told_run.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* ---- whole answers ---- */

static struct rvp_status inquire(struct rvp_question_asked asked, char **out)
{
	size_t length;
	struct rvp_view view = {
	    .out = open_memstream(out, &length), .here = "", .top_count = 10, .frame_count = 5};
	struct rvp_status status;

	ck_assert_ptr_nonnull(view.out);
	asked.row_count = SIZE_MAX;
	asked.aside = view.out;
	status = rvp_inquire(told.run, &view, &asked);
	fclose(view.out);
	return status;
}

static json_t *answer_of(struct rvp_question_asked asked)
{
	json_error_t error;
	json_t *json;
	char *out;

	asked.json = true;
	ck_assert(!rvp_failed(inquire(asked, &out)));
	json = json_loads(out, 0, &error);
	ck_assert_msg(json != NULL, "%s: %s", error.text, out);
	free(out);
	return json;
}

static json_int_t number(const json_t *object, const char *key)
{
	ck_assert_msg(json_is_integer(json_object_get(object, key)), "no number %s", key);
	return json_integer_value(json_object_get(object, key));
}

static json_t *row(const json_t *object, const char *list, size_t i)
{
	return json_array_get(json_object_get(object, list), i);
}

/* 100000 of weights from the beginning, a token and 4096 of KV cache a step. */
static void decode(void)
{
	told_open_log();
	told_get(2000, 0x7000000000, 100000, 0);
	told_tag(2500, 0x7000000000, "weights");
	told_grow(4096, STEPS, "kv_cache");
	told_open_run();
}

START_TEST(a_token_takes_what_the_cache_grows_by)
{
	json_t *kv;
	char *out;

	decode();
	kv = answer_of((struct rvp_question_asked){.what = RVP_ASKED_KV, .fit_bytes = 200000});
	ck_assert_str_eq(json_string_value(json_object_get(kv, "schema")), "rvprof.kv/1");
	ck_assert_int_eq(number(kv, "total_bytes"), 12 * 4096);
	ck_assert_double_eq_tol(json_real_value(json_object_get(kv, "token_bytes")), 4096, 0.001);
	ck_assert_int_eq(number(json_object_get(kv, "fit"), "rest_bytes"), 100000);
	ck_assert_int_eq(number(json_object_get(kv, "fit"), "tokens"), 24); /* 100000 / 4096 */
	ck_assert_int_eq(number(json_object_get(kv, "fit"), "caches"), 2);  /* 100000 / 49152 */
	json_decref(kv);
	ck_assert(!rvp_failed(
	    inquire((struct rvp_question_asked){.what = RVP_ASKED_KV, .fit_bytes = 200000}, &out)));
	ck_assert_ptr_nonnull(strstr(out, "97.7 KiB / 4.0 KiB = 24 tokens (measured)"));
	free(out);
	told_close_log();
}
END_TEST

START_TEST(without_a_cache_it_is_said_why)
{
	json_t *kv;

	told_open_log();
	told_get(2000, 0x10000, 100000, 0);
	told_open_run();
	kv = answer_of((struct rvp_question_asked){.what = RVP_ASKED_KV, .fit_bytes = 200000});
	ck_assert_int_eq(number(kv, "total_bytes"), 0);
	ck_assert(strstr(json_string_value(json_object_get(kv, "why_none")), "no evidence"));
	ck_assert_ptr_null(json_object_get(kv, "fit"));
	json_decref(kv);
	told_close_log();
}
END_TEST

START_TEST(changes_are_in_order_of_what_they_lower)
{
	json_t *why;

	decode();
	why = answer_of((struct rvp_question_asked){.what = RVP_ASKED_WHY_PEAK});
	ck_assert_int_eq(number(why, "total_bytes"), 100000 + 12 * 4096);
	ck_assert_int_eq(number(row(why, "rows", 0), "bytes"), 100000);
	ck_assert_int_eq(number(row(why, "rows", 0), "lowers_bytes"), 100000);
	ck_assert_int_eq(number(row(why, "rows", 1), "peak_without_bytes"), 100000);
	ck_assert_str_eq(json_string_value(json_object_get(row(why, "changes", 0), "category")), "weights");
	ck_assert_int_eq(number(row(why, "changes", 0), "lowers_bytes"), 50000);
	ck_assert_str_eq(json_string_value(json_object_get(row(why, "changes", 1), "category")), "kv_cache");
	ck_assert_int_eq(number(row(why, "changes", 1), "lowers_bytes"), 6 * 4096);
	ck_assert_ptr_null(row(why, "changes", 2));
	json_decref(why);
	told_close_log();
}
END_TEST

START_TEST(two_steps_are_compared_either_way)
{
	json_t *steps;
	char *out;

	decode();
	steps = answer_of((struct rvp_question_asked){.what = RVP_ASKED_STEPS, .step = 5, .versus_step = 2});
	ck_assert_int_eq(number(steps, "total_bytes"), 3 * 4096);
	ck_assert_int_eq(number(row(steps, "rows", 0), "bytes"), 3 * 4096);
	ck_assert_int_eq(number(row(steps, "rows", 0), "count"), 3);
	ck_assert_ptr_null(row(steps, "rows", 1));
	ck_assert_int_eq(number(steps, "step_us"), 50);
	json_decref(steps);
	steps = answer_of((struct rvp_question_asked){.what = RVP_ASKED_STEPS, .step = 2, .versus_step = 5});
	ck_assert_int_eq(number(steps, "total_bytes"), -3 * 4096);
	json_decref(steps);
	ck_assert(rvp_failed(inquire(
	    (struct rvp_question_asked){.what = RVP_ASKED_STEPS, .step = 5, .versus_step = 12}, &out)));
	free(out);
	told_close_log();
}
END_TEST

START_TEST(growth_is_by_call_stack)
{
	json_t *growth;

	decode();
	growth = answer_of((struct rvp_question_asked){.what = RVP_ASKED_GROWTH});
	ck_assert_int_eq(number(growth, "total_bytes"), 10 * 4096);
	ck_assert_int_eq(number(growth, "points"), STEPS - 1);
	ck_assert_int_eq(number(row(growth, "rows", 0), "bytes"), 10 * 4096);
	ck_assert_double_eq_tol(json_real_value(json_object_get(row(growth, "rows", 0), "step_bytes")), 4096,
				0.001);
	ck_assert_ptr_null(row(growth, "rows", 1));
	json_decref(growth);
	told_close_log();
}
END_TEST

START_TEST(a_block_is_asked_for_by_its_number)
{
	json_t *why;
	char *out;

	decode();
	why = answer_of((struct rvp_question_asked){.what = RVP_ASKED_WHY, .text = "b1"});
	ck_assert_int_eq(number(row(why, "rows", 0), "bytes"), 100000);
	ck_assert_str_eq(json_string_value(json_object_get(row(why, "rows", 0), "category")), "weights");
	ck_assert(json_is_true(json_object_get(row(row(why, "rows", 0), "words", 0), "believed")));
	json_decref(why);
	ck_assert(
	    rvp_failed(inquire((struct rvp_question_asked){.what = RVP_ASKED_WHY, .text = "b14"}, &out)));
	free(out);
	ck_assert(
	    !rvp_failed(inquire((struct rvp_question_asked){.what = RVP_ASKED_WHY, .text = "b13"}, &out)));
	ck_assert_ptr_nonnull(strstr(out, "b13: 4.0 KiB"));
	free(out);
	ck_assert(
	    rvp_failed(inquire((struct rvp_question_asked){.what = RVP_ASKED_WHY, .text = "b1x"}, &out)));
	free(out);
	told_close_log();
}
END_TEST

START_TEST(the_trace_has_the_peak_once)
{
	json_t *trace, *each;
	int peaks = 0;
	json_int_t highest = 0;
	size_t i;

	decode();
	trace = answer_of((struct rvp_question_asked){.what = RVP_ASKED_TRACE});
	json_array_foreach(json_object_get(trace, "rows"), i, each)
	{
		peaks += json_is_true(json_object_get(each, "peak"));
		highest = number(each, "bytes") > highest ? number(each, "bytes") : highest;
	}
	ck_assert_int_eq(peaks, 1);
	ck_assert_int_eq(highest, number(trace, "total_bytes"));
	ck_assert_str_eq(
	    json_string_value(json_object_get(json_object_get(row(trace, "rows", 0), "largest_birth"), "id")),
	    "b1");
	json_decref(trace);
	told_close_log();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("answers");
	TCase *one = tcase_create("by hand");

	tcase_add_test(one, a_token_takes_what_the_cache_grows_by);
	tcase_add_test(one, without_a_cache_it_is_said_why);
	tcase_add_test(one, changes_are_in_order_of_what_they_lower);
	tcase_add_test(one, two_steps_are_compared_either_way);
	tcase_add_test(one, growth_is_by_call_stack);
	tcase_add_test(one, a_block_is_asked_for_by_its_number);
	tcase_add_test(one, the_trace_has_the_peak_once);
	suite_add_tcase(suite, one);
	return run_suite(suite);
}
