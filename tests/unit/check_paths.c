/* SPDX-License-Identifier: MIT */
/* One site for each call path, however many numbers the library gave it. */
#include "report/analysis.h"
#include "report/grow.h"
#include "report/path_spans.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include "record/fold.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct maker maker;
static struct maker_process *process;
static struct maker_thread *one, *two;
static struct rvp_run *run;
static struct rvp_analysis analysis;
static uint64_t next_stamp;

static void start(void)
{
	maker = maker_open();
	process = maker_add(&maker, 100);
	one = &process->threads[0];
	two = maker_thread(process);
	next_stamp = 2000;
}

static void load(uint64_t number, uint64_t stamp, const char *path)
{
	MAKE(one, MODULE_LOAD, 32, .stamp = stamp, .module = number, .start = 0x400000, .end = 0x500000,
	     .path = {path, strlen(path)});
}

static void node(struct maker_thread *thread, uint64_t number, uint64_t parent, uint64_t pc)
{
	MAKE(thread, NODE, 0, .node = number, .parent = parent, .pc = pc);
}

static void alloc(struct maker_thread *thread, uint64_t stack, uint64_t python)
{
	next_stamp += 1000;
	MAKE(thread, ALLOC, 0, .stamp = next_stamp, .address = next_stamp * 16, .bytes = 10, .stack = stack,
	     .python = python);
}

static void analyse(void)
{
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	ck_assert(!rvp_failed(rvp_analyse(run, &(struct rvp_question){0}, &analysis)));
}

static void finish(void)
{
	rvp_analysis_free(&analysis);
	rvp_run_close(run);
	maker_remove(&maker);
}

/* The frames of a site, outermost last, as text. */
static const char *text_of(const struct rvp_site *site)
{
	static char text[256];
	const struct rvp_node *at = rvp_node_at(&run->processes[0], site->stack);

	text[0] = 0;
	for (; at; at = rvp_node_at(&run->processes[0], at->parent))
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%lx", text[0] ? " " : "",
			 (unsigned long)at->pc);
	return text;
}

/* The middle of the path was forgotten once, the whole path once more; the other thread's numbers come first.
 */
START_TEST(three_numbers_are_one_site)
{
	node(two, 5, 4, 0x400030);
	node(two, 4, 1, 0x400020);
	node(one, 1, 0, 0x400010);
	node(one, 2, 1, 0x400020);
	node(one, 3, 2, 0x400030);
	node(two, 6, 0, 0x400010);
	node(two, 7, 6, 0x400020);
	node(two, 8, 7, 0x400030);
	node(two, 9, 7, 0x400031);
	alloc(one, 3, 0);
	alloc(two, 5, 0);
	alloc(one, 8, 0);
	alloc(one, 9, 0);
	analyse();
	ck_assert_uint_eq(analysis.site_count, 2);
	ck_assert_uint_eq(analysis.sites[0].allocated.count, 3);
	ck_assert_str_eq(text_of(&analysis.sites[0]), "400030 400020 400010");
	ck_assert_str_eq(text_of(&analysis.sites[1]), "400031 400020 400010");
	ck_assert_uint_eq(run->processes[0].node_count, 5);
	finish();
}
END_TEST

START_TEST(python_paths_and_codes_too)
{
	for (uint64_t code = 1; code <= 3; code++)
		MAKE(one, CODE, 64, .code = code, .first_line = 3, .version = 0x30b, .name = {"f", 1},
		     .file = {code == 3 ? "b.py" : "a.py", 4}, .lines = {"\x80\x01", 2});
	MAKE(one, PYTHON_NODE, 0, .node = 1, .code = 1, .instruction = 4, .is_entry = 1);
	MAKE(one, PYTHON_NODE, 0, .node = 2, .code = 2, .instruction = 4, .is_entry = 1);
	MAKE(one, PYTHON_NODE, 0, .node = 3, .code = 3, .instruction = 4, .is_entry = 1);
	MAKE(one, PYTHON_NODE, 0, .node = 4, .code = 2, .instruction = 4, .is_entry = 0);
	for (uint64_t python = 1; python <= 4; python++)
		alloc(one, 0, python);
	analyse();
	ck_assert_uint_eq(analysis.site_count, 3);
	ck_assert_uint_eq(analysis.sites[0].allocated.count, 2);
	ck_assert_str_eq(rvp_code_at(&run->processes[0], 3)->file, "b.py");
	finish();
}
END_TEST

/* A library unloaded, and another one at its addresses. */
START_TEST(other_code_at_the_same_address_is_another_path)
{
	load(1, 1500, "/lib/x");
	load(2, 4500, "/lib/y");
	for (uint64_t number = 1; number <= 4; number++) {
		node(one, number, 0, number % 2 ? 0x400010 : 0x700010);
		alloc(one, number, 0);
	}
	analyse();
	ck_assert_uint_eq(analysis.site_count, 3);
	finish();
}
END_TEST

