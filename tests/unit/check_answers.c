/* SPDX-License-Identifier: MIT */
/* check_answers.c: the questions of `rvprof report` on made runs, whose figures are worked out by hand: what
 * the peak would be without something, how blocks lived, growth by steps, the KV cache, verdicts. */
#include "report/block_lives.h"
#include "report/counterfactual.h"
#include "report/inquiry.h"
#include "report/memory_trace.h"
#include "report/verdicts.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

static struct maker maker;
static struct maker_thread *thread;
static struct rvp_run *run;
static struct rvp_attribution *attribution;
static struct rvp_analysis answer;

static void open_log(void)
{
	maker = maker_open();
	thread = &maker_add(&maker, 100)->threads[0];
}

static void open_run(void)
{
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	ck_assert(!rvp_failed(rvp_attribute(run, NULL, &attribution)));
}

static void close_log(void)
{
	rvp_attribution_close(attribution);
	rvp_run_close(run);
	maker_remove(&maker);
}

static struct rvp_text text(const char *bytes)
{
	return (struct rvp_text){bytes, strlen(bytes)};
}

static void get(uint64_t stamp, uint64_t address, uint64_t bytes, uint64_t stack)
{
	MAKE(thread, ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes, .stack = stack);
}

static void give(uint64_t stamp, uint64_t address)
{
	MAKE(thread, FREE, 0, .stamp = stamp, .address = address);
}

static void tag(uint64_t stamp, uint64_t address, const char *category)
{
	MAKE(thread, TAG, 200, .stamp = stamp, .address = address, .category = text(category),
	     .name = text("a name"));
}

static void step(uint64_t stamp, int kind, uint64_t seq_len)
{
	MAKE(thread, STEP, 64, .stamp = stamp, .kind = (uint64_t)kind, .source = RVP_SOURCE_API,
	     .phase = RVP_STEP_PHASE_NONE, .seq_len = seq_len);
}

static void ask(struct rvp_observer *observer)
{
	struct rvp_observer *observers[] = {observer, NULL};

	ck_assert(!rvp_failed(rvp_analyse(
	    run, &(struct rvp_question){.observers = observers, .attribution = attribution}, &answer)));
}

/* ---- without something ---- */

static uint64_t peak_without(enum rvp_category category, double share, uint64_t *ns)
{
	struct rvp_absence row = {.what = RVP_ABSENT_CATEGORY, .number = (uint16_t)category, .share = share};
	struct rvp_counterfactual counterfactual;

	rvp_counterfactual_open(&counterfactual, &row, 1, NULL, 0);
	ask(&counterfactual.observer);
	rvp_analysis_free(&answer);
	*ns = row.peak_ns - MAKER_EPOCH_NS;
	return row.peak_bytes;
}

/* 1000 of weights, 500 of KV cache: the peak, 1500 at 3000. Then the weights go and 900 of nobody come: 1400
 * at 5000. */
static void two_hills(void)
{
	open_log();
	get(2000, 0x10000, 1000, 0);
	tag(2100, 0x10000, "weights");
	get(3000, 0x20000, 500, 0);
	tag(3100, 0x20000, "kv_cache");
	give(4000, 0x10000);
	get(5000, 0x30000, 900, 0);
	open_run();
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
	close_log();
}
END_TEST

/* 800 are activations until 6000, then KV cache; a site's row follows them. 1100 at 7000 is the peak. */
START_TEST(bytes_that_change_their_purpose_change_their_row)
{
	struct rvp_absence rows[2] = {{.what = RVP_ABSENT_SITES, .share = 1},
				      {.what = RVP_ABSENT_SITES, .share = 1}};
	struct rvp_counterfactual counterfactual;
	uint32_t row_of_site[8] = {0};

	open_log();
	get(2000, 0x10000, 800, 0);
	tag(3000, 0x10000, "activation");
	tag(6000, 0x10000, "kv_cache");
	get(7000, 0x20000, 300, 0);
	give(8000, 0x10000);
	get(9000, 0x40000, 100, 0);
	open_run();
	ck_assert(!rvp_failed(rvp_analyse(run, &(struct rvp_question){.attribution = attribution}, &answer)));
	ck_assert_uint_le(answer.site_count, 8);
	for (size_t i = 0; i < answer.site_count; i++)
		row_of_site[i] = answer.sites[i].purpose == RVP_CATEGORY_ACTIVATION ? 1
				 : answer.sites[i].purpose == RVP_CATEGORY_KV_CACHE ? 2
										    : 0;
	rvp_counterfactual_open(&counterfactual, rows, 2, row_of_site, answer.site_count);
	rvp_analysis_free(&answer);
	ask(&counterfactual.observer);
	ck_assert_uint_eq(answer.tracked_peak_bytes, 1100);
	ck_assert_uint_eq(rows[0].peak_bytes, 1100); /* the activations were something else by then */
	ck_assert_uint_eq(rows[0].peak_ns, MAKER_EPOCH_NS + 7000);
	ck_assert_uint_eq(rows[1].peak_bytes, 800);
	ck_assert_uint_eq(rows[1].peak_ns, MAKER_EPOCH_NS + 2000);
	ck_assert_uint_eq(rows[1].live_bytes, 0);
	rvp_analysis_free(&answer);
	close_log();
}
END_TEST

