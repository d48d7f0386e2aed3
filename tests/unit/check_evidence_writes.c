/* SPDX-License-Identifier: MIT */
/* check_evidence_writes.c: how blocks are written to, on both sides of each threshold, and what is said of a
 * run in which some were followed. */
#include "report/evidence_writes.h"
#include "tests/unit/attributed.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <string.h>

enum { MIB = 1 << 20, WINDOW_BEGIN = 2000, WINDOW_END = 900000 };

/* A part of a cache: two pages in each of 16 steps, each unit once. */
static struct rvp_record_WRITTEN store(void)
{
	return (struct rvp_record_WRITTEN){.bytes = MIB,
					   .number = 1,
					   .scans = 16,
					   .active = 0xffff,
					   .page_count = 256,
					   .resident_pages = 256,
					   .written_pages = 32,
					   .early_pages = 4,
					   .late_pages = 4,
					   .runs = 16,
					   .least_pages = 2,
					   .most_pages = 2,
					   .sampled_pages = 8,
					   .observations = 20,
					   .new_units = 4000,
					   .hottest = 6};
}

START_TEST(a_window_of_few_scans_says_nothing)
{
	struct rvp_record_WRITTEN written = store();

	written.scans = 4;
	written.active = 0xf;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_APPENDED);
	written.scans = 3;
	written.active = 7;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_TOO_SHORT);
}
END_TEST

START_TEST(what_is_never_written_is_static)
{
	struct rvp_record_WRITTEN written = {.scans = 16, .page_count = 100, .resident_pages = 51};

	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_STATIC);
	written.resident_pages = 50;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_EMPTY);
}
END_TEST

START_TEST(units_written_twice_make_it_rewritten)
{
	struct rvp_record_WRITTEN written = store();

	written.new_units = 970;
	written.again_units = 30;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_APPENDED);
	written.new_units = 969;
	written.again_units = 31;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_REWRITTEN);
}
END_TEST

START_TEST(what_grows_by_little_is_no_store)
{
	struct rvp_record_WRITTEN written = store();

	written.observations = 32;
	written.new_units = 1024; /* 32 a page, two pages a step */
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_APPENDED);
	written.new_units = 1023;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_REWRITTEN);
}
END_TEST

START_TEST(of_few_changes_nothing_follows)
{
	struct rvp_record_WRITTEN written = store();

	written.observations = 10;
	written.new_units = 512;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_APPENDED);
	written.new_units = 511;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_REWRITTEN);
}
END_TEST

/* The same values again: pages are written, nothing changes. */
START_TEST(what_is_written_but_never_changes_is_no_store)
{
	struct rvp_record_WRITTEN written = store();

	written.new_units = 0;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_REWRITTEN);
}
END_TEST

START_TEST(a_store_is_written_in_nine_steps_of_ten)
{
	struct rvp_record_WRITTEN written = store();

	written.active = 0x7fff; /* 15 of 16 */
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_APPENDED);
	written.active = 0x3fff; /* 14 of 16 */
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_NOW_AND_THEN);
	written.again_units = written.new_units;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_SELDOM);
}
END_TEST

/* Ticks may be faster than steps, up to eight times; marks may not. */
START_TEST(ticks_are_taken_together)
{
	struct rvp_record_WRITTEN written = store();

	written.scans = 64;
	written.active = 0x0101010101010101; /* every eighth */
	ck_assert_int_eq(rvp_writing_of(&written, true), RVP_WRITING_APPENDED);
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_NOW_AND_THEN);
	written.active = 0x0001010101010101; /* and once not */
	ck_assert_int_eq(rvp_writing_of(&written, true), RVP_WRITING_NOW_AND_THEN);
	written.scans = 16; /* groups of two are left */
	written.active = 0x5555;
	ck_assert_int_eq(rvp_writing_of(&written, true), RVP_WRITING_APPENDED);
	written.active = 0x1111;
	ck_assert_int_eq(rvp_writing_of(&written, true), RVP_WRITING_NOW_AND_THEN);
}
END_TEST

/* Rows of a page and more: no page is written twice. */
static struct rvp_record_WRITTEN front(void)
{
	struct rvp_record_WRITTEN written = store();

	written.observations = written.new_units = 0;
	written.hottest = 1;
	written.early_pages = 60;
	written.late_pages = 40;
	return written;
}

