/* SPDX-License-Identifier: MIT */
/* check_growth.c: made runs whose figures are worked out by hand: what the peak would be without something, how blocks
 * lived, growth by steps, verdicts. */
#include "report/block_lives.h"
#include "report/counterfactual.h"
#include "report/verdicts.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/told_run.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- without something ---- */

static uint64_t peak_without(enum rvp_category category, double share, uint64_t *ns)
{
	struct rvp_absence row = {.what = RVP_ABSENT_CATEGORY, .number = (uint16_t)category, .share = share};
	struct rvp_counterfactual counterfactual;

	rvp_counterfactual_open(&counterfactual, &row, 1, NULL, 0);
	told_ask(&counterfactual.observer);
	rvp_analysis_free(&told.answer);
	*ns = row.peak_ns - MAKER_EPOCH_NS;
	return row.peak_bytes;
}

/* 1000 of weights, 500 of KV cache: the peak, 1500 at 3000. Then the weights go and 900 of nobody come: 1400
 * at 5000. */
static void two_hills(void)
{
	told_open_log();
	told_get(2000, 0x10000, 1000, 0);
	told_tag(2100, 0x10000, "weights");
	told_get(3000, 0x20000, 500, 0);
	told_tag(3100, 0x20000, "kv_cache");
	told_give(4000, 0x10000);
	told_get(5000, 0x30000, 900, 0);
	told_open_run();
}

START_TEST(without_something_another_moment_may_be_the_highest)
{
	uint64_t ns;

	two_hills();
	ck_assert_uint_eq(peak_without(RVP_CATEGORY_WEIGHTS, 1, &ns), 1400);
	ck_assert_uint_eq(ns, 5000);
	ck_assert_uint_eq(peak_without(RVP_CATEGORY_KV_CACHE, 1, &ns), 1000);
	ck_assert_uint_eq(ns, 2000);
	ck_assert_uint_eq(peak_without(RVP_CATEGORY_UNKNOWN, 1, &ns), 1500);
	ck_assert_uint_eq(ns, 3000);
	ck_assert_uint_eq(peak_without(RVP_CATEGORY_KV_CACHE, 0.5, &ns), 1250);
	ck_assert_uint_eq(peak_without(RVP_CATEGORY_WEIGHTS, 0.25, &ns), 1400);
	ck_assert_uint_eq(peak_without(RVP_CATEGORY_WEIGHTS, 0.0625, &ns), 1438); /* 1500 - 62 */
	ck_assert_uint_eq(ns, 3000);
	told_close_log();
}
END_TEST

/* 800 are activations until 6000, then KV cache; a site's row follows them. 1100 at 7000 is the peak. */
START_TEST(bytes_that_change_their_purpose_change_their_row)
{
	struct rvp_absence rows[2] = {{.what = RVP_ABSENT_SITES, .share = 1},
				      {.what = RVP_ABSENT_SITES, .share = 1}};
	struct rvp_counterfactual counterfactual;
	uint32_t row_of_site[8] = {0};

	told_open_log();
	told_get(2000, 0x10000, 800, 0);
	told_tag(3000, 0x10000, "activation");
	told_tag(6000, 0x10000, "kv_cache");
	told_get(7000, 0x20000, 300, 0);
	told_give(8000, 0x10000);
	told_get(9000, 0x40000, 100, 0);
	told_open_run();
	ck_assert(!rvp_failed(rvp_analyse(told.run, &(struct rvp_question){.attribution = told.attribution}, &told.answer)));
	ck_assert_uint_le(told.answer.site_count, 8);
	for (size_t i = 0; i < told.answer.site_count; i++)
		row_of_site[i] = told.answer.sites[i].purpose == RVP_CATEGORY_ACTIVATION ? 1
				 : told.answer.sites[i].purpose == RVP_CATEGORY_KV_CACHE ? 2
										    : 0;
	rvp_counterfactual_open(&counterfactual, rows, 2, row_of_site, told.answer.site_count);
	rvp_analysis_free(&told.answer);
	told_ask(&counterfactual.observer);
	ck_assert_uint_eq(told.answer.tracked_peak_bytes, 1100);
	ck_assert_uint_eq(rows[0].peak_bytes, 1100); /* the activations were something else by then */
	ck_assert_uint_eq(rows[0].peak_ns, MAKER_EPOCH_NS + 7000);
	ck_assert_uint_eq(rows[1].peak_bytes, 800);
	ck_assert_uint_eq(rows[1].peak_ns, MAKER_EPOCH_NS + 2000);
	ck_assert_uint_eq(rows[1].live_bytes, 0);
	rvp_analysis_free(&told.answer);
	told_close_log();
}
END_TEST

