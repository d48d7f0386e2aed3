/* SPDX-License-Identifier: MIT */
/* check_latency_rows.c: phases, first tokens, times between tokens, and stalls with what happened in them. The made run lasts
 * 10 s; times are ms since MAKER_EPOCH_NS. */
#include "report/finalize.h"
#include "report/text_latency.h"

#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { MS = 1000000 };

static struct maker maker;
static struct maker_process *process;
static struct maker_thread *thread;
static struct rvp_run *run;
static struct rvp_steps steps;
static struct rvp_latency_rows rows;

static void begin(void)
{
	maker = maker_open();
	process = maker_add(&maker, 100);
	thread = &process->threads[0];
}

static void end(void)
{
	rvp_latency_rows_free(&rows);
	rvp_steps_free(&steps);
	rvp_run_close(run);
	maker_remove(&maker);
}

static void say(uint64_t ns, enum rvp_step_kind kind, const char *name)
{
	MAKE(thread, STEP, 16, .stamp = ns, .kind = kind, .source = RVP_SOURCE_API,
	     .name = (struct rvp_text){name, strlen(name)});
}

static void make_rows(void)
{
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	ck_assert(!rvp_failed(rvp_steps_find(run, &steps)));
	rvp_latency_rows_make(&rows, run, &steps);
	ck_assert(!rows.no_memory);
}

static void step(uint64_t begin_ms, uint64_t end_ms, const char *name)
{
	say(begin_ms * MS, RVP_STEP_BEGIN, name);
	say(end_ms * MS, RVP_STEP_END, name);
}

/* Two prompts, the first in two pieces: 100 to 190 and 300 to 340. Tokens then come at 210, 230, 260 and 350. */
START_TEST(a_token_is_timed_from_the_one_before)
{
	struct rvp_latency first, between;

	begin();
	step(10, 20, "warmup");
	step(100, 150, "prefill");
	step(160, 190, "prefill");
	step(195, 210, "decode");
	step(215, 230, "decode");
	step(250, 260, "decode");
	step(300, 340, "prefill");
	step(341, 350, "decode");
	make_rows();
	first = rvp_times_latency(&rows.first_token);
	ck_assert_uint_eq(first.count, 2);
	ck_assert_uint_eq(first.p50_us, 40000);
	ck_assert_uint_eq(first.p99_us, 90000);
	between = rvp_times_latency(&rows.inter_token);
	ck_assert_uint_eq(between.count, 4);
	ck_assert_double_eq(between.mean_us, (20000 + 20000 + 30000 + 10000) / 4.0);
	ck_assert_uint_eq(between.p50_us, 20000);
	ck_assert_uint_eq(between.p99_us, 30000);
	ck_assert(rows.has_token);
	ck_assert_uint_eq(rows.until_token_us, (run->processes[0].begin_ns > MAKER_EPOCH_NS)
						   ? 190000 - (run->processes[0].begin_ns - MAKER_EPOCH_NS + 500) / 1000
						   : 190000);
	ck_assert_uint_eq(rows.phases[RVP_STEP_PHASE_PREFILL].count, 3);
	ck_assert_uint_eq(rows.phases[RVP_STEP_PHASE_WARMUP].count, 1);
	ck_assert_uint_eq(rows.all.count, 8);
	end();
}
END_TEST

/* A token that no step before gave is not timed: what the warm-up made is none. */
START_TEST(without_a_token_before_there_is_nothing_between)
{
	begin();
	step(10, 20, "warmup");
	step(30, 40, "decode");
	step(50, 60, "decode");
	make_rows();
	ck_assert_uint_eq(rows.inter_token.count, 1);
	ck_assert_uint_eq(rows.first_token.count, 0);
	ck_assert(!rows.has_token);
	end();
}
END_TEST

static void alloc(uint64_t ns, uint64_t address, uint64_t bytes)
{
	MAKE(thread, ALLOC, 0, .stamp = ns, .address = address, .bytes = bytes);
	MAKE(thread, FREE, 0, .stamp = ns + 1000, .address = address);
}

