/* SPDX-License-Identifier: MIT */
/* The tree of call paths: a number told before it is used, that stands for one path, in bounded memory,
 * whatever threads do. */
#include "preload/own.h"
#include "preload/path_cache.h"
#include "preload/path_tree.h"
#include "tests/unit/recorder_double.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	THREADS = 4,
	PATHS = 100000,
	DEPTH = 6,
	SETS = 1 << 12,
	PLACES = SETS * RVP_PATH_NODES_A_SET,
	TOLD_MAX = 1 << 23,
};
/* Of the three tables together. */
static const uint64_t most_bytes = (uint64_t)RVP_PATH_SET_BYTES * (SETS + SETS / 8 + SETS / 64 + 3);

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

static struct rvp_path_tree tree = {.emit = emit, .last_sets = SETS};

static void start(void)
{
	if (!told)
		told = calloc(TOLD_MAX, sizeof *told);
	memset(told, 0, (tree.number_count + 1) * sizeof *told);
	rvp_path_tree_reset(&tree);
	emitted = refused = 0;
	refuses = false;
}

struct path {
	uint64_t hash;
	uint32_t number;
};
static const struct path outside;

static struct path below(struct path parent, uint64_t frame)
{
	uint64_t hash = rvp_path_below(parent.hash, frame);

	return (struct path){hash, rvp_path_tree_number(&tree, NULL, hash, parent.number, frame, NULL)};
}

static uint32_t outermost(uint64_t frame)
{
	return below(outside, frame).number;
}

START_TEST(a_path_has_one_number)
{
	struct path first = below(outside, 100), second = below(first, 200);

	ck_assert_uint_eq(first.number, 1);
	ck_assert_uint_eq(second.number, 2);
	ck_assert_uint_eq(outermost(100), first.number);
	ck_assert_uint_eq(below(first, 200).number, second.number);
	ck_assert_uint_ne(outermost(200), second.number);
	ck_assert_uint_ne(below(second, 200).number, second.number);
	ck_assert_uint_eq(emitted, 4);
}
END_TEST

START_TEST(another_era_is_another_path)
{
	uint32_t old = outermost(100), now = below((struct path){.hash = 1}, 100).number;

	ck_assert_uint_ne(old, now);
	ck_assert_uint_eq(outermost(100), old);
}
END_TEST

/* Its number is given to the next, so that numbers have few gaps. */
START_TEST(what_was_not_told_is_not_there)
{
	refuses = true;
	ck_assert_uint_eq(outermost(100), 0);
	ck_assert_uint_eq(refused, 1);
	refuses = false;
	ck_assert_uint_eq(outermost(100), 1);
	ck_assert_uint_eq(emitted, 1);
}
END_TEST

static uint64_t frame_of(uint32_t path, int depth)
{
	return 0x1000 + (path >> (3 * depth)) % 4096 * 16 + (uint64_t)depth;
}

/* Every number is told once, and of this very frame; its parent was once the number of the path above it. */
static bool is_true(struct path path, struct path parent, uint64_t frame)
{
	const struct told *node = &told[path.number], *above = &told[node->parent];

	return path.number && node->times == 1 && node->frame == frame && node->parent < path.number &&
	       (!parent.number) == (!node->parent) && above->frame == told[parent.number].frame;
}

static void *make_paths(void *argument)
{
	uint32_t first = *(uint32_t *)argument;

	for (uint32_t i = 0; i < PATHS; i++) {
		struct path path = outside;

		for (int depth = DEPTH; depth--;) {
			struct path parent = path;
			uint64_t frame = frame_of(first + i, depth);

			path = below(parent, frame);
			if (!is_true(path, parent, frame))
				return "a number that was not told, or of another path";
		}
	}
	return NULL;
}