/* ---- lives ---- */

static void three_steps(void)
{
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t begin = 10000 + 20000 * i;

		told_step(begin, RVP_STEP_BEGIN, 0);
		if (i == 0) {
			told_get(11000, 0x10000, 64, 0);
			told_give(12000, 0x10000);
			told_get(13000, 0x20000, 128, 0);
			told_get(14000, 0x30000, 32, 0);
			told_get(15000, 0x40000, 256, 0);
			told_get(16000, 0x50000, 40, 0);
		}
		if (i)
			told_give(begin + 1000, i == 1 ? 0x20000 : 0x30000);
		if (i == 1)
			told_give(begin + 2000, 0x50000);
		told_step(begin + 10000, RVP_STEP_END, 0);
	}
}

START_TEST(lives_are_counted_against_steps)
{
	struct rvp_lives row = {0};
	struct rvp_block_lives lives;
	uint32_t row_of_site[1] = {1};

	told_open_log();
	three_steps();
	told_open_run();
	rvp_block_lives_open(&lives, told.attribution, &row);
	lives.row_of_site = row_of_site;
	lives.site_count = 1;
	told_ask(&lives.observer);
	ck_assert_uint_eq(lives.number, 5);
	ck_assert_uint_eq(row.born_count, 5);
	ck_assert_uint_eq(row.died_count, 4);
	ck_assert_uint_eq(row.least_bytes, 32);
	ck_assert_uint_eq(row.most_bytes, 256);
	ck_assert_uint_eq(row.bytes, 64 + 128 + 32 + 256 + 40);
	ck_assert_uint_eq(row.longest_ns, 51000 - 14000);
	ck_assert_double_eq(row.life_ns, 1000 + 18000 + 37000 + 16000);
	ck_assert_uint_eq(row.same_step, 1);
	ck_assert_uint_eq(row.next_step, 2);
	ck_assert_uint_eq(row.later_step, 1);
	ck_assert_uint_eq(row.largest[0].number, 4);
	ck_assert_uint_eq(row.largest[0].death_ns, RVP_NEVER);
	ck_assert_uint_eq(row.largest[1].number, 2);
	ck_assert_uint_eq(row.largest[1].death_ns, MAKER_EPOCH_NS + 31000);
	ck_assert_uint_eq(row.largest[3].number, 5);
	ck_assert_uint_eq(row.largest[4].number, 3);
	ck_assert_uint_eq(row.word_count, 0);
	rvp_analysis_free(&told.answer);
	told_close_log();
}
END_TEST

static void scope(uint64_t stamp, int kind, const char *category)
{
	MAKE(told.thread, SCOPE, 200, .stamp = stamp, .kind = (uint64_t)kind, .source = RVP_SOURCE_API,
	     .category = told_text(category), .name = told_text("a scope"));
}

