/* SPDX-License-Identifier: MIT */
/* What a thread remembers of its walks: found again only while every word is as it was, at bounded places, in
 * little stack; and the straight walk of what no shape finds. The stack here is an array, and the walks that are entered are made up. */
#include "preload/unwind_shape.h"
#include "preload/walker.h"
#include "tests/unit/recorder_double.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_WORDS = 512, WORDS_MOST = 90, NUMBERS = 20000, HIT_BYTES_MOST = 256 };

static uint64_t stack[STACK_WORDS];
static struct rvp_memo memo;
static struct rvp_shapes shapes;
static struct rvp_caller caller;
static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % below;
}

static uint64_t high(void)
{
	return (uint64_t)(stack + STACK_WORDS);
}

/* A walk that read `count` words, outermost first, up to `gap` words apart. */
static void walked(uint32_t count, uint32_t gap)
{
	uint64_t content = 0, at = high();

	memo.words[0].at = UINT64_MAX;
	for (uint32_t i = 1; i <= count; i++) {
		at -= 8 * (uint64_t)(1 + draw(gap));
		content = rvp_path_below(content, at * 3 + *(uint64_t *)at * 5);
		memo.words[i] = (struct rvp_memo_word){at, *(uint64_t *)at, content};
	}
	memo.frame_count = memo.depth = 1;
	memo.frames[0] = (struct rvp_memo_frame){.word_count = (uint16_t)count};
	memo.word_count = count;
	memo.version += 2;
	caller = (struct rvp_caller){.pc = 0x401000, .sp = at, .bp = 77};
}

static uint32_t found(void)
{
	const struct rvp_known_path *path = rvp_shapes_find(&shapes, &memo, caller);

	return path ? path->number : 0;
}

static void start(void)
{
	static struct rvp_memo_word words[WORDS_MOST + 1];
	static struct rvp_memo_frame frames[1];

	memo = (struct rvp_memo){.words = words, .frames = frames, .capacity = 1};
	seed = 88172645463325252u;
	for (int i = 0; i < STACK_WORDS; i++)
		stack[i] = 0x400000 + 16 * (uint64_t)draw(1 << 16);
	memset(&shapes, 0, sizeof shapes);
	ck_assert(rvp_shapes_start(&shapes, 1));
}

/* Every word of it, wherever: of the window and of what lies further out. */
START_TEST(a_path_is_found_only_while_each_word_is_as_it_was)
{
	for (uint32_t count = 1; count <= WORDS_MOST; count++)
		for (uint32_t gap = 1; gap <= 5; gap += 2) {
			walked(count, gap);
			caller.pc += 64 * count + gap; /* another's words may lie in between */
			rvp_shapes_enter(&shapes, &memo, caller, 9);
			ck_assert_uint_eq(found(), 9);
			memo.version += gap & 2;
			for (uint32_t i = 1; i <= count; i++)
				for (int bit = 0; bit < 48; bit += 1 + (int)draw(9)) {
					*(uint64_t *)memo.words[i].at ^= 1ul << bit;
					ck_assert_uint_eq(found(), 0);
					*(uint64_t *)memo.words[i].at ^= 1ul << bit;
				}
			ck_assert_uint_eq(found(), 9);
		}
}
END_TEST

/* Neither do equal differences make up for each other, nor does it pass that two words change places. */
START_TEST(two_words_that_change_are_seen)
{
	walked(24, 3);
	rvp_shapes_enter(&shapes, &memo, caller, 9);
	for (uint32_t i = 1; i <= 24; i++)
		for (uint32_t k = 1; k < i; k++) {
			uint64_t *one = (uint64_t *)memo.words[i].at, *other = (uint64_t *)memo.words[k].at;
			uint64_t was_one = *one, was_other = *other;

			*one += 32;
			*other -= 32;
			ck_assert_uint_eq(found(), 0);
			*one = was_other;
			*other = was_one;
			ck_assert_uint_eq(found(), was_one == was_other ? 9 : 0);
			*one = was_one;
			*other = was_other;
		}
	ck_assert_uint_eq(found(), 9);
}
END_TEST

START_TEST(another_caller_is_another_path)
{
	walked(30, 4);
	rvp_shapes_enter(&shapes, &memo, caller, 9);
	caller.pc++;
	ck_assert_uint_eq(found(), 0);
	caller.pc--;
	caller.sp -= 8;
	ck_assert_uint_eq(found(), 0);
	caller.sp += 8;
	caller.bp++; /* nobody further out uses it */
	ck_assert_uint_eq(found(), 9);
	memo.frames[0].is_bp_used = true;
	rvp_shapes_enter(&shapes, &memo, caller, 10);
	memset(shapes.paths.paths, 0, 4096); /* the path of the shape without bp */
	rvp_shapes_enter(&shapes, &memo, caller, 10);
	ck_assert_uint_eq(found(), 10);
	caller.bp--;
	ck_assert_uint_eq(found(), 0);
}
END_TEST

