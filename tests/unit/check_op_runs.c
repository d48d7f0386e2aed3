/* SPDX-License-Identifier: MIT */
/* check_op_runs.c: times, self times and workspace of operators by arithmetic, their tree, and begins and ends that nest in
 * each tid whatever crosses: two threads, two speakers on one. */
#include "report/export_be.h"
#include "report/op_runs.h"
#include "report/run.h"
#include "report/run_tables.h"
#include "tests/unit/run_maker.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(words)                     \
	{                               \
		words, sizeof words - 1 \
	}

enum { RUNS_MAX = 16 };

static struct maker maker;
static struct maker_thread *one, *two;
static struct rvp_run *run;

struct seen {
	struct rvp_op_sink sink;
	struct rvp_op_run runs[RUNS_MAX];
	char names[RUNS_MAX][8];
	size_t count;
};

static void see(struct rvp_op_sink *sink, const struct rvp_op_run *op)
{
	struct seen *seen = (struct seen *)sink;

	ck_assert_uint_lt(seen->count, RUNS_MAX);
	seen->runs[seen->count] = *op;
	snprintf(seen->names[seen->count++], 8, "%.*s", (int)op->scope->name.length, op->scope->name.bytes);
}

static void open_run(void)
{
	struct maker_process *process;

	maker = maker_open();
	process = maker_add(&maker, 100);
	one = &process->threads[0];
	two = maker_thread(process);
}

static void close_run(void)
{
	rvp_run_close(run);
	maker_remove(&maker);
}

static void read_run(void)
{
	maker_close(&maker);
	ck_assert(!rvp_failed(rvp_run_open(&run, maker.folder)));
}

static void expect(const struct seen *seen, size_t at, const char *name, uint64_t ns, uint64_t self_ns, uint64_t workspace,
		   uint64_t live)
{
	ck_assert_uint_lt(at, seen->count);
	ck_assert_str_eq(seen->names[at], name);
	ck_assert_uint_eq(seen->runs[at].ns, ns);
	ck_assert_uint_eq(seen->runs[at].self_ns, self_ns);
	ck_assert_uint_eq(seen->runs[at].workspace_bytes, workspace);
	ck_assert_uint_eq(seen->runs[at].live_bytes, live);
}

START_TEST(times_and_workspace)
{
	struct seen seen = {.sink.see = see};
	struct rvp_op_sink *sinks[] = {&seen.sink, NULL};
	struct rvp_op_trees trees = {0};
	const struct rvp_scope_node *nodes;

	open_run();
	MAKE(one, SCOPE, 99, .stamp = 2000, .kind = RVP_SCOPE_OPERATOR_BEGIN, .name = TEXT("A"));
	MAKE(one, ALLOC, 0, .stamp = 2100, .address = 0x1000, .bytes = 1000);
	MAKE(two, SCOPE, 99, .stamp = 2500, .kind = RVP_SCOPE_OPERATOR_BEGIN, .name = TEXT("T"));
	MAKE(one, SCOPE, 99, .stamp = 3000, .kind = RVP_SCOPE_OPERATOR_BEGIN, .name = TEXT("B"));
	MAKE(one, ALLOC, 0, .stamp = 3100, .address = 0x2000, .bytes = 500);
	MAKE(one, SCOPE, 99, .stamp = 4000, .kind = RVP_SCOPE_OPERATOR_END);
	MAKE(two, FREE, 0, .stamp = 4100, .address = 0x1000); /* by another thread */
	MAKE(one, ALLOC, 0, .stamp = 4200, .address = 0x3000, .bytes = 300);
	MAKE(one, SCOPE, 99, .stamp = 5000, .kind = RVP_SCOPE_OPERATOR_END);
	MAKE(one, SCOPE, 99, .stamp = 6000, .kind = RVP_SCOPE_OPERATOR_BEGIN, .name = TEXT("A"));
	MAKE(one, FREE, 0, .stamp = 6100, .address = 0x2000); /* of an operator that is over */
	MAKE(one, ALLOC, 0, .stamp = 6200, .address = 0x2000, .bytes = 200);
	MAKE(one, SCOPE, 99, .stamp = 7000, .kind = RVP_SCOPE_OPERATOR_END);
	MAKE(one, SCOPE, 99, .stamp = 8000, .name = TEXT("S"));
	MAKE(one, SCOPE, 99, .stamp = 8200, .kind = RVP_SCOPE_OPERATOR_BEGIN, .source = RVP_SOURCE_PYTHON, .name = TEXT("P"));
	MAKE(one, SCOPE, 99, .stamp = 8500, .kind = RVP_SCOPE_END); /* crosses P */
	MAKE(one, ALLOC, 0, .stamp = 8600, .address = 0x4000, .bytes = 50);
	MAKE(one, SCOPE, 99, .stamp = 9000, .kind = RVP_SCOPE_OPERATOR_END, .source = RVP_SOURCE_PYTHON);
	read_run();
	ck_assert(!rvp_failed(rvp_op_runs_read(run, sinks, &trees)));
	expect(&seen, 0, "B", 1000, 1000, 500, 1500);
	expect(&seen, 1, "A", 3000, 2000, 1500, 800);
	expect(&seen, 2, "A", 1000, 1000, 200, 500);
	expect(&seen, 3, "S", 500, 500, 0, 500);
	expect(&seen, 4, "P", 800, 800, 50, 550);
	ck_assert_uint_eq(seen.count, 6);
	ck_assert_str_eq(seen.names[5], "T");
	ck_assert(seen.runs[5].is_open && !seen.runs[4].is_open);

	ck_assert_uint_eq(trees.count, 2);
	nodes = trees.threads[0].tree.nodes;
	ck_assert_uint_eq(trees.threads[0].tree.count, 5);
	ck_assert(nodes[1].ns == 4000 && nodes[1].count == 2 && nodes[2].ns == 1000 && nodes[2].parent == 1);
	ck_assert(nodes[4].ns == 800 && nodes[4].parent == 3 && nodes[3].ns == 500);
	ck_assert_uint_eq(trees.threads[1].tree.nodes[1].count, 0); /* T, which nobody ended */
	rvp_op_trees_free(&trees);
	close_run();
}
END_TEST