/* ---- lives ---- */

static void three_steps(void)
{
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t begin = 10000 + 20000 * i;

		step(begin, RVP_STEP_BEGIN, 0);
		if (i == 0) {
			get(11000, 0x10000, 64, 0);
			give(12000, 0x10000);
			get(13000, 0x20000, 128, 0);
			get(14000, 0x30000, 32, 0);
			get(15000, 0x40000, 256, 0);
			get(16000, 0x50000, 40, 0);
		}
		if (i)
			give(begin + 1000, i == 1 ? 0x20000 : 0x30000);
		if (i == 1)
			give(begin + 2000, 0x50000);
		step(begin + 10000, RVP_STEP_END, 0);
	}
}

START_TEST(lives_are_counted_against_steps)
{
	struct rvp_lives row = {0};
	struct rvp_block_lives lives;
	uint32_t row_of_site[1] = {1};

	open_log();
	three_steps();
	open_run();
	rvp_block_lives_open(&lives, attribution, &row);
	lives.row_of_site = row_of_site;
	lives.site_count = 1;
	ask(&lives.observer);
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
	rvp_analysis_free(&answer);
	close_log();
}
END_TEST

static void scope(uint64_t stamp, int kind, const char *category)
{
	MAKE(thread, SCOPE, 200, .stamp = stamp, .kind = (uint64_t)kind, .source = RVP_SOURCE_API,
	     .category = text(category), .name = text("a scope"));
}

