/* SPDX-License-Identifier: MIT */
/* check_claims.c: purposes, claims and reasons, the index of live blocks, and mappings as blocks. */
#include "report/analysis.h"
#include "report/claims.h"
#include "report/live_index.h"
#include "report/purpose.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint16_t number(struct rvp_purposes *purposes, const char *text)
{
	return rvp_purpose_number(purposes, text, strlen(text));
}

START_TEST(a_purpose_is_a_category_or_a_sub_kind_of_one)
{
	struct rvp_purposes purposes;

	rvp_purposes_open(&purposes);
	ck_assert_uint_eq(number(&purposes, "kv_cache"), RVP_CATEGORY_KV_CACHE);
	ck_assert_uint_eq(number(&purposes, "kv_cache/"), RVP_CATEGORY_KV_CACHE);
	ck_assert_uint_eq(number(&purposes, "kv"), RVP_PURPOSE_NONE);
	ck_assert_uint_eq(number(&purposes, ""), RVP_PURPOSE_NONE);
	ck_assert_uint_eq(number(&purposes, "weights/copy"), RVP_CATEGORY_COUNT);
	ck_assert_uint_eq(number(&purposes, "weights/co\"py"), RVP_CATEGORY_COUNT + 1);
	ck_assert_uint_eq(number(&purposes, "weights/copy"), RVP_CATEGORY_COUNT);
	ck_assert_str_eq(rvp_purpose_name(&purposes, RVP_CATEGORY_COUNT), "weights/copy");
	ck_assert_str_eq(rvp_purpose_name(&purposes, RVP_CATEGORY_COUNT + 1), "weights/co_py");
	ck_assert_int_eq(rvp_purpose_category(&purposes, RVP_CATEGORY_COUNT), RVP_CATEGORY_WEIGHTS);
	ck_assert_int_eq(rvp_purpose_category(&purposes, 999), RVP_CATEGORY_UNKNOWN);
	rvp_purposes_free(&purposes);
}
END_TEST

/* A log may say as many texts as it likes. */
START_TEST(beyond_the_bound_a_sub_kind_is_its_category)
{
	struct rvp_purposes purposes;
	char text[32];

	rvp_purposes_open(&purposes);
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof text, "temp/%d", i);
		ck_assert_int_eq(rvp_purpose_category(&purposes, number(&purposes, text)), RVP_CATEGORY_TEMP);
	}
	ck_assert_uint_eq(purposes.count, RVP_PURPOSES_MAX);
	ck_assert_uint_eq(purposes.dropped, 1000 - (RVP_PURPOSES_MAX - RVP_CATEGORY_COUNT));
	rvp_purposes_free(&purposes);
}
END_TEST

static struct rvp_verdict verdict(int category, enum rvp_evidence evidence)
{
	return (struct rvp_verdict){.purpose = (uint16_t)category, .evidence = (uint8_t)evidence};
}

START_TEST(words_of_a_block_and_of_its_site)
{
	struct rvp_claims claims = {0};
	struct rvp_block_key key = {0x1000, 5, 0}, other = {0x1000, 6, 0};
	struct rvp_verdict tag = verdict(RVP_CATEGORY_WEIGHTS, RVP_EVIDENCE_TAG),
			   rule = verdict(RVP_CATEGORY_TEMP, RVP_EVIDENCE_RULE), words[RVP_WORDS_MAX];
	struct rvp_block block = {.bytes = 100, .site = 300};

	ck_assert(rvp_claims_add_block(&claims, &key, &tag, 0));
	ck_assert(rvp_claims_add_block(&claims, &key, &tag, 0));
	ck_assert_uint_eq(claims.block_count, 1);
	ck_assert(rvp_claims_add_site(&claims, 300, &rule, 50, 100));
	ck_assert_uint_eq(rvp_claims_of(&claims, &key, &block, words), 2);
	ck_assert_int_eq(words[0].purpose, RVP_CATEGORY_WEIGHTS);
	ck_assert_int_eq(words[1].purpose, RVP_CATEGORY_TEMP);
	ck_assert_uint_eq(rvp_claims_of(&claims, &other, &block, words), 1);
	block.bytes = 101;
	ck_assert_uint_eq(rvp_claims_of(&claims, &other, &block, words), 0);
	for (uint64_t i = 0; i < 5000; i++) {
		struct rvp_block_key many = {i * 64, i, 0};

		ck_assert(rvp_claims_add_block(&claims, &many, &tag, 0));
	}
	ck_assert_uint_eq(rvp_claims_of(&claims, &key, &block, words), 1);
	for (uint64_t i = 0; i < 5000; i++) {
		struct rvp_block_key many = {i * 64, i, 0}, none = {i * 64, i + 1, 0};

		ck_assert_uint_eq(rvp_claims_of(&claims, &many, &block, words), 1);
		ck_assert_uint_eq(rvp_claims_of(&claims, &none, &block, words), 0);
	}
	rvp_claims_free(&claims);
}
END_TEST