/* What was freed inside, while its operator is open and when it is over, makes room in the operators outside of it. */
START_TEST(room_is_used_again)
{
	struct seen seen = {.sink.see = see};
	struct rvp_op_sink *sinks[] = {&seen.sink, NULL};

	open_run();
	MAKE(one, SCOPE, 99, .stamp = 2000, .kind = RVP_SCOPE_OPERATOR_BEGIN, .name = TEXT("out"));
	MAKE(one, SCOPE, 99, .stamp = 2100, .kind = RVP_SCOPE_OPERATOR_BEGIN, .name = TEXT("in"));
	MAKE(one, ALLOC, 0, .stamp = 2200, .address = 0x1000, .bytes = 400);
	MAKE(one, FREE, 0, .stamp = 2300, .address = 0x1000);
	MAKE(one, ALLOC, 0, .stamp = 2400, .address = 0x2000, .bytes = 300);
	MAKE(one, SCOPE, 99, .stamp = 2500, .kind = RVP_SCOPE_OPERATOR_END);
	MAKE(one, FREE, 0, .stamp = 2600, .address = 0x2000); /* its operator is over */
	MAKE(one, ALLOC, 0, .stamp = 2700, .address = 0x2000, .bytes = 350);
	MAKE(one, SCOPE, 99, .stamp = 2800, .kind = RVP_SCOPE_OPERATOR_END);
	read_run();
	ck_assert(!rvp_failed(rvp_op_runs_read(run, sinks, NULL)));
	expect(&seen, 0, "in", 400, 400, 400, 300);
	expect(&seen, 1, "out", 800, 400, 400, 350);
	close_run();
}
END_TEST

START_TEST(samples_make_estimates)
{
	struct seen seen = {.sink.see = see};
	struct rvp_op_sink *sinks[] = {&seen.sink, NULL};

	maker = maker_open();
	one = &maker_add_with(&maker, 100, (struct rvp_record_PROCESS){.mode = RVP_MODE_SAMPLED, .sample_bytes = 1 << 19})->threads[0];
	MAKE(one, SCOPE, 99, .stamp = 2000, .kind = RVP_SCOPE_OPERATOR_BEGIN, .name = TEXT("est"));
	MAKE(one, SAMPLE, 0, .stamp = 2200, .address = 0x1000, .bytes = 1000);
	MAKE(one, SCOPE, 99, .stamp = 2500, .kind = RVP_SCOPE_OPERATOR_END);
	read_run();
	ck_assert(!rvp_failed(rvp_op_runs_read(run, sinks, NULL)));
	ck_assert(seen.count == 1 && seen.runs[0].is_estimate);
	/* 1000 / (1 - exp(-1000 / 2^19)) */
	ck_assert_uint_ge(seen.runs[0].workspace_bytes, 524787);
	ck_assert_uint_le(seen.runs[0].workspace_bytes, 524789);
	close_run();
}
END_TEST

/* The value of a key on this line of the text; false: another line. */
static bool value_of(const char *line, const char *key, char value[64])
{
	char head[32];
	size_t length = (size_t)snprintf(head, sizeof head, "        \"%s\": ", key);

	if (strncmp(line, head, length) != 0)
		return false;
	snprintf(value, 64, "%s", line + length);
	value[strcspn(value, ",\n")] = '\0';
	return true;
}

enum { TIDS_MAX = 16, DEPTH_MAX = 16 };

struct lane {
	char tid[64], open[DEPTH_MAX][64];
	unsigned depth;
};

