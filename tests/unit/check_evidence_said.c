/* SPDX-License-Identifier: MIT */
/* check_evidence_said.c: what a program, its Python part, an adapter or NVTX said (TAG, SCOPE) is what its
 * blocks are for: by whom, from when on, and what is put right when they contradict themselves. */
#include "tests/unit/attributed.h"
#include "tests/unit/run_suite.h"

#include <stdio.h>
#include <string.h>

static struct maker maker;
static struct maker_thread *main_thread;
static struct attributed it;
/* Each right between two records: what was recast before it counts, and nothing else. */
static const uint64_t moments[] = {MAKER_EPOCH_NS + 5000, MAKER_EPOCH_NS + 9000};

static void open_log(void)
{
	maker = maker_open();
	main_thread = &maker_add(&maker, 100)->threads[0];
}

static void close_log(void)
{
	attributed_close(&it, &maker);
}

static void attribute(void)
{
	attributed_open(&it, &maker, NULL, moments, 2);
}

static uint64_t live(const char *purpose, size_t moment)
{
	return attributed_live(&it, purpose, moment);
}

static const char *reason_of(const char *purpose)
{
	const struct rvp_purposes *purposes = rvp_attribution_purposes(it.attribution);

	for (size_t i = 0; i < it.answer.site_count; i++)
		if (strcmp(rvp_purpose_name(purposes, it.answer.sites[i].purpose), purpose) == 0)
			return rvp_reason_text(it.attribution, it.answer.sites[i].reason);
	return "";
}

static bool is_noted(const char *words)
{
	return attributed_has_note(&it, words);
}

static struct rvp_text text(const char *bytes)
{
	return (struct rvp_text){bytes, strlen(bytes)};
}

static void alloc(struct maker_thread *thread, uint64_t stamp, uint64_t address, uint64_t bytes)
{
	MAKE(thread, ALLOC, 0, .stamp = stamp, .address = address, .bytes = bytes, .stack = 1);
}

static void tag(uint64_t stamp, uint64_t address, uint64_t bytes, const char *category, const char *name)
{
	MAKE(main_thread, TAG, 200, .stamp = stamp, .address = address, .bytes = bytes,
	     .category = text(category), .name = text(name));
}

static void scope(struct maker_thread *thread, uint64_t stamp, int kind, int source, const char *category,
		  const char *args)
{
	MAKE(thread, SCOPE, 200, .stamp = stamp, .kind = (uint64_t)kind, .source = (uint64_t)source,
	     .category = text(category), .name = text("a name"), .args = text(args));
}

static void begin(uint64_t stamp, const char *category)
{
	scope(main_thread, stamp, RVP_SCOPE_BEGIN, RVP_SOURCE_API, category, "");
}

static void end(uint64_t stamp)
{
	scope(main_thread, stamp, RVP_SCOPE_END, RVP_SOURCE_API, "", "");
}

START_TEST(a_tag_holds_for_the_whole_life)
{
	open_log();
	alloc(main_thread, 2000, 0x10000, 1000);
	alloc(main_thread, 2500, 0x20000, 70);
	tag(6000, 0x10000, 0, "weights", "embedding");
	tag(6100, 0x20000, 70, "kv_cache/prompt_cache", "k");
	attribute();
	ck_assert_uint_eq(live("weights", 0), 1000);
	ck_assert_uint_eq(live("weights", 1), 1000);
	ck_assert_uint_eq(live("kv_cache/prompt_cache", 1), 70);
	ck_assert_str_eq(reason_of("weights"), "named by the program: 'embedding'");
	close_log();
}
END_TEST

START_TEST(a_second_tag_holds_from_then_on)
{
	open_log();
	alloc(main_thread, 2000, 0x10000, 1000);
	tag(3000, 0x10000, 0, "activation", "a");
	tag(6000, 0x10000, 0, "kv_cache", "b");
	attribute();
	ck_assert_uint_eq(live("activation", 0), 1000);
	ck_assert_uint_eq(live("kv_cache", 0), 0);
	ck_assert_uint_eq(live("kv_cache", 1), 1000);
	ck_assert_uint_eq(live("activation", 1), 0);
	close_log();
}
END_TEST

START_TEST(a_tag_is_of_the_block_that_lives_there)
{
	open_log();
	alloc(main_thread, 2000, 0x10000, 1000);
	tag(3000, 0x10000, 0, "weights", "a");
	MAKE(main_thread, FREE, 0, .stamp = 3500, .address = 0x10000);
	alloc(main_thread, 4000, 0x10000, 500);
	tag(4500, 0x90000, 0, "weights", "nowhere");
	tag(4600, 0x10000 + 500, 10, "weights", "right behind it");
	attribute();
	ck_assert_uint_eq(live("weights", 0), 0);
	ck_assert_uint_eq(live("unknown", 0), 500);
	ck_assert(is_noted("2 tags are of addresses in no recorded block"));
	close_log();
}
END_TEST