/* The tag is believed, the scope around it is overruled. A second pass finds the same, and no more. */
START_TEST(all_words_are_handed_out_in_every_pass)
{
	struct rvp_lives row;
	struct rvp_block_lives lives;
	const struct rvp_disagreement *list;
	size_t count;

	open_log();
	get(1500, 0x90000, 10, 0);
	scope(2000, RVP_SCOPE_BEGIN, "activation");
	get(3000, 0x10000, 256, 0);
	tag(3500, 0x10000, "weights");
	scope(4000, RVP_SCOPE_END, "");
	open_run();
	for (int pass = 0; pass < 2; pass++) {
		row = (struct rvp_lives){0};
		rvp_block_lives_open(&lives, attribution, &row);
		lives.wanted_number = 2;
		ask(&lives.observer);
		rvp_analysis_free(&answer);
		ck_assert_uint_eq(row.born_count, 1);
		ck_assert_uint_eq(row.word_count, 2);
		for (int i = 0; i < 2; i++) {
			ck_assert_uint_eq(row.words[i].is_believed,
					  row.words[i].verdict.evidence == RVP_EVIDENCE_TAG);
			ck_assert_uint_eq(row.words[i].bytes, 256);
		}
		list = rvp_attribution_disagreements(attribution, &count);
		ck_assert_uint_eq(count, 1);
		ck_assert_uint_eq(list[0].bytes, 256);
		ck_assert_uint_eq(list[0].count, 1);
	}
	close_log();
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

enum { STEPS = 12, SPACE = 100000 };

/* A block a step of the first `growing` ones, of that category (NULL: nobody says). */
static void grow(uint64_t bytes, int growing, const char *category)
{
	for (int i = 0; i < STEPS; i++) {
		uint64_t begin = (uint64_t)(i + 1) * SPACE, address = 0x10000000u * (uint64_t)(i + 1);

		step(begin, RVP_STEP_BEGIN, 10 + (uint64_t)i);
		if (i < growing)
			get(begin + 1000, address, bytes, 0);
		if (i < growing && category)
			tag(begin + 2000, address, category);
		step(begin + SPACE / 2, RVP_STEP_END, 10 + (uint64_t)i);
	}
}

/* The last one lasts to the end of its process, and what is left then is nothing. */
START_TEST(what_lasts_to_the_end_is_no_end_to_measure_at)
{
	struct rvp_step_ends ends;

	open_log();
	for (uint64_t i = 1; i <= 5; i++)
		step(i * SPACE, RVP_STEP_NEXT, 0);
	open_run();
	ck_assert_uint_eq(rvp_attribution_steps(attribution)->count, 5);
	ck_assert(rvp_step_ends_spread(&ends, run, rvp_attribution_steps(attribution), 32));
	ck_assert_uint_eq(ends.count, 3);
	ck_assert_uint_eq(ends.steps[0], 1);
	ck_assert_uint_eq(ends.steps[2], 3);
	ck_assert_uint_eq(ends.moments_ns[2], MAKER_EPOCH_NS + 5 * SPACE);
	rvp_step_ends_free(&ends);
	ck_assert(rvp_step_ends_spread(&ends, run, rvp_attribution_steps(attribution), 2));
	ck_assert_uint_eq(ends.count, 2);
	ck_assert_uint_eq(ends.steps[1], 3);
	rvp_step_ends_free(&ends);
	ck_assert(rvp_step_ends_two(&ends, run, rvp_attribution_steps(attribution), 4, 0));
	ck_assert_uint_eq(ends.steps[0], 0);
	ck_assert_uint_eq(ends.moments_ns[1] + 1, run->processes[0].end_ns);
	rvp_step_ends_free(&ends);
	close_log();
}
END_TEST

static struct rvp_verdicts judge(void)
{
	struct rvp_verdicts verdicts;
	struct rvp_step_ends ends;

	ck_assert(rvp_step_ends_spread(&ends, run, rvp_attribution_steps(attribution), 32));
	ck_assert_uint_eq(ends.count, STEPS - 1); /* the first is none of the steady ones */
	ck_assert(!rvp_failed(rvp_analyse(run,
					  &(struct rvp_question){.attribution = attribution,
								 .moments_ns = ends.moments_ns,
								 .moment_count = ends.count},
					  &answer)));
	rvp_verdicts_make(&verdicts, run, &answer, attribution, &ends, NULL);
	rvp_analysis_free(&answer);
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

		open_log();
		if (cases[i].large_bytes)
			get(2000, 0x7000000000, cases[i].large_bytes, 0);
		grow(cases[i].bytes, cases[i].growing, "runtime"); /* unnamed, its lifetime would speak */
		open_run();
		verdicts = judge();
		ck_assert_msg((sentence(&verdicts, "growth") != NULL) == cases[i].is_alarm, "case %zu", i);
		if (cases[i].is_alarm)
			ck_assert_uint_eq(sentence(&verdicts, "growth")->bytes, 10 * cases[i].bytes);
		close_log();
	}
}
END_TEST

START_TEST(a_cache_that_grows_is_no_alarm)
{
	struct rvp_verdicts verdicts;

	open_log();
	grow(200000, STEPS, "kv_cache");
	open_run();
	verdicts = judge();
	ck_assert(!sentence(&verdicts, "growth"));
	ck_assert_uint_eq(sentence(&verdicts, "kv_growth")->bytes, 2000000);
	ck_assert(strstr(sentence(&verdicts, "kv_growth")->text, "as it is made to"));
	ck_assert(strstr(sentence(&verdicts, "peak")->text, "kv_cache 100.0 %"));
	close_log();
}
END_TEST

/* Nobody names it: that it grows is all that speaks for a cache. */
START_TEST(what_is_a_cache_by_its_growth_alone_may_be_a_leak)
{
	struct rvp_verdicts verdicts;

	open_log();
	grow(200000, STEPS, NULL);
	open_run();
	verdicts = judge();
	ck_assert(!sentence(&verdicts, "growth"));
	ck_assert(strstr(sentence(&verdicts, "kv_growth")->text, "a leak if it is none"));
	close_log();
}
END_TEST

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
	status = rvp_inquire(run, &view, &asked);
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
	open_log();
	get(2000, 0x7000000000, 100000, 0);
	tag(2500, 0x7000000000, "weights");
	grow(4096, STEPS, "kv_cache");
	open_run();
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
	close_log();
}
END_TEST

START_TEST(without_a_cache_it_is_said_why)
{
	json_t *kv;

	open_log();
	get(2000, 0x10000, 100000, 0);
	open_run();
	kv = answer_of((struct rvp_question_asked){.what = RVP_ASKED_KV, .fit_bytes = 200000});
	ck_assert_int_eq(number(kv, "total_bytes"), 0);
	ck_assert(strstr(json_string_value(json_object_get(kv, "why_none")), "no evidence"));
	ck_assert_ptr_null(json_object_get(kv, "fit"));
	json_decref(kv);
	close_log();
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
	close_log();
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
	close_log();
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
	close_log();
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
	close_log();
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
	close_log();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("answers");
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
