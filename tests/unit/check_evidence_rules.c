/* SPDX-License-Identifier: MIT */
/* check_evidence_rules.c: rules at the births of blocks: one call path that is asked again and again, with
 * sizes on both sides of each limit, and who is overruled how often. Libraries are not there: patterns name
 * them alone. */
#include "tests/unit/attributed.h"
#include "tests/unit/run_suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { POOL = 1, OTHER = 2 };

static struct maker maker;
static struct maker_thread *thread;
static struct attributed it;
static uint64_t stamp;

static void module(uint64_t number, const char *path)
{
	uint64_t start = number << 16;

	MAKE(thread, MODULE_LOAD, 64, .stamp = 1500, .module = number, .bias = start, .start = start,
	     .end = start + 4096, .path = {path, strlen(path)});
	MAKE(thread, NODE, 0, .node = number, .parent = 0, .pc = start + 16);
}

static void open_log(void)
{
	maker = maker_open();
	thread = &maker_add(&maker, 100)->threads[0];
	module(POOL, "/x/libpool.so.1");
	module(OTHER, "/x/libother.so.1");
	stamp = 2000;
}

static uint64_t alloc(uint64_t stack, uint64_t bytes)
{
	stamp += 10;
	MAKE(thread, ALLOC, 0, .stamp = stamp, .address = stamp * 4096, .bytes = bytes, .stack = stack);
	return stamp * 4096;
}

static void attribute(const char *rules)
{
	char path[128];
	const char *files[] = {path, NULL};
	FILE *file;

	snprintf(path, sizeof path, "%s.rules", maker.folder);
	file = fopen(path, "w");
	ck_assert(file && fputs(rules, file) >= 0 && fclose(file) == 0);
	attributed_open(&it, &maker,
			&(struct rvp_attribution_settings){.rule_files = files, .without_rules = true}, NULL,
			0);
	unlink(path);
}

static void close_log(void)
{
	attributed_close(&it, &maker);
}

static uint64_t allocated(const char *purpose)
{
	const struct rvp_purposes *purposes = rvp_attribution_purposes(it.attribution);
	uint64_t bytes = 0;

	for (size_t i = 0; i < it.answer.site_count; i++)
		if (strcmp(rvp_purpose_name(purposes, it.answer.sites[i].purpose), purpose) == 0)
			bytes += it.answer.sites[i].allocated.bytes;
	return bytes;
}

/* An answer for one size is not taken for a size behind a limit, in whatever order they come. */
START_TEST(sizes_of_one_call_path)
{
	static const uint64_t sizes[] = {150,  100,  200,  201, 99,  51,   50,  1600,
					 1601, 2000, 2001, 99,  150, 1499, 1500};

	open_log();
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		alloc(POOL, sizes[i]);
	attribute("comm: by \"@libpool*\" bytes 1000..2000 not bytes 1500..1600 because \"1\"\n"
		  "weights: by \"@libpool*\" bytes 100..200 because \"2\"\n"
		  "temp: by \"@libpool*\" bytes 201.. generic because \"3\"\n"
		  "input: by \"@libpool*\" bytes ..50 because \"4\"\n");
	ck_assert_uint_eq(allocated("weights"), 150 + 100 + 200 + 150);
	ck_assert_uint_eq(allocated("temp"), 201 + 1600 + 2001 + 1500);
	ck_assert_uint_eq(allocated("comm"), 1601 + 2000 + 1499);
	ck_assert_uint_eq(allocated("input"), 50);
	ck_assert_uint_eq(allocated("unknown"), 99 + 51 + 99);
	close_log();
}
END_TEST

/* What depends on more than the size is asked each time, and only of the path that has the rule. */
START_TEST(other_conditions)
{
	open_log();
	alloc(POOL, 10);
	alloc(OTHER, 20);
	attribute("code: by \"@libother*\" loaded \"libpool*\" because \"1\"\n"
		  "comm: by \"@libpool*\" loaded \"libnone*\" because \"2\"\n"
		  "graph: by \"@libpool*\" not thread \"worker*\" bytes 10 because \"3\"\n");
	ck_assert_uint_eq(allocated("code"), 20);
	ck_assert_uint_eq(allocated("comm"), 0);
	ck_assert_uint_eq(allocated("graph"), 10);
	close_log();
}
END_TEST

/* It counts for the whole run, and for the process that did it. */
START_TEST(a_file_that_is_mapped_later)
{
	static const char path[] = "/m/model.gguf";

	open_log();
	alloc(POOL, 30);
	MAKE(thread, FILE, 64, .device = 7, .inode = 9, .bytes = 4096, .path = {path, strlen(path)});
	if (_i) {
		stamp += 10;
		MAKE(thread, MAP, 0, .stamp = stamp, .address = 0x7f0000000000, .bytes = 4096,
		     .protection = PROT_READ, .flags = MAP_PRIVATE, .device = 7, .inode = 9);
	}
	attribute("weights/copy: by \"@libpool*\" maps \"*.gguf\" because \"1\"\n"
		  "weights: by \"@libpool*\" because \"2\"\n");
	ck_assert_uint_eq(allocated("weights/copy"), _i ? 30 : 0);
	ck_assert_uint_eq(allocated("weights"), _i ? 0 : 30);
	close_log();
}
END_TEST

/* A hundred kinds of it, three blocks each. */
START_TEST(disagreements_are_counted_by_kind)
{
	enum { KINDS = 100 };
	const struct rvp_disagreement *list;
	size_t count;

	open_log();
	for (int i = 0; i < 3 * KINDS; i++) {
		uint64_t address = alloc(POOL, 64);
		char what[32];

		snprintf(what, sizeof what, "kv_cache/k%d", i % KINDS);
		stamp += 10;
		MAKE(thread, TAG, 200, .stamp = stamp, .address = address, .bytes = 64,
		     .source = RVP_SOURCE_API, .category = {what, strlen(what)});
	}
	attribute("temp: by \"@libpool*\" because \"1\"\n");
	for (int pass = 0; pass < 2; pass++) {
		list = rvp_attribution_disagreements(it.attribution, &count);
		ck_assert_uint_eq(count, KINDS);
		for (size_t i = 0; i < count; i++) {
			ck_assert_uint_eq(list[i].count, 3);
			ck_assert_uint_eq(list[i].bytes, 3 * 64);
			ck_assert_int_eq(list[i].overruled.purpose, RVP_CATEGORY_TEMP);
		}
		rvp_analysis_free(&it.answer); /* a second answer counts anew */
		ck_assert(!rvp_failed(
		    rvp_analyse(it.run, &(struct rvp_question){.attribution = it.attribution}, &it.answer)));
	}
	close_log();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evidence_rules");
	TCase *all = tcase_create("all");

	tcase_add_test(all, sizes_of_one_call_path);
	tcase_add_test(all, other_conditions);
	tcase_add_loop_test(all, a_file_that_is_mapped_later, 0, 2);
	tcase_add_test(all, disagreements_are_counted_by_kind);
	suite_add_tcase(suite, all);
	return run_suite(suite);
}