/* Where small blocks are not recorded each, a tag of one that is not there is no mistake of the program's. */
START_TEST(sampled_mode_explains_tags_of_no_block)
{
	maker = maker_open();
	main_thread = &maker_add_with(&maker, 100,
				      (struct rvp_record_PROCESS){.stamp = 1000,
								  .parent_pid = 1,
								  .start_ticks = 100,
								  .page_bytes = 4096,
								  .mode = RVP_MODE_SAMPLED,
								  .threshold_bytes = 16384,
								  .sample_bytes = 524288,
								  .exe = {"/usr/bin/app", 12}})
			   ->threads[0];
	tag(3000, 0x10000, 16383, "weights", "small");
	tag(3100, 0x20000, 16384, "weights", "would have been recorded");
	tag(3200, 0x30000, 0, "weights", "who knows");
	tag(3300, 0x40000, 0, "weights", "who knows");
	attribute();
	ck_assert(is_noted("1 tags are of addresses in no recorded block"));
	ck_assert(
	    is_noted("2 tags are of blocks that were not recorded: in sampled mode most below 16.0 KiB"));
	close_log();
}
END_TEST

/* An arena: what its parts are decides once one category has 90 % of it. */
static uint64_t arena_of(uint64_t weights_bytes, uint64_t kv_bytes)
{
	uint64_t claimed;

	open_log();
	alloc(main_thread, 2000, 0x100000, 10000);
	tag(3000, 0x100000, weights_bytes / 2, "weights", "a");
	tag(3100, 0x100000 + weights_bytes / 2, weights_bytes - weights_bytes / 2, "weights", "b");
	tag(3200, 0x100000 + weights_bytes, kv_bytes, "kv_cache", "c");
	attribute();
	claimed = live("weights", 0);
	ck_assert_uint_eq(live("kv_cache", 0), 0);
	ck_assert_uint_eq(claimed + live("unknown", 0), 10000);
	ck_assert_int_eq(is_noted("1 blocks (10000 bytes) have tags of parts"), claimed == 0);
	close_log();
	return claimed;
}

START_TEST(parts_decide_from_ninety_percent_on)
{
	ck_assert_uint_eq(arena_of(9000, 1000), 10000);
	ck_assert_uint_eq(arena_of(8998, 1000), 0);
}
END_TEST

START_TEST(a_later_part_replaces_what_it_covers)
{
	open_log();
	alloc(main_thread, 2000, 0x100000, 10000);
	tag(3000, 0x100000, 9500, "weights", "a");
	tag(6000, 0x100000 + 100, 9300, "kv_cache", "in the middle of it");
	attribute();
	ck_assert_uint_eq(live("weights", 0), 10000);
	ck_assert_uint_eq(live("kv_cache", 1), 10000);
	close_log();
}
END_TEST

START_TEST(a_word_that_is_no_category_claims_nothing)
{
	open_log();
	alloc(main_thread, 2000, 0x10000, 1000);
	tag(3000, 0x10000, 0, "wieghts", "a");
	tag(3100, 0x10000, 0, "", "only a name");
	begin(3200, "kvcache");
	alloc(main_thread, 3300, 0x20000, 10);
	attribute();
	ck_assert_uint_eq(live("unknown", 0), 1010);
	ck_assert(is_noted("1 tags have a category that is none (\"wieghts\")"));
	ck_assert(is_noted("1 scopes have a category that is none (\"kvcache\")"));
	close_log();
}
END_TEST

START_TEST(the_innermost_scope_with_a_category_speaks)
{
	open_log();
	alloc(main_thread, 2000, 0x10000, 1);
	begin(2100, "weights");
	alloc(main_thread, 2200, 0x20000, 10);
	begin(2300, "");
	alloc(main_thread, 2400, 0x30000, 100);
	begin(2500, "temp");
	alloc(main_thread, 2600, 0x40000, 1000);
	begin(2700, "unknown");
	alloc(main_thread, 2800, 0x50000, 10000);
	end(2900), end(3000), end(3100);
	alloc(main_thread, 3200, 0x60000, 100000);
	end(3300);
	alloc(main_thread, 3400, 0x70000, 2);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 100110);
	ck_assert_uint_eq(live("temp", 0), 1000);
	ck_assert_uint_eq(live("unknown", 0), 10003);
	ck_assert_str_eq(reason_of("temp"), "scope 'a name'");
	for (size_t i = 0; i < it.answer.site_count; i++)
		ck_assert(it.answer.sites[i].purpose != RVP_CATEGORY_UNKNOWN ||
			  it.answer.sites[i].evidence != RVP_EVIDENCE_SCOPE);
	ck_assert_uint_eq(it.answer.totals.loss[RVP_LOSS_UNBALANCED_SCOPE], 0);
	close_log();
}
END_TEST