/* Steps of 10 ms; the sixth takes 31 (more than 3 times), the eighth 30 (not more), the prompt 200 (alone in its phase). */
START_TEST(what_happened_in_a_stall_is_counted_to_the_byte)
{
	static const uint64_t ms[] = {10, 10, 10, 10, 10, 31, 10, 30, 10};
	uint64_t at = 300;
	const struct rvp_step_doings *doings;

	begin();
	step(50, 250, "prefill");
	alloc(260 * MS, 0x1000, 77); /* in no step */
	for (unsigned i = 0; i < sizeof ms / sizeof *ms; i++, at += 50) {
		say(at * MS, RVP_STEP_BEGIN, "decode");
		alloc(at * MS + 1000, 0x1000, 100);
		if (i == 5) {
			alloc(at * MS + 4000, 0x20000, 1 << 20);
			alloc(at * MS + 8000, 0x20000, 5);
			MAKE(thread, MAP, 0, .stamp = at * MS + 10000, .address = 1 << 30, .bytes = 8 << 20);
			MAKE(thread, FILL, 0, .stamp = at * MS + 20000, .address = 1 << 30, .bytes = 4096);
			MAKE(thread, UNMAP, 0, .stamp = at * MS + 30000, .address = 1 << 30, .bytes = 8 << 20);
		}
		say((at + ms[i]) * MS, RVP_STEP_END, "decode");
	}
	make_rows();
	ck_assert_uint_eq(rows.all_stall_count, 1);
	ck_assert_uint_eq(rows.stalls[0].step, 6);
	ck_assert_uint_eq(rows.stalls[0].us, 31000);
	ck_assert_uint_eq(rows.stalls[0].median_us, 10000);
	ck_assert(!rvp_failed(rvp_stalls_explain(&rows, run, &steps, NULL)));
	doings = &rows.stalls[0].doings;
	ck_assert_double_eq(doings->alloc_count, 3);
	ck_assert_double_eq(doings->alloc_bytes, 100 + (1 << 20) + 5);
	ck_assert_uint_eq(doings->free_count, 3);
	ck_assert_uint_eq(doings->map_count, 1);
	ck_assert_uint_eq(doings->map_bytes, 8 << 20);
	ck_assert_uint_eq(doings->unmap_count, 1);
	ck_assert_uint_eq(doings->read_bytes, 4096);
	doings = &rows.usual[RVP_STEP_PHASE_DECODE];
	ck_assert_uint_eq(rows.usual_count[RVP_STEP_PHASE_DECODE], 8);
	ck_assert_double_eq(doings->alloc_count, 8);
	ck_assert_double_eq(doings->alloc_bytes, 800);
	ck_assert_uint_eq(doings->map_count, 0);
	ck_assert_double_eq(rows.usual[RVP_STEP_PHASE_PREFILL].alloc_count, 0);
	end();
}
END_TEST

/* 300 stalls of growing length among 1,000 steps: the longest 64, in order of time, and all are counted. */
START_TEST(of_many_stalls_the_longest_are_kept)
{
	begin();
	for (uint64_t i = 0; i < 1000; i++) {
		bool stalls = i % 10 < 3;
		uint64_t ns = stalls ? 40000 + (i * 7919 % 1000) * 1000 : 10000;

		say(i * 2 * MS, RVP_STEP_BEGIN, "decode");
		say(i * 2 * MS + ns, RVP_STEP_END, "decode");
	}
	make_rows();
	ck_assert_uint_eq(rows.all_stall_count, 300);
	ck_assert_uint_eq(rows.stall_count, RVP_STALLS_MAX);
	for (size_t i = 0; i < rows.stall_count; i++) {
		size_t longer = 0;

		ck_assert(!i || rows.stalls[i].step > rows.stalls[i - 1].step);
		for (size_t other = 0; other < steps.count; other++)
			longer += rvp_step_us(&steps.steps[other]) > rows.stalls[i].us;
		ck_assert_uint_lt(longer, RVP_STALLS_MAX);
	}
	end();
}
END_TEST

START_TEST(a_histogram_has_all_times_and_no_gap)
{
	static struct rvp_sketch sketch;
	struct rvp_histogram_row parts[RVP_HISTOGRAM_ROWS];
	uint64_t sum = 0;
	size_t count;

	for (uint64_t i = 0; i < 100000; i++)
		rvp_sketch_add(&sketch, i * i * i % 1000003 + 17);
	count = rvp_histogram_of(&sketch, parts);
	ck_assert_uint_ge(count, RVP_HISTOGRAM_ROWS / 2);
	ck_assert_uint_le(count, RVP_HISTOGRAM_ROWS);
	ck_assert_uint_le(parts[0].first_us, 17);
	ck_assert_uint_ge(parts[count - 1].last_us, sketch.most);
	for (size_t i = 0; i < count; i++) {
		ck_assert(!i || parts[i].first_us == parts[i - 1].last_us + 1);
		sum += parts[i].count;
	}
	ck_assert_uint_eq(sum, 100000);
	memset(&sketch, 0, sizeof sketch);
	rvp_sketch_add(&sketch, 7);
	ck_assert_uint_eq(rvp_histogram_of(&sketch, parts), 1);
	ck_assert_uint_eq(parts[0].count, 1);
	rvp_sketch_add(&sketch, UINT64_MAX);
	rvp_sketch_add(&sketch, 0);
	ck_assert_uint_le(rvp_histogram_of(&sketch, parts), RVP_HISTOGRAM_ROWS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("latency_rows");
	TCase *cases = tcase_create("rows");

	tcase_add_test(cases, a_token_is_timed_from_the_one_before);
	tcase_add_test(cases, without_a_token_before_there_is_nothing_between);
	tcase_add_test(cases, what_happened_in_a_stall_is_counted_to_the_byte);
	tcase_add_test(cases, of_many_stalls_the_longest_are_kept);
	tcase_add_test(cases, a_histogram_has_all_times_and_no_gap);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