/* A later claim is a change only where nothing more specific holds for the whole life. */
START_TEST(changes_come_in_order_of_time)
{
	struct rvp_claims claims = {0};
	struct rvp_block_key a = {0x1000, 5, 0}, b = {0x2000, 5, 0};
	struct rvp_verdict tag = verdict(RVP_CATEGORY_WEIGHTS, RVP_EVIDENCE_TAG),
			   scope = verdict(RVP_CATEGORY_TEMP, RVP_EVIDENCE_SCOPE);

	ck_assert(rvp_claims_add_block(&claims, &a, &tag, 90));
	ck_assert(rvp_claims_add_block(&claims, &a, &tag, 70));
	ck_assert(rvp_claims_add_block(&claims, &b, &tag, 0));
	ck_assert(rvp_claims_add_block(&claims, &b, &scope, 80));
	ck_assert(rvp_claims_settle(&claims));
	ck_assert_uint_eq(claims.change_count, 2);
	ck_assert_uint_eq(claims.changes[0].ns, 70);
	ck_assert_uint_eq(claims.changes[1].ns, 90);
	rvp_claims_free(&claims);
}
END_TEST

START_TEST(a_reason_has_one_number)
{
	struct rvp_reasons reasons = {0};
	char text[32];

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 1000; i++) {
			snprintf(text, sizeof text, "reason %d", i);
			ck_assert_uint_eq(rvp_reasons_number(&reasons, text), (uint32_t)i + 1);
		}
	ck_assert_str_eq(rvp_reasons_text(&reasons, 1000), "reason 999");
	ck_assert_str_eq(rvp_reasons_text(&reasons, 1001), "");
	ck_assert_str_eq(rvp_reasons_text(&reasons, 0), "");
	rvp_reasons_free(&reasons);
}
END_TEST

static void forget(uint16_t *owner, const uint64_t *begin, uint64_t address)
{
	for (int i = 0; i < 4096; i++)
		if (owner[i] && begin[i] == address)
			owner[i] = 0;
}

/* Against a plain array of bytes: who owns which of 4,096 addresses. */
START_TEST(the_index_knows_who_holds_an_address)
{
	struct rvp_live_index index;
	static uint16_t owner[4096]; /* 1: somebody */
	static uint64_t begin[4096];
	uint32_t seed = 1;

	memset(owner, 0, sizeof owner);
	ck_assert(rvp_live_index_open(&index, 1));
	for (int round = 0; round < 20000; round++) {
		seed = seed * 1664525 + 1013904223;
		uint64_t at = seed >> 8 & 4095, bytes = 1 + (seed >> 20 & 127);
		const struct rvp_block *found;

		if (at + bytes > 4096)
			bytes = 4096 - at;
		if (seed & 0x80000000u) {
			for (uint64_t i = at; i < at + bytes; i++) /* whoever is touched goes whole */
				if (owner[i])
					forget(owner, begin, begin[i]);
			for (uint64_t i = at; i < at + bytes; i++) {
				owner[i] = 1;
				begin[i] = at;
			}
			ck_assert(rvp_live_index_put(&index, 0,
						     &(struct rvp_block){.address = at, .bytes = bytes}));
		} else if (owner[at] && begin[at] == at) {
			forget(owner, begin, at);
			rvp_live_index_remove(&index, 0, at);
		}
		at = seed >> 4 & 4095;
		found = rvp_live_index_find(&index, 0, at);
		ck_assert_int_eq(found != NULL, owner[at]);
		if (found)
			ck_assert_uint_eq(found->address, begin[at]);
	}
	rvp_live_index_clear(&index, 0);
	ck_assert_ptr_null(rvp_live_index_find(&index, 0, 100));
	ck_assert_ptr_null(rvp_live_index_next(&index, 0, 0));
	rvp_live_index_free(&index);
}
END_TEST

/* ---- mappings ---- */

static struct maker maker;
static struct maker_thread *thread;
static struct rvp_run *run;
static struct rvp_analysis answer;

static void begin_run(void)
{
	maker = maker_open();
	thread = maker_thread(maker_add(&maker, 100));
}