START_TEST(a_scope_is_of_its_thread)
{
	open_log();
	struct maker_thread *other = maker_thread(main_thread->process);

	begin(2000, "weights");
	alloc(other, 2100, 0x10000, 10);
	alloc(main_thread, 2200, 0x20000, 100);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 100);
	close_log();
}
END_TEST

START_TEST(a_tag_goes_before_a_scope)
{
	open_log();
	begin(2000, "temp");
	alloc(main_thread, 2200, 0x20000, 100);
	tag(2300, 0x20000, 0, "weights", "w");
	attribute();
	ck_assert_uint_eq(live("weights", 0), 100);
	ck_assert_uint_eq(live("temp", 0), 0);
	close_log();
}
END_TEST

START_TEST(what_is_unbalanced_is_repaired_and_counted)
{
	open_log();
	end(2000); /* of nothing */
	begin(2100, "weights");
	scope(main_thread, 2200, RVP_SCOPE_OPERATOR_BEGIN, RVP_SOURCE_API, "temp", "");
	end(2300); /* of the scope, hence also of the operator in it */
	alloc(main_thread, 2400, 0x10000, 100);
	begin(2500, "weights"); /* open at the end of the process: no mistake */
	attribute();
	ck_assert_uint_eq(live("unknown", 0), 100);
	ck_assert_uint_eq(it.answer.totals.loss[RVP_LOSS_UNBALANCED_SCOPE], 2);
	close_log();
}
END_TEST

START_TEST(speakers_need_not_nest_with_each_other)
{
	open_log();
	begin(2000, "weights");
	scope(main_thread, 2100, RVP_SCOPE_BEGIN, RVP_SOURCE_PYTHON, "temp", "");
	end(2200); /* the program's own, not Python's */
	alloc(main_thread, 2300, 0x10000, 100);
	scope(main_thread, 2400, RVP_SCOPE_END, RVP_SOURCE_PYTHON, "", "");
	alloc(main_thread, 2500, 0x20000, 10);
	attribute();
	ck_assert_uint_eq(live("temp", 0), 100);
	ck_assert_uint_eq(live("unknown", 0), 10);
	ck_assert_uint_eq(it.answer.totals.loss[RVP_LOSS_UNBALANCED_SCOPE], 0);
	close_log();
}
END_TEST

START_TEST(domains_of_nvtx_end_their_own)
{
	open_log();
	begin(1900, "weights");
	scope(main_thread, 2000, RVP_SCOPE_BEGIN, RVP_SOURCE_NVTX, "temp", "one/category");
	scope(main_thread, 2100, RVP_SCOPE_BEGIN, RVP_SOURCE_NVTX, "", "two");
	scope(main_thread, 2200, RVP_SCOPE_END, RVP_SOURCE_NVTX, "", "one");
	alloc(main_thread, 2250, 0x20000, 10);
	scope(main_thread, 2300, RVP_SCOPE_END, RVP_SOURCE_NVTX, "", "two");
	alloc(main_thread, 2400, 0x10000, 100);
	end(2500);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 110);
	ck_assert_uint_eq(it.answer.totals.loss[RVP_LOSS_UNBALANCED_SCOPE], 0);
	close_log();
}
END_TEST

START_TEST(depth_has_a_bound)
{
	open_log();
	begin(2000, "weights");
	for (uint64_t i = 0; i < 1500; i++)
		begin(2001 + i, "temp");
	for (uint64_t i = 0; i < 1500; i++)
		end(3600 + i / 4);
	alloc(main_thread, 4200, 0x10000, 100);
	attribute();
	ck_assert_uint_eq(live("weights", 0), 100);
	ck_assert_uint_eq(it.answer.totals.loss[RVP_LOSS_UNBALANCED_SCOPE], 0);
	close_log();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evidence_said");
	TCase *cases = tcase_create("all");

	tcase_add_test(cases, a_tag_holds_for_the_whole_life);
	tcase_add_test(cases, a_second_tag_holds_from_then_on);
	tcase_add_test(cases, a_tag_is_of_the_block_that_lives_there);
	tcase_add_test(cases, sampled_mode_explains_tags_of_no_block);
	tcase_add_test(cases, parts_decide_from_ninety_percent_on);
	tcase_add_test(cases, a_later_part_replaces_what_it_covers);
	tcase_add_test(cases, a_word_that_is_no_category_claims_nothing);
	tcase_add_test(cases, the_innermost_scope_with_a_category_speaks);
	tcase_add_test(cases, a_scope_is_of_its_thread);
	tcase_add_test(cases, a_tag_goes_before_a_scope);
	tcase_add_test(cases, what_is_unbalanced_is_repaired_and_counted);
	tcase_add_test(cases, speakers_need_not_nest_with_each_other);
	tcase_add_test(cases, domains_of_nvtx_end_their_own);
	tcase_add_test(cases, depth_has_a_bound);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