static void follow(struct lane *lanes, unsigned *count, const char *tid, const char *name, bool is_begin)
{
	unsigned at = 0;

	while (at < *count && strcmp(lanes[at].tid, tid) != 0)
		at++;
	ck_assert_uint_lt(at, TIDS_MAX);
	if (at == *count)
		strcpy(lanes[(*count)++].tid, tid);
	if (is_begin) {
		strcpy(lanes[at].open[lanes[at].depth++], name);
		return;
	}
	ck_assert_uint_gt(lanes[at].depth, 0);
	ck_assert_str_eq(lanes[at].open[--lanes[at].depth], name);
}

/* How many tids; each nests. */
static unsigned check_nesting(FILE *file)
{
	struct lane lanes[TIDS_MAX] = {0};
	unsigned count = 0;
	char line[256], name[64] = "", ph[64] = "", tid[64];

	rewind(file);
	while (fgets(line, sizeof line, file)) {
		value_of(line, "name", name);
		value_of(line, "ph", ph);
		if (value_of(line, "tid", tid))
			follow(lanes, &count, tid, name, ph[1] == 'B');
	}
	for (unsigned i = 0; i < count; i++)
		ck_assert_uint_eq(lanes[i].depth, 0);
	return count;
}

START_TEST(begins_and_ends_nest)
{
	FILE *file = tmpfile();

	open_run();
	MAKE(one, SCOPE, 99, .stamp = 2000, .kind = RVP_SCOPE_OPERATOR_BEGIN, .category = TEXT("c"), .name = TEXT("x"));
	MAKE(two, SCOPE, 99, .stamp = 2100, .kind = RVP_SCOPE_OPERATOR_BEGIN, .category = TEXT("c"), .name = TEXT("z"));
	MAKE(one, SCOPE, 99, .stamp = 2200, .kind = RVP_SCOPE_OPERATOR_BEGIN, .source = RVP_SOURCE_PYTHON, .category = TEXT("c"),
	     .name = TEXT("y"));
	MAKE(one, SCOPE, 99, .stamp = 2300, .category = TEXT("c"), .name = TEXT("scope"));
	MAKE(one, SCOPE, 99, .stamp = 2400, .kind = RVP_SCOPE_END);
	MAKE(one, SCOPE, 99, .stamp = 2500, .kind = RVP_SCOPE_OPERATOR_END); /* x, while y goes on */
	MAKE(two, SCOPE, 99, .stamp = 2600, .kind = RVP_SCOPE_OPERATOR_END);
	MAKE(one, SCOPE, 99, .stamp = 2700, .kind = RVP_SCOPE_OPERATOR_END, .source = RVP_SOURCE_PYTHON);
	MAKE(one, SCOPE, 99, .stamp = 2800, .kind = RVP_SCOPE_OPERATOR_END); /* of nothing */
	MAKE(two, SCOPE, 99, .stamp = 2900, .kind = RVP_SCOPE_OPERATOR_BEGIN, .category = TEXT("c"), .name = TEXT("open"));
	read_run();
	ck_assert(!rvp_failed(rvp_export_be(run, 1, file)));
	ck_assert_uint_eq(check_nesting(file), 3);
	ck_assert_int_eq(fseek(file, 0, SEEK_SET), 0);
	ck_assert(!rvp_failed(rvp_export_be(run, 2, file)));
	ck_assert_uint_eq(check_nesting(file), 3);
	fclose(file);
	close_run();
}
END_TEST

/* Steps of a timer that come mixed with another's; one slot that is left out of a step. */
START_TEST(timers_of_a_run)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof text, "w");

	open_run();
	for (unsigned step = 0; step < 2; step++)
		for (unsigned slot = 0; slot < 2; slot++) {
			static const uint64_t ns[2][2] = {{4000, 2000}, {2000, 6000}};

			MAKE(one, TIMER, 99, .stamp = 2000, .step = step, .slot = slot, .ticks = 1, .ns = ns[step][slot],
			     .count = 1, .name = TEXT("a"));
			if (slot || step)
				MAKE(two, TIMER, 99, .stamp = 2000, .step = step, .slot = slot, .ticks = 1, .ns = 1000, .count = 1,
				     .name = TEXT("b"));
		}
	read_run();
	ck_assert(!rvp_failed(rvp_run_table_print(run, RVP_TABLE_TIMERS, true, out)));
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "{\"name\": \"a\", \"slots\": [0, 1], \"last\": [2, 6], \"average\": [3, 4], "
					   "\"average_sorted\": [2, 5]}"));
	ck_assert_ptr_nonnull(strstr(text, "\"name\": \"b\", \"slots\": [0, 1], \"last\": [1, 1]"));
	ck_assert_ptr_nonnull(strstr(text, "\"steps\": 2"));
	close_run();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("op_runs");
	TCase *tcase = tcase_create("all");

	tcase_add_test(tcase, times_and_workspace);
	tcase_add_test(tcase, room_is_used_again);
	tcase_add_test(tcase, samples_make_estimates);
	tcase_add_test(tcase, begins_and_ends_nest);
	tcase_add_test(tcase, timers_of_a_run);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