/* The tag is believed, the scope around it is overruled. A second pass finds the same, and no more. */
START_TEST(all_words_are_handed_out_in_every_pass)
{
	struct rvp_lives row;
	struct rvp_block_lives lives;
	const struct rvp_disagreement *list;
	size_t count;

	told_open_log();
	told_get(1500, 0x90000, 10, 0);
	scope(2000, RVP_SCOPE_BEGIN, "activation");
	told_get(3000, 0x10000, 256, 0);
	told_tag(3500, 0x10000, "weights");
	scope(4000, RVP_SCOPE_END, "");
	told_open_run();
	for (int pass = 0; pass < 2; pass++) {
		row = (struct rvp_lives){0};
		rvp_block_lives_open(&lives, told.attribution, &row);
		lives.wanted_number = 2;
		told_ask(&lives.observer);
		rvp_analysis_free(&told.answer);
		ck_assert_uint_eq(row.born_count, 1);
		ck_assert_uint_eq(row.word_count, 2);
		for (int i = 0; i < 2; i++) {
			ck_assert_uint_eq(row.words[i].is_believed,
					  row.words[i].verdict.evidence == RVP_EVIDENCE_TAG);
			ck_assert_uint_eq(row.words[i].bytes, 256);
		}
		list = rvp_attribution_disagreements(told.attribution, &count);
		ck_assert_uint_eq(count, 1);
		ck_assert_uint_eq(list[0].bytes, 256);
		ck_assert_uint_eq(list[0].count, 1);
	}
	told_close_log();
}
END_TEST

/* ---- growth ---- */

START_TEST(a_line_is_told_from_a_hill)
{
	double x[] = {1, 2, 3, 5}, rising[] = {10, 20, 30, 50}, hill[] = {0, 9, 9, 0}, flat[] = {7, 7, 7, 7};
	struct rvp_line line = rvp_line_through(x, rising, 4);

	ck_assert_double_eq_tol(line.slope, 10, 1e-9);
	ck_assert_double_eq_tol(line.fit, 1, 1e-9);
	ck_assert_double_lt(rvp_line_through(x, hill, 4).fit, 0.1);
	ck_assert_double_eq(rvp_line_through(x, flat, 4).slope, 0);
	ck_assert_double_eq(rvp_line_through(x, rising, 1).slope, 0);
}
END_TEST

/* The last one lasts to the end of its process, and what is left then is nothing. */
START_TEST(what_lasts_to_the_end_is_no_end_to_measure_at)
{
	struct rvp_step_ends ends;

	told_open_log();
	for (uint64_t i = 1; i <= 5; i++)
		told_step(i * SPACE, RVP_STEP_NEXT, 0);
	told_open_run();
	ck_assert_uint_eq(rvp_attribution_steps(told.attribution)->count, 5);
	ck_assert(rvp_step_ends_spread(&ends, told.run, rvp_attribution_steps(told.attribution), 32));
	ck_assert_uint_eq(ends.count, 3);
	ck_assert_uint_eq(ends.steps[0], 1);
	ck_assert_uint_eq(ends.steps[2], 3);
	ck_assert_uint_eq(ends.moments_ns[2], MAKER_EPOCH_NS + 5 * SPACE);
	rvp_step_ends_free(&ends);
	ck_assert(rvp_step_ends_spread(&ends, told.run, rvp_attribution_steps(told.attribution), 2));
	ck_assert_uint_eq(ends.count, 2);
	ck_assert_uint_eq(ends.steps[1], 3);
	rvp_step_ends_free(&ends);
	ck_assert(rvp_step_ends_two(&ends, told.run, rvp_attribution_steps(told.attribution), 4, 0));
	ck_assert_uint_eq(ends.steps[0], 0);
	ck_assert_uint_eq(ends.moments_ns[1] + 1, told.run->processes[0].end_ns);
	rvp_step_ends_free(&ends);
	told_close_log();
}
END_TEST

static struct rvp_verdicts judge(void)
{
	struct rvp_verdicts verdicts;
	struct rvp_step_ends ends;