START_TEST(another_key_finds_nothing)
{
	walked(30, 4);
	rvp_shapes_enter(&shapes, &memo, caller, 9);
	ck_assert(rvp_shapes_start(&shapes, 2));
	ck_assert_uint_eq(found(), 0);
	rvp_shapes_enter(&shapes, &memo, caller, 10);
	ck_assert_uint_eq(found(), 10);
	ck_assert(rvp_shapes_start(&shapes, 1));
	ck_assert_uint_eq(found(), 9);
}
END_TEST

/* The memo's words of another, deeper stack; what a window says of another stack pointer or key. */
START_TEST(nothing_is_read_outside_the_stack)
{
	walked(12, 4);
	rvp_shapes_enter(&shapes, &memo, caller, 9);
	caller.sp = 8; /* would fault */
	ck_assert_uint_eq(found(), 0);
	walked(60, 4);
	rvp_shapes_enter(&shapes, &memo, caller, 9);
	ck_assert_uint_eq(found(), 9);
	for (uint32_t i = 1; i <= 60; i++)
		memo.words[i].at = 8; /* would fault */
	memo.version += 2;
	ck_assert_uint_eq(found(), 0);
	memo.word_count = 3;
	memo.version += 2;
	ck_assert_uint_eq(found(), 0);
}
END_TEST

/* The walk of three words, the second of them at its own place. */
static void walked_by(uint32_t place)
{
	uint64_t content = 0, at[3] = {high() - 8, high() - 8 * (10ul + place), high() - 8 * 120ul};

	memo.words[0].at = UINT64_MAX;
	for (int i = 0; i < 3; i++) {
		content = rvp_path_below(content, at[i]);
		memo.words[i + 1] = (struct rvp_memo_word){at[i], *(uint64_t *)at[i], content};
	}
	memo.frame_count = memo.depth = 1;
	memo.frames[0] = (struct rvp_memo_frame){.word_count = 3};
	memo.word_count = 3;
	memo.version += 2;
	caller = (struct rvp_caller){.pc = 0x401000, .sp = at[2]};
}

/* Several places of words for one caller, as paths through different functions have. */
START_TEST(shapes_of_one_caller_stand_side_by_side)
{
	for (uint32_t i = 0; i < RVP_SHAPE_WAYS; i++) {
		walked_by(i);
		rvp_shapes_enter(&shapes, &memo, caller, i + 1);
	}
	for (uint32_t i = 0; i < RVP_SHAPE_WAYS; i++) {
		uint64_t was = stack[STACK_WORDS - 10 - i];

		for (uint32_t k = 0; k < RVP_SHAPE_WAYS; k++)
			stack[STACK_WORDS - 10 - k] ^= 16;
		ck_assert_uint_eq(found(), 0);
		stack[STACK_WORDS - 10 - i] = was;
		ck_assert_uint_eq(found(), i + 1); /* by its own places alone */
		for (uint32_t k = 0; k < RVP_SHAPE_WAYS; k++)
			if (k != i)
				stack[STACK_WORDS - 10 - k] ^= 16;
	}
}
END_TEST