START_TEST(a_front_of_whole_pages_is_a_store)
{
	struct rvp_record_WRITTEN written = front();

	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_APPENDED);
	ck_assert(rvp_writing_growth(&written) == 2 * 2048);
	written.early_pages = 61;
	written.late_pages = 39;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_REWRITTEN);
	written = front();
	written.hottest = 12; /* of 16 */
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_APPENDED);
	written.hottest = 13;
	ck_assert_int_eq(rvp_writing_of(&written, false), RVP_WRITING_REWRITTEN);
}
END_TEST

START_TEST(siblings_are_of_one_size_and_grow_alike)
{
	struct rvp_record_WRITTEN one = store(), other = store();

	other.new_units = one.new_units * 3 / 2;
	ck_assert(rvp_writing_is_sibling(&one, &other));
	other.new_units++;
	ck_assert(!rvp_writing_is_sibling(&one, &other));
	ck_assert(!rvp_writing_is_sibling(&other, &one));
	other = store();
	other.bytes++;
	ck_assert(!rvp_writing_is_sibling(&one, &other));
	other = store();
	other.number = 2;
	ck_assert(!rvp_writing_is_sibling(&one, &other));
}
END_TEST

START_TEST(many_stores_in_one_block_grow_at_three_places_by_the_same)
{
	struct rvp_record_WRITTEN written = store();

	written.runs = 48;
	written.least_pages = 8;
	written.most_pages = 16;
	ck_assert(rvp_writing_is_many_stores(&written));
	written.runs = 47;
	ck_assert(!rvp_writing_is_many_stores(&written));
	written.runs = 48;
	written.most_pages = 17;
	ck_assert(!rvp_writing_is_many_stores(&written));
}
END_TEST

/* ---- a run ---- */

static struct maker maker;
static struct maker_thread *thread;
static struct attributed it;

static void begin(void)
{
	maker = maker_open();
	thread = maker_thread(maker_add(&maker, 100));
}

static void give(uint64_t stamp, uint64_t address, uint64_t bytes)
{
	MAKE(thread, ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes);
}

static void open_window(enum rvp_write_beat beat)
{
	MAKE(thread, WRITE_WINDOW, 0, .stamp = WINDOW_BEGIN, .kind = RVP_WRITE_WINDOW_BEGIN, .number = 1,
	     .beat = beat);
}

static void tell(struct rvp_record_WRITTEN written, uint64_t address)
{
	MAKE(thread, WRITTEN, 0, .stamp = WINDOW_END, .address = address, .bytes = written.bytes,
	     .number = written.number, .scans = written.scans, .active = written.active,
	     .page_count = written.page_count, .resident_pages = written.resident_pages,
	     .written_pages = written.written_pages, .early_pages = written.early_pages,
	     .late_pages = written.late_pages, .runs = written.runs, .least_pages = written.least_pages,
	     .most_pages = written.most_pages, .sampled_pages = written.sampled_pages,
	     .observations = written.observations, .new_units = written.new_units,
	     .again_units = written.again_units, .hottest = written.hottest, .moves = written.moves);
}

static void end(enum rvp_write_beat beat)
{
	MAKE(thread, WRITE_WINDOW, 0, .stamp = WINDOW_END, .kind = RVP_WRITE_WINDOW_END, .number = 1,
	     .beat = beat, .scans = 16, .block_count = 2, .cost_ns = 1000);
	attributed_open(&it, &maker, &(struct rvp_attribution_settings){.without_rules = true}, NULL, 0);
}

static void done(void)
{
	attributed_close(&it, &maker);
}

static uint64_t most(enum rvp_category category)
{
	return it.answer.max_by_category[category].bytes;
}

static bool has_note(const char *words)
{
	return attributed_has_note(&it, words);
}

START_TEST(two_stores_of_one_size_are_a_cache)
{
	begin();
	give(1000, 0x100000, MIB);
	give(1001, 0x300000, MIB);
	open_window(RVP_WRITE_BEAT_TICKS);
	tell(store(), 0x100000);
	tell(store(), 0x300000);
	end(RVP_WRITE_BEAT_TICKS);
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), 2 * MIB);
	done();
}
END_TEST