static void make_paths_at_once(const uint32_t *first)
{
	pthread_t threads[THREADS];
	uint32_t firsts[THREADS];
	void *complaint;

	for (int i = 0; i < THREADS; i++) {
		firsts[i] = first[i];
		pthread_create(&threads[i], NULL, make_paths, &firsts[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &complaint);
		ck_assert_msg(!complaint, "%s", (char *)complaint);
	}
}

/* The same paths, then other ones each, so that what one thread enters another one forgets. */
START_TEST(threads_never_get_another_path_s_number)
{
	make_paths_at_once((uint32_t[THREADS]){0, 0, 0, 0});
	ck_assert_uint_gt(emitted, PATHS);
	make_paths_at_once((uint32_t[THREADS]){PATHS, 2 * PATHS, 3 * PATHS, 4 * PATHS});
	ck_assert_uint_gt(emitted, 5 * PATHS);
	ck_assert_uint_gt(emitted, 4 * PLACES);
}
END_TEST

START_TEST(few_paths_are_never_forgotten)
{
	uint32_t others = 0; /* counted: an assertion a path takes longer than the paths */

	for (int round = 0; round < 3; round++)
		for (uint32_t i = 0; i < PLACES / 8; i++)
			others += outermost(16 * (uint64_t)i + 16) != i + 1;
	ck_assert_uint_eq(others, 0);
	ck_assert_uint_eq(emitted, PLACES / 8);
}
END_TEST

START_TEST(memory_is_bounded_and_new_paths_go_in)
{
	uint64_t before = rvp_own_bytes();
	uint32_t last = 0, others = 0;

	for (uint32_t i = 0; i < 20 * PLACES; i++) {
		last = outermost(16 * (uint64_t)i + 16);
		others += last != i + 1;
	}
	ck_assert_uint_eq(others, 0);
	ck_assert_uint_le(rvp_own_bytes() - before, most_bytes);
	ck_assert_uint_eq(outermost(16 * (20ull * PLACES)), last);
	rvp_path_tree_reset(&tree);
	ck_assert_uint_eq(rvp_own_bytes(), before);
}
END_TEST

/* The first tables stay as they are once they are full: what is made after them can be forgotten. */
static void fill(uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++)
		outermost(16 * (uint64_t)i + 16);
}

START_TEST(a_forgotten_path_gets_another_number)
{
	fill(0, PLACES / 2);

	struct path parent = below(outside, 7), child = below(parent, 8), again;
	struct path at = child;

	fill(PLACES, 20 * PLACES);
	again = below(outside, 7);
	ck_assert_uint_gt(again.number, parent.number);
	ck_assert_uint_eq(told[again.number].frame, 7);
	at = below(again, 8);
	ck_assert_uint_gt(at.number, child.number);
	ck_assert_uint_eq(told[at.number].parent, again.number);
	ck_assert_uint_eq(told[child.number].parent, parent.number);
}
END_TEST

/* What is used all the time while others come and go costs few records. */
START_TEST(a_path_is_found_whatever_became_of_those_above_it)
{
	struct path parent, child;

	fill(0, PLACES / 2);
	parent = below(outside, 7);
	for (uint32_t i = 1; below(outside, 7).number == parent.number; i++)
		fill(i * PLACES, 100);
	child = below(parent, 8);
	ck_assert_uint_eq(below(below(outside, 7), 8).number, child.number);
}
END_TEST

START_TEST(without_records_what_is_there_stays)
{
	uint32_t entered = 0;

	fill(0, 2 * PLACES);
	refuses = true;
	for (uint32_t i = 2 * PLACES; i < 4 * PLACES; i++)
		entered += outermost(16 * (uint64_t)i + 16) != 0;
	ck_assert_uint_eq(entered, 0);
	ck_assert_uint_eq(outermost(16 * (2ull * PLACES)), 2 * PLACES);
	ck_assert_uint_eq(tree.number_count, 2 * PLACES);
}
END_TEST

START_TEST(after_the_last_number_there_is_none)
{
	uint32_t known = outermost(100);

	tree.number_count = UINT32_MAX - 2;
	refuses = true;
	ck_assert_uint_eq(outermost(200), 0);
	ck_assert_uint_eq(refused, 1);
	tree.number_count = UINT32_MAX - 1;
	ck_assert_uint_eq(outermost(200), 0);
	ck_assert_uint_eq(refused, 1);
	ck_assert_uint_eq(outermost(100), known);
	tree.number_count = 1;
}
END_TEST

static uint32_t walk(uint64_t root, const char *path)
{
	static struct rvp_thread thread;
	uint32_t count = (uint32_t)strlen(path);

	for (uint32_t i = 0; i < count; i++)
		thread.frames[count - 1 - i] = (uint64_t)path[i] * 16;
	return rvp_path_tree_frames(&tree, &thread, count, root);
}

START_TEST(a_whole_path_has_the_number_of_its_innermost)
{
	static const char *const paths[] = {"abc", "abcdef", "abx", "a", "", "zbc", "abcdef", "abc"};
	uint32_t numbers[8];

	for (int k = 0; k < 8; k++)
		numbers[k] = walk(0, paths[k]);
	ck_assert_uint_eq(emitted, 10);
	ck_assert_uint_eq(numbers[4], 0);
	ck_assert_uint_eq(numbers[6], numbers[1]);
	ck_assert_uint_eq(numbers[7], numbers[0]);
	ck_assert_uint_eq(told[numbers[2]].parent, told[numbers[0]].parent);
	ck_assert_uint_ne(walk(1, "abc"), numbers[0]);
}
END_TEST