/* Words at random, many times over what fits: the number that was entered for these very words, or none. */
START_TEST(never_another_path_s_number)
{
	uint32_t hits = 0, wrong = 0;

	walked(24, 3);
	for (uint32_t i = 0; i < NUMBERS; i++) {
		uint32_t number = 1, got;

		for (uint32_t k = 15; k <= 24; k++) {
			uint32_t bit = draw(2);

			memo.words[k].value = *(uint64_t *)memo.words[k].at = 0x401000 + 0x40 * bit;
			number = number * 2 + bit;
		}
		got = found();
		hits += got != 0;
		wrong += got && got != number;
		if (!got)
			rvp_shapes_enter(&shapes, &memo, caller, number);
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_gt(hits, NUMBERS * 8 / 10); /* it has grown: there are 1,024 of them */
}
END_TEST

enum { LEVELS = 7, ORDERS = 2187, ORDER_WALKS = 30000 };

static uint32_t down(uint32_t order, int left);

#ifdef __clang__
#define BY_STACK_POINTER
#else
#define BY_STACK_POINTER __attribute__((optimize("omit-frame-pointer")))
#endif

/* Three functions that may lie in any order, each with a frame of its own size; the third's is found by its frame pointer. */
__attribute__((noinline)) BY_STACK_POINTER static uint32_t small(uint32_t order, int left)
{
	volatile char room[40];
	uint32_t number = down(order, left);

	room[0] = (char)number;
	return number + 0 * (uint32_t)room[0];
}

__attribute__((noinline)) BY_STACK_POINTER static uint32_t middle(uint32_t order, int left)
{
	volatile char room[88];
	uint32_t number = down(order, left);

	room[0] = (char)number;
	return number + 0 * (uint32_t)room[0];
}

__attribute__((noinline)) static uint32_t by_pointer(uint32_t order, int left)
{
	volatile char *room = __builtin_alloca(16 + 16 * (order % 2));
	uint32_t number = down(order, left);

	room[0] = (char)number;
	return number;
}

__attribute__((noinline)) static uint32_t walk_here(void)
{
	return rvp_walk(double_thread(), RVP_CALLER()).stack;
}

__attribute__((noinline)) BY_STACK_POINTER static uint32_t down(uint32_t order, int left)
{
	uint32_t number;

	if (!left)
		number = walk_here();
	else if (order % 3 == 0)
		number = small(order / 3, left - 1);
	else if (order % 3 == 1)
		number = middle(order / 3, left - 1);
	else
		number = by_pointer(order / 3, left - 1);
	__asm__ volatile("" ::: "memory");
	return number;
}

/* However a path is found, it has one number, and no other path has it: by words, by rules, in the tree, or made. */
START_TEST(functions_in_any_order_are_told_apart)
{
	static uint32_t number_of[ORDERS], order_of[1 << 16];

	rvp_walk_start(false);
	for (uint32_t i = 0; i < ORDER_WALKS; i++) {
		uint32_t order = draw(ORDERS), number = down(order, LEVELS);

		ck_assert_uint_gt(number, 0);
		ck_assert_uint_lt(number, 1 << 16);
		ck_assert(number_of[order] == 0 || number_of[order] == number);
		ck_assert(order_of[number] == 0 || order_of[number] == order + 1);
		number_of[order] = number;
		order_of[number] = order + 1;
	}
	ck_assert_ptr_nonnull(((struct rvp_walker *)double_thread()->walker)->steps.paths.paths);
}
END_TEST

enum { PAINTED_BYTES = 4096 };

/* The stack below whoever calls this function's caller next: nobody has it now. */
static inline __attribute__((always_inline)) volatile uint8_t *unused_stack(void)
{
	return (volatile uint8_t *)__builtin_frame_address(0) - 64 - PAINTED_BYTES;
}

__attribute__((noinline)) static void paint(void)
{
	volatile uint8_t *area = unused_stack();

	for (int i = 0; i < PAINTED_BYTES; i++)
		area[i] = 0xa5;
}

/* How far down what ran since has written. */
__attribute__((noinline)) static unsigned painted_over(void)
{
	volatile uint8_t *area = unused_stack();
	unsigned clean = 0;

	while (clean < PAINTED_BYTES && area[clean] == 0xa5)
		clean++;
	return 64 + PAINTED_BYTES - clean;
}

__attribute__((noinline)) static unsigned bytes_of_a_walk(int depth)
{
	unsigned bytes;

	if (depth) {
		bytes = bytes_of_a_walk(depth - 1);
		__asm__ volatile("" ::: "memory");
		return bytes;
	}
	paint();
	rvp_walk(double_thread(), RVP_CALLER());
	return painted_over();
}

START_TEST(a_hit_takes_little_stack)
{
	unsigned first, again = 0;

	rvp_walk_start(false);
	first = bytes_of_a_walk(20);
	for (volatile int i = 0; i < 3; i++) /* one call, not three */
		again = bytes_of_a_walk(20);
	ck_assert_uint_gt(first, HIT_BYTES_MOST); /* it does see */
	ck_assert_uint_gt(again, 64);
	ck_assert_uint_le(again, HIT_BYTES_MOST);
}
END_TEST

/* Numbers are kept behind steps: memory for the one and none for the other is none, and the next walk asks again. */
START_TEST(a_straight_walk_without_memory_is_none)
{
	struct rvp_straight_steps steps = {0};
	struct rvp_straight walk;

	caller = (struct rvp_caller){.pc = 0x401000, .sp = (uint64_t)stack};
	for (unsigned refused = 1; refused <= 2; refused++) {
		double_map_refused = refused;
		ck_assert(!rvp_straight_walk(&steps, 7, caller, high(), 1, &walk));
		ck_assert_uint_eq(double_map_refused, 0);
	}
	ck_assert(!rvp_straight_walk(&steps, 7, caller, high(), 1, &walk)); /* no rules */
	ck_assert_ptr_nonnull(steps.paths.paths);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind_shape");
	TCase *cases = tcase_create("shapes");

	tcase_add_checked_fixture(cases, start, NULL);
	tcase_add_test(cases, a_path_is_found_only_while_each_word_is_as_it_was);
	tcase_add_test(cases, two_words_that_change_are_seen);
	tcase_add_test(cases, another_caller_is_another_path);
	tcase_add_test(cases, another_key_finds_nothing);
	tcase_add_test(cases, nothing_is_read_outside_the_stack);
	tcase_add_test(cases, shapes_of_one_caller_stand_side_by_side);
	tcase_add_test(cases, never_another_path_s_number);
	tcase_add_test(cases, functions_in_any_order_are_told_apart);
	tcase_add_test(cases, a_straight_walk_without_memory_is_none);
	tcase_add_test(cases, a_hit_takes_little_stack);
	tcase_set_timeout(cases, 60);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