START_TEST(a_lone_store_has_no_name)
{
	struct rvp_record_WRITTEN many = store();

	many.runs = 48;
	for (int i = 0; i < 3; i++) {
		enum rvp_write_beat beat = i == 1 ? RVP_WRITE_BEAT_TICKS : RVP_WRITE_BEAT_MARKS;

		begin();
		give(1000, 0x100000, MIB);
		open_window(beat);
		tell(i ? many : store(), 0x100000);
		end(beat);
		/* At several places by the same in each step, and steps are marked: only then. */
		ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), i == 2 ? MIB : 0);
		ck_assert_uint_eq(most(RVP_CATEGORY_UNKNOWN), i == 2 ? 0 : MIB);
		ck_assert(has_note("stand alone (cache or log): 1") == (i != 2));
		done();
	}
}
END_TEST

/* What was not there when the window began, or is another block by now, was not seen. */
START_TEST(other_blocks_are_not_taken_for_it)
{
	struct rvp_record_WRITTEN moved = store();

	moved.moves = 1;
	for (int i = 0; i < 3; i++) {
		begin();
		if (i == 2)
			give(1000, 0x100000, MIB);
		give(1001, 0x300000, MIB);
		open_window(RVP_WRITE_BEAT_TICKS);
		if (i != 2)
			give(WINDOW_BEGIN + 1, 0x100000, MIB);
		tell(i == 1 ? moved : store(), 0x100000);
		tell(store(), i == 2 ? 0x300010 : 0x300000);
		end(RVP_WRITE_BEAT_TICKS);
		ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), i == 1 ? 2 * MIB : 0);
		done();
	}
}
END_TEST

START_TEST(a_window_that_saw_it_rewritten_contradicts)
{
	struct rvp_record_WRITTEN rewritten = store();

	rewritten.again_units = rewritten.new_units;
	begin();
	give(1000, 0x100000, MIB);
	give(1001, 0x300000, MIB);
	open_window(RVP_WRITE_BEAT_TICKS);
	tell(store(), 0x100000);
	tell(store(), 0x300000);
	tell(rewritten, 0x300000);
	end(RVP_WRITE_BEAT_TICKS);
	ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), 0);
	done();
}
END_TEST

/* Looks that are faster than layers: a prompt fills one layer after the other, then each token writes all of them, now
 * and then. Blocks that are filled one after the other and then rest are another thing, as are marked steps, and few. */
START_TEST(many_stores_behind_a_prompt_are_a_cache)
{
	static const struct {
		unsigned count;
		uint64_t first, late; /* looks: the first layer's in the prompt; of all at the end */
		enum rvp_write_beat beat;
		bool is_cache;
	} cases[] = {{5, 7, 0x5254a92900000000, RVP_WRITE_BEAT_TICKS, true},
		     {4, 7, 0x5254a92900000000, RVP_WRITE_BEAT_TICKS, false},
		     {5, 7, 0x5254a92900000000, RVP_WRITE_BEAT_MARKS, false},
		     {5, 7, 0x5254a90000000000, RVP_WRITE_BEAT_TICKS, false},
		     {5, 0x1fff, 0, RVP_WRITE_BEAT_TICKS, false},
		     {5, 0, 0x1010102900000000, RVP_WRITE_BEAT_TICKS, false}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin();
		for (unsigned k = 0; k < cases[i].count; k++)
			give(1000, 0x100000 * (uint64_t)(k + 1), MIB);
		open_window(cases[i].beat);
		for (unsigned k = 0; k < cases[i].count; k++) {
			struct rvp_record_WRITTEN one = store();

			one.scans = 64;
			one.active = cases[i].first << 4 * k | cases[i].late;
			one.new_units = 2000 + 800 * k; /* the last one's are more than 1.5 times the first's */
			tell(one, 0x100000 * (uint64_t)(k + 1));
		}
		end(cases[i].beat);
		ck_assert_msg(most(RVP_CATEGORY_KV_CACHE) == (cases[i].is_cache ? cases[i].count * MIB : 0),
			      "case %zu: %ju", i, (uintmax_t)most(RVP_CATEGORY_KV_CACHE));
		done();
	}
}
END_TEST