START_TEST(a_known_path_is_known_and_makes_nothing)
{
	uint64_t path = rvp_path_below(0, 'a' * 16);
	uint32_t number;

	ck_assert_uint_eq(rvp_path_tree_known(&tree, path), 0);
	ck_assert_uint_eq(emitted, 0);
	number = walk(0, "a");
	for (uint32_t i = 0; i < PLACES / 8; i++)
		outermost(16 * (uint64_t)i + 16); /* into bigger tables: it is found in those before, too */
	ck_assert_uint_eq(rvp_path_tree_known(&tree, path), number);
	ck_assert_uint_eq(rvp_path_tree_known(&tree, rvp_path_below(path, 16)), 0);
}
END_TEST

START_TEST(a_very_deep_path_is_whole)
{
	static struct rvp_thread thread;
	uint32_t number, other;

	for (uint32_t i = 0; i < RVP_FRAMES_MAX; i++)
		thread.frames[i] = 16 * (uint64_t)i + 16;
	number = rvp_path_tree_frames(&tree, &thread, RVP_FRAMES_MAX, 0);
	ck_assert_uint_eq(emitted, RVP_FRAMES_MAX);
	ck_assert_uint_eq(rvp_path_tree_frames(&tree, &thread, RVP_FRAMES_MAX, 0), number);
	ck_assert_uint_eq(emitted, RVP_FRAMES_MAX);
	thread.frames[0]++;
	other = rvp_path_tree_frames(&tree, &thread, RVP_FRAMES_MAX, 0);
	ck_assert_uint_ne(other, number);
	ck_assert_uint_eq(told[other].parent, told[number].parent);
	ck_assert_uint_eq(emitted, RVP_FRAMES_MAX + 1);
}
END_TEST

START_TEST(the_deepest_known_node_stands_for_the_path)
{
	uint32_t known = walk(0, "ab");
	uint64_t lost = double_lost[RVP_LOSS_STACK_TABLE];

	refuses = true;
	ck_assert_uint_eq(walk(0, "abcd"), known);
	ck_assert_uint_eq(double_lost[RVP_LOSS_STACK_TABLE], lost + 1);
	refuses = false;
	ck_assert_uint_ne(walk(0, "abcd"), known);
}
END_TEST

enum { CACHED = 2000 };

/* What a thread remembers: the number that was entered or none, however much was; few are forgotten when it has grown. */
START_TEST(a_cache_grows_and_never_tells_another_s_number)
{
	static struct rvp_path_cache cache;
	uint32_t hits = 0, others = 0;

	ck_assert(rvp_path_cache_reset(&cache));
	for (int round = 0; round < 8; round++) {
		hits = 0;
		for (uint32_t i = 1; i <= CACHED; i++) {
			uint64_t hash = rvp_path_below(7, i);
			const struct rvp_known_path *path = rvp_path_cache_find(&cache, hash);

			hits += path != NULL;
			others += path && (path->number != i || path->depth != 2 * i);
			if (!path)
				rvp_path_cache_enter(&cache, hash, i, 2 * i);
		}
	}
	ck_assert_uint_eq(others, 0);
	ck_assert_uint_gt(hits, CACHED * 3 / 4); /* of the last round */
	ck_assert(rvp_path_cache_reset(&cache));
	for (uint32_t i = 1; i <= CACHED; i++)
		others += rvp_path_cache_find(&cache, rvp_path_below(7, i)) != NULL;
	ck_assert_uint_eq(others, 0);
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
	tcase_add_test(cases, threads_never_get_another_path_s_number);
	tcase_add_test(cases, few_paths_are_never_forgotten);
	tcase_add_test(cases, memory_is_bounded_and_new_paths_go_in);
	tcase_add_test(cases, a_forgotten_path_gets_another_number);
	tcase_add_test(cases, a_path_is_found_whatever_became_of_those_above_it);
	tcase_add_test(cases, without_records_what_is_there_stays);
	tcase_add_test(cases, after_the_last_number_there_is_none);
	tcase_add_test(cases, a_whole_path_has_the_number_of_its_innermost);
	tcase_add_test(cases, a_known_path_is_known_and_makes_nothing);
	tcase_add_test(cases, a_cache_grows_and_never_tells_another_s_number);
	tcase_add_test(cases, a_very_deep_path_is_whole);
	tcase_add_test(cases, the_deepest_known_node_stands_for_the_path);
	tcase_set_timeout(cases, 60);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
