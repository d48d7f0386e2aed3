/* SPDX-License-Identifier: MIT */
/* The tree of call paths: one number a path, told before it is used, whatever threads do. */
#include "preload/path_memo.h"
#include "tests/unit/recorder_double.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, PATHS = 100000, DEPTH = 6 };

struct told {
	_Atomic uint64_t frame;
	_Atomic uint32_t parent, times;
};
static struct told *told; /* by number, as emitted */
static _Atomic uint32_t emitted, refused;
static bool refuses;

static bool emit(struct rvp_thread *thread, uint32_t number, uint32_t parent, uint64_t frame, void *context)
{
	(void)thread;
	(void)context;
	if (refuses) {
		refused++;
		return false;
	}
	told[number].frame = frame;
	told[number].parent = parent;
	told[number].times++;
	emitted++;
	return true;
}

static struct rvp_path_tree tree = {.emit = emit};

static void start(void)
{
	if (!told)
		told = calloc(RVP_NODES_MAX + 1u, sizeof *told);
	memset(told, 0, (RVP_NODES_MAX + 1u) * sizeof *told);
	rvp_path_tree_reset(&tree);
	emitted = refused = 0;
	refuses = false;
}

static uint32_t node(uint32_t parent, uint64_t frame)
{
	return rvp_path_tree_node(&tree, NULL, parent, frame, 0, NULL);
}

START_TEST(a_path_has_one_number)
{
	uint32_t first = node(0, 100), second = node(first, 200);

	ck_assert_uint_eq(first, 1);
	ck_assert_uint_eq(second, 2);
	ck_assert_uint_eq(node(0, 100), first);
	ck_assert_uint_eq(node(first, 200), second);
	ck_assert_uint_ne(node(0, 200), second);
	ck_assert_uint_ne(node(second, 200), second);
	ck_assert_uint_eq(emitted, 4);
}
END_TEST

START_TEST(another_era_is_another_path)
{
	uint32_t old = node(0, 100), now = rvp_path_tree_node(&tree, NULL, 0, 100, 1, NULL);

	ck_assert_uint_ne(old, now);
	ck_assert_uint_eq(node(0, 100), old);
}
END_TEST

START_TEST(what_was_not_told_is_not_there)
{
	refuses = true;
	ck_assert_uint_eq(node(0, 100), 0);
	ck_assert_uint_eq(refused, 1);
	refuses = false;
	ck_assert_uint_ne(node(0, 100), 0);
	ck_assert_uint_eq(emitted, 1);
}
END_TEST

static uint32_t numbers[THREADS][PATHS];

static uint64_t frame_of(uint32_t path, int depth)
{
	return 0x1000 + (path >> (3 * depth)) % 4096 * 16 + (uint64_t)depth;
}

static void *make_paths(void *argument)
{
	uint32_t *mine = argument;

	for (uint32_t i = 0; i < PATHS; i++) {
		uint32_t number = 0;

		for (int depth = DEPTH; depth--;) {
			uint32_t parent = number;

			number = node(parent, frame_of(i, depth));
			if (!number || told[number].times != 1 || told[number].parent != parent ||
			    told[number].frame != frame_of(i, depth))
				return "a number that was not told, or of another path";
		}
		mine[i] = number;
	}
	return NULL;
}

START_TEST(threads_agree)
{
	pthread_t threads[THREADS];
	void *complaint;
	unsigned differing = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, make_paths, numbers[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &complaint);
		ck_assert_msg(!complaint, "%s", (char *)complaint);
	}
	for (int i = 1; i < THREADS; i++)
		for (int k = 0; k < PATHS; k++)
			differing += numbers[i][k] != numbers[0][k];
	/* Two numbers for a path are possible while the table grows, and rare. */
	ck_assert_uint_lt(differing, THREADS * PATHS / 1000);
	make_paths(numbers[1]);
	ck_assert_uint_gt(emitted, PATHS);
}
END_TEST

START_TEST(a_full_tree_keeps_what_it_has)
{
	uint32_t number = 1, i;

	for (i = 0; number; i++)
		number = node(0, 16 * (uint64_t)i + 16);
	ck_assert_uint_gt(i, RVP_NODES_MAX - 10);
	ck_assert_uint_le(emitted, RVP_NODES_MAX);
	ck_assert_uint_eq(node(0, 16), 1);
	ck_assert_uint_eq(node(0, 16 * 70000), 70000);
	ck_assert_uint_eq(node(7, 3), 0);
	rvp_path_tree_reset(&tree);
	memset(told, 0, sizeof *told * 16);
	ck_assert_uint_eq(node(7, 3), 1);
}
END_TEST

static uint32_t walk(struct rvp_path_memo *memo, uint64_t epoch, const char *path)
{
	static struct rvp_thread thread;
	uint32_t count = (uint32_t)strlen(path);

	for (uint32_t i = 0; i < count; i++)
		thread.frames[count - 1 - i] = (uint64_t)path[i] * 16;
	return rvp_path_memo_node(memo, &tree, &thread, count, epoch);
}

START_TEST(a_thread_remembers_its_last_path)
{
	static struct rvp_path_memo memo;
	static struct rvp_path_memo fresh;

	for (int i = 0; i < 2; i++) {
		static const char *const paths[] = {"abc", "abcdef", "abx", "a", "", "zbc", "abcdef", "abc"};

		for (int k = 0; k < 8; k++) {
			memset(&fresh, 0, sizeof fresh);
			ck_assert_uint_eq(walk(&memo, 0, paths[k]), walk(&fresh, 0, paths[k]));
		}
	}
	ck_assert_uint_eq(emitted, 10);
	ck_assert_uint_ne(walk(&memo, 1, "abc"), walk(&memo, 0, "abc"));
}
END_TEST

START_TEST(an_epoch_of_the_same_era_forgets_the_memo)
{
	static struct rvp_path_memo memo;
	uint32_t before = walk(&memo, (uint64_t)1 << 32, "abc");

	rvp_path_tree_reset(&tree);
	node(0, 9);
	ck_assert_uint_eq(walk(&memo, (uint64_t)2 << 32, "abc"), before + 1);
}
END_TEST

START_TEST(the_deepest_known_node_stands_for_the_path)
{
	static struct rvp_path_memo memo;
	uint32_t known = walk(&memo, 0, "ab");
	uint64_t lost = double_lost[RVP_LOSS_STACK_TABLE];

	refuses = true;
	ck_assert_uint_eq(walk(&memo, 0, "abcd"), known);
	ck_assert_uint_eq(double_lost[RVP_LOSS_STACK_TABLE], lost + 1);
	refuses = false;
	ck_assert_uint_ne(walk(&memo, 0, "abcd"), known);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("path_tree");
	TCase *cases = tcase_create("tree");

	tcase_add_checked_fixture(cases, start, NULL);
	tcase_add_test(cases, a_path_has_one_number);
	tcase_add_test(cases, another_era_is_another_path);
	tcase_add_test(cases, what_was_not_told_is_not_there);
	tcase_add_test(cases, threads_agree);
	tcase_add_test(cases, a_full_tree_keeps_what_it_has);
	tcase_add_test(cases, a_thread_remembers_its_last_path);
	tcase_add_test(cases, an_epoch_of_the_same_era_forgets_the_memo);
	tcase_add_test(cases, the_deepest_known_node_stands_for_the_path);
	tcase_set_timeout(cases, 60);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