START_TEST(a_store_met_less_often_follows_two_siblings)
{
	for (int siblings = 1; siblings <= 2; siblings++) {
		struct rvp_record_WRITTEN seldom = store();

		seldom.active = 0xff;
		seldom.written_pages = 16;
		begin();
		for (int i = 0; i <= siblings; i++)
			give(1000, 0x100000 * (uint64_t)(i + 1), MIB);
		open_window(RVP_WRITE_BEAT_TICKS);
		for (int i = 0; i <= siblings; i++)
			tell(i == siblings ? seldom : store(), 0x100000 * (uint64_t)(i + 1));
		end(RVP_WRITE_BEAT_TICKS);
		ck_assert_uint_eq(most(RVP_CATEGORY_KV_CACHE), siblings == 2 ? 3 * MIB : 0);
		done();
	}
}
END_TEST

START_TEST(static_blocks_are_not_called_weights)
{
	begin();
	give(1000, 0x100000, MIB);
	open_window(RVP_WRITE_BEAT_MARKS);
	tell(
	    (struct rvp_record_WRITTEN){
		.bytes = MIB, .number = 1, .scans = 16, .page_count = 256, .resident_pages = 256},
	    0x100000);
	end(RVP_WRITE_BEAT_MARKS);
	ck_assert_uint_eq(most(RVP_CATEGORY_UNKNOWN), MIB);
	ck_assert_uint_eq(most(RVP_CATEGORY_WEIGHTS), 0);
	done();
}
END_TEST

/* Steps keep their rows; those in the window are counted. */
START_TEST(steps_in_the_window_are_counted)
{
	begin();
	open_window(RVP_WRITE_BEAT_MARKS);
	for (uint64_t i = 0; i < 4; i++) {
		MAKE(thread, STEP, 0, .stamp = WINDOW_END - 500000 + i * 300000, .kind = RVP_STEP_BEGIN);
		MAKE(thread, STEP, 0, .stamp = WINDOW_END - 300000 + i * 300000, .kind = RVP_STEP_END);
	}
	end(RVP_WRITE_BEAT_MARKS);
	ck_assert_uint_eq(rvp_attribution_steps(it.attribution)->count, 4);
	ck_assert_uint_eq(rvp_attribution_steps(it.attribution)->followed_count, 2);
	done();
}
END_TEST

START_TEST(a_refusal_is_said)
{
	static const char why[] = "this kernel has no PAGEMAP_SCAN";

	begin();
	give(1000, 0x100000, MIB);
	MAKE(thread, WRITE_WINDOW, sizeof why, .stamp = 3000, .kind = RVP_WRITE_WINDOW_UNAVAILABLE,
	     .reason = {why, sizeof why - 1});
	end(RVP_WRITE_BEAT_NONE);
	ck_assert(has_note("writes could not be followed: this kernel has no PAGEMAP_SCAN"));
	done();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evidence_writes");
	TCase *rules = tcase_create("rules"), *runs = tcase_create("runs");

	tcase_add_test(rules, a_window_of_few_scans_says_nothing);
	tcase_add_test(rules, what_is_never_written_is_static);
	tcase_add_test(rules, units_written_twice_make_it_rewritten);
	tcase_add_test(rules, what_grows_by_little_is_no_store);
	tcase_add_test(rules, of_few_changes_nothing_follows);
	tcase_add_test(rules, what_is_written_but_never_changes_is_no_store);
	tcase_add_test(rules, a_store_is_written_in_nine_steps_of_ten);
	tcase_add_test(rules, ticks_are_taken_together);
	tcase_add_test(rules, a_front_of_whole_pages_is_a_store);
	tcase_add_test(rules, siblings_are_of_one_size_and_grow_alike);
	tcase_add_test(rules, many_stores_in_one_block_grow_at_three_places_by_the_same);
	suite_add_tcase(suite, rules);
	tcase_add_test(runs, two_stores_of_one_size_are_a_cache);
	tcase_add_test(runs, a_lone_store_has_no_name);
	tcase_add_test(runs, other_blocks_are_not_taken_for_it);
	tcase_add_test(runs, a_window_that_saw_it_rewritten_contradicts);
	tcase_add_test(runs, many_stores_behind_a_prompt_are_a_cache);
	tcase_add_test(runs, a_store_met_less_often_follows_two_siblings);
	tcase_add_test(runs, static_blocks_are_not_called_weights);
	tcase_add_test(runs, steps_in_the_window_are_counted);
	tcase_add_test(runs, a_refusal_is_said);
	suite_add_tcase(suite, runs);
	return run_suite(suite);
}