	ck_assert(rvp_step_ends_spread(&ends, told.run, rvp_attribution_steps(told.attribution), 32));
	ck_assert_uint_eq(ends.count, STEPS - 1); /* the first is none of the steady ones */
	ck_assert(!rvp_failed(rvp_analyse(told.run,
					  &(struct rvp_question){.attribution = told.attribution,
								 .moments_ns = ends.moments_ns,
								 .moment_count = ends.count},
					  &told.answer)));
	rvp_verdicts_make(&verdicts, told.run, &told.answer, told.attribution, &ends, NULL);
	rvp_analysis_free(&told.answer);
	rvp_step_ends_free(&ends);
	return verdicts;
}

static const struct rvp_sentence *sentence(const struct rvp_verdicts *verdicts, const char *id)
{
	for (size_t i = 0; i < verdicts->count; i++)
		if (strcmp(verdicts->sentences[i].id, id) == 0)
			return &verdicts->sentences[i];
	return NULL;
}

/* From the end of step 1 to that of step 11: ten blocks. The threshold is 1 MiB, or a hundredth of the peak.
 */
START_TEST(growth_is_an_alarm_from_a_mebibyte_on)
{
	static const struct {
		uint64_t bytes, large_bytes;
		int growing;
		bool is_alarm;
	} cases[] = {
	    {105000, 0, STEPS, true},          {104000, 0, STEPS, false}, {105000, 50 << 20, STEPS, true},
	    {105000, 200 << 20, STEPS, false}, {400000, 0, 6, false}, /* it came to rest in the middle */
	    {0, 200 << 20, STEPS, false},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rvp_verdicts verdicts;

		told_open_log();
		if (cases[i].large_bytes)
			told_get(2000, 0x7000000000, cases[i].large_bytes, 0);
		told_grow(cases[i].bytes, cases[i].growing, "runtime"); /* unnamed, its lifetime would speak */
		told_open_run();
		verdicts = judge();
		ck_assert_msg((sentence(&verdicts, "growth") != NULL) == cases[i].is_alarm, "case %zu", i);
		if (cases[i].is_alarm)
			ck_assert_uint_eq(sentence(&verdicts, "growth")->bytes, 10 * cases[i].bytes);
		told_close_log();
	}
}
END_TEST

START_TEST(a_cache_that_grows_is_no_alarm)
{
	struct rvp_verdicts verdicts;

	told_open_log();
	told_grow(200000, STEPS, "kv_cache");
	told_open_run();
	verdicts = judge();
	ck_assert(!sentence(&verdicts, "growth"));
	ck_assert_uint_eq(sentence(&verdicts, "kv_growth")->bytes, 2000000);
	ck_assert(strstr(sentence(&verdicts, "kv_growth")->text, "as it is made to"));
	ck_assert(strstr(sentence(&verdicts, "peak")->text, "kv_cache 100.0 %"));
	told_close_log();
}
END_TEST

/* Nobody names it: that it grows is all that speaks for a cache. */
START_TEST(what_is_a_cache_by_its_growth_alone_may_be_a_leak)
{
	struct rvp_verdicts verdicts;

	told_open_log();
	told_grow(200000, STEPS, NULL);
	told_open_run();
	verdicts = judge();
	ck_assert(!sentence(&verdicts, "growth"));
	ck_assert(strstr(sentence(&verdicts, "kv_growth")->text, "a leak if it is none"));
	told_close_log();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("growth");
	TCase *one = tcase_create("by hand");

	tcase_add_test(one, without_something_another_moment_may_be_the_highest);
	tcase_add_test(one, bytes_that_change_their_purpose_change_their_row);
	tcase_add_test(one, lives_are_counted_against_steps);
	tcase_add_test(one, all_words_are_handed_out_in_every_pass);
	tcase_add_test(one, a_line_is_told_from_a_hill);
	tcase_add_test(one, what_lasts_to_the_end_is_no_end_to_measure_at);
	tcase_add_test(one, growth_is_an_alarm_from_a_mebibyte_on);
	tcase_add_test(one, a_cache_that_grows_is_no_alarm);
	tcase_add_test(one, what_is_a_cache_by_its_growth_alone_may_be_a_leak);
	suite_add_tcase(suite, one);
	return run_suite(suite);
}