static void map(uint64_t stamp, uint64_t address, uint64_t bytes, int protection, int flags)
{
	MAKE(thread, MAP, 0, .stamp = stamp, .address = address, .bytes = bytes,
	     .protection = (uint64_t)protection, .flags = (uint64_t)flags);
}

static void unmap(uint64_t stamp, uint64_t address, uint64_t bytes)
{
	MAKE(thread, UNMAP, 0, .stamp = stamp, .address = address, .bytes = bytes);
}

static void end_run(void)
{
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	ck_assert(!rvp_failed(rvp_analyse(run, &(struct rvp_question){0}, &answer)));
}

static void drop_run(void)
{
	rvp_analysis_free(&answer);
	rvp_run_close(run);
	maker_remove(&maker);
}

enum { RW = PROT_READ | PROT_WRITE, ANON = MAP_PRIVATE | MAP_ANONYMOUS };

START_TEST(a_mapping_is_tracked_beside_blocks_and_not_in_their_totals)
{
	begin_run();
	MAKE(thread, ALLOC, 0, .stamp = 1000, .address = 0x100, .bytes = 10);
	map(2000, 0x10000, 8192, RW, ANON);
	map(3000, 0x20000, 4096, PROT_NONE, ANON);
	map(4000, 0x30000, 4096, RW, ANON | MAP_NORESERVE);
	end_run();
	ck_assert_uint_eq(answer.tracked_peak_bytes, 8202);
	ck_assert_uint_eq(answer.tracked_end_bytes, 8202);
	ck_assert_uint_eq(answer.totals.peak_live_bytes, 10);
	ck_assert_uint_eq(answer.totals.end_live_bytes, 10);
	ck_assert_uint_eq(answer.max_by_category[RVP_CATEGORY_UNKNOWN].bytes, 8202);
	drop_run();
}
END_TEST

/* Five pages, the middle one unmapped, then all: two pieces stay, nothing is given back twice. */
START_TEST(what_is_left_of_a_mapping_stays)
{
	begin_run();
	map(1000, 0x10000, 5 * 4096, RW, ANON);
	unmap(2000, 0x12000, 4096);
	map(3000, 0x40000, 4096, RW, ANON);
	unmap(4000, 0x10000, 4096);
	end_run();
	ck_assert_uint_eq(answer.tracked_peak_bytes, 5 * 4096);
	ck_assert_uint_eq(answer.tracked_end_bytes, 4 * 4096);
	ck_assert_uint_eq(answer.tracked_end_count, 3);
	drop_run();
}
END_TEST

START_TEST(a_mapping_over_another_and_one_that_grows)
{
	begin_run();
	map(1000, 0x10000, 4 * 4096, RW, ANON);
	map(2000, 0x11000, 4096, PROT_NONE, ANON);
	MAKE(thread, REMAP, 0, .stamp = 3000, .old_address = 0x12000, .old_bytes = 8192, .address = 0x90000,
	     .bytes = 65536);
	end_run();
	ck_assert_uint_eq(answer.tracked_end_bytes, 4096 + 65536);
	drop_run();
}
END_TEST

/* Lengths from a damaged log. */
START_TEST(a_range_that_cannot_be_is_no_mapping)
{
	begin_run();
	map(1000, UINT64_MAX - 100, 8192, RW, ANON);
	map(2000, 0x10000, UINT64_MAX, RW, ANON);
	unmap(3000, 0, UINT64_MAX);
	map(4000, 0x10000, 4096, RW, ANON);
	end_run();
	ck_assert_uint_eq(answer.tracked_end_bytes, 4096);
	drop_run();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("claims");
	TCase *cases = tcase_create("claims");

	tcase_add_test(cases, a_purpose_is_a_category_or_a_sub_kind_of_one);
	tcase_add_test(cases, beyond_the_bound_a_sub_kind_is_its_category);
	tcase_add_test(cases, words_of_a_block_and_of_its_site);
	tcase_add_test(cases, changes_come_in_order_of_time);
	tcase_add_test(cases, a_reason_has_one_number);
	tcase_add_test(cases, the_index_knows_who_holds_an_address);
	tcase_add_test(cases, a_mapping_is_tracked_beside_blocks_and_not_in_their_totals);
	tcase_add_test(cases, what_is_left_of_a_mapping_stays);
	tcase_add_test(cases, a_mapping_over_another_and_one_that_grows);
	tcase_add_test(cases, a_range_that_cannot_be_is_no_mapping);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