START_TEST(the_same_file_loaded_again_is_the_same_path)
{
	load(1, 1500, "/lib/x");
	load(2, 4500, "/lib/x");
	node(one, 1, 0, 0x400010);
	node(one, 2, 0, 0x400010);
	alloc(one, 1, 0);
	alloc(one, 2, 0);
	analyse();
	ck_assert_uint_eq(analysis.site_count, 1);
	finish();
}
END_TEST

START_TEST(sums_beyond_the_log_are_of_paths)
{
	static struct rvp_fold_table table;
	char path[256];
	int fd;

	node(one, 1, 0, 0x400010);
	node(one, 2, 0, 0x400010);
	alloc(one, 1, 0);
	snprintf(path, sizeof path, "%s/" RVP_FOLD_FILE, process->folder);
	maker_close(&maker);
	memset(&table, 0, sizeof table);
	rvp_file_header_seal(&table.file, RVP_FOLD_MAGIC);
	table.entry[0] = (struct rvp_fold){.alloc_count = 7, .alloc_bytes = 70};
	table.entry[5] = (struct rvp_fold){.key = rvp_fold_key(1, 0), .alloc_count = 2, .alloc_bytes = 20};
	table.entry[6] = (struct rvp_fold){.key = rvp_fold_key(2, 0), .alloc_count = 3, .alloc_bytes = 30};
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	ck_assert(fd >= 0 && write(fd, &table, sizeof table) == sizeof table);
	close(fd);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
	ck_assert(!rvp_failed(rvp_analyse(run, &(struct rvp_question){0}, &analysis)));
	ck_assert_uint_eq(analysis.site_count, 2);
	ck_assert_uint_eq(analysis.sites[0].allocated.count, 6);
	ck_assert_uint_eq(analysis.sites[1].allocated.count, 7);
	finish();
}
END_TEST

START_TEST(parents_that_cannot_be_are_cut)
{
	node(one, 1, 2, 0x400010);
	node(one, 2, 1, 0x400020);
	node(one, 3, 3, 0x400030);
	node(one, 4, 77, 0x400040);
	for (uint64_t number = 1; number <= 5; number++)
		alloc(one, number, 0);
	analyse();
	ck_assert_uint_eq(analysis.site_count, 5);
	ck_assert_str_eq(text_of(&analysis.sites[0]), "400010");
	ck_assert_str_eq(text_of(&analysis.sites[1]), "400020 400010");
	ck_assert_str_eq(text_of(&analysis.sites[2]), "400030");
	ck_assert_str_eq(text_of(&analysis.sites[3]), "400040");
	ck_assert_str_eq(text_of(&analysis.sites[4]), "");
	finish();
}
END_TEST

static bool is_above(const struct rvp_process *of, uint32_t path, uint32_t scope)
{
	while (path && path != scope)
		path = rvp_node_at(of, path) ? rvp_node_at(of, path)->parent : 0;
	return path == scope;
}

START_TEST(spans_say_what_walks_say)
{
	enum { NODES = 300 };
	struct rvp_path_spans spans;
	unsigned wrong = 0;

	for (uint64_t number = 1; number < NODES; number++)
		node(one, number, number < 4 ? 0 : (number * 2654435761u >> 7) % number, 0x400000 + number * 16);
	alloc(one, NODES - 1, 0);
	analyse();
	ck_assert_uint_eq(run->processes[0].node_count, NODES);
	ck_assert(rvp_path_spans_make(&spans, &run->processes[0]));
	for (uint32_t path = 0; path < NODES + 2; path++)
		for (uint32_t scope = 1; scope < NODES + 2; scope++)
			wrong += rvp_is_under(&spans, path, scope) != is_above(&run->processes[0], path, scope);
	ck_assert_uint_eq(wrong, 0);
	rvp_path_spans_free(&spans);
	finish();
}
END_TEST

START_TEST(what_grows_keeps_what_it_has)
{
	enum { MOST = 1 << 20 };
	uint64_t *items = NULL, wrong = 0;
	size_t room = 0;

	for (uint64_t i = 0; i < MOST; i++) {
		if (i == room)
			ck_assert(rvp_line_grow((void **)&items, &room, i + 1, sizeof *items));
		items[i] = i * 3;
	}
	ck_assert_uint_ge(room, MOST);
	ck_assert_uint_eq((uintptr_t)items % RVP_LINE_BYTES, 0);
	for (uint64_t i = 0; i < MOST; i++)
		wrong += items[i] != i * 3;
	ck_assert_uint_eq(wrong, 0);
	rvp_line_free(items, room, sizeof *items);
	maker_close(&maker);
	maker_remove(&maker);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("paths");
	TCase *cases = tcase_create("paths");

	tcase_add_checked_fixture(cases, start, NULL);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, three_numbers_are_one_site);
	tcase_add_test(cases, python_paths_and_codes_too);
	tcase_add_test(cases, other_code_at_the_same_address_is_another_path);
	tcase_add_test(cases, the_same_file_loaded_again_is_the_same_path);
	tcase_add_test(cases, sums_beyond_the_log_are_of_paths);
	tcase_add_test(cases, parents_that_cannot_be_are_cut);
	tcase_add_test(cases, spans_say_what_walks_say);
	tcase_add_test(cases, what_grows_keeps_what_it_has);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
