/* SPDX-License-Identifier: MIT */
/* The walk against libunwind proper, frame by frame, wherever a hook may be called from. libunwind is only in
 * this test: in the product it would take over the program's C++ exceptions. */
#include "preload/unwind_memory.h"
#include "preload/walk.h"
#include "tests/unit/recorder_double.h"
#include "tests/unit/run_suite.h"

#include <alloca.h>
#include <check.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <wchar.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;
static unsigned compared, deepest, exact_count;

NOINLINE static unsigned frames_of_referee(uint64_t *frames, unsigned most)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw_word_t pc;
	unsigned count = 0;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	while (count < most && unw_step(&cursor) > 0) {
		unw_get_reg(&cursor, UNW_REG_IP, &pc);
		if (!pc)
			break;
		frames[count++] = pc;
	}
	return count;
}

/* A node may be another thread's, which has emitted and will collect it. */
static void wait_until_defined(uint32_t node)
{
	for (int i = 0; i < 10000 && !*(volatile uint32_t *)&double_nodes[node].is_defined; i++)
		usleep(100);
	ck_assert_uint_ne(double_nodes[node].is_defined, 0);
}

static void differ(const uint64_t *ours, unsigned depth, const uint64_t *expected, unsigned count)
{
	for (unsigned i = 0; i < depth || i < count; i++)
		fprintf(stderr, "%3u  ours %12lx  libunwind %12lx\n", i, i < depth ? ours[i] : 0,
			i < count ? expected[i] : 0);
	ck_abort_msg("the walk and libunwind differ");
}

/* Stands where a hook stands: walks, and fails the test at the first frame that differs. */
NOINLINE static void compare(void)
{
	static __thread uint64_t expected[RVP_FRAMES_MAX + 8];
	unsigned count = frames_of_referee(expected, RVP_FRAMES_MAX + 8);
	struct rvp_path path = rvp_walk(double_thread(), RVP_CALLER());
	uint32_t node;

	double_collect();
	ck_assert_uint_ne(path.stack, 0);
	uint64_t ours[RVP_FRAMES_MAX];
	unsigned depth = 0;
	for (node = path.stack; node; node = double_nodes[node].parent) {
		wait_until_defined(node);
		exact_count += double_nodes[node].exact;
		ours[depth++] = double_nodes[node].pc;
	}
	for (unsigned k = 0; k < depth || k + 1 < count; k++)
		if (k >= depth || k + 1 >= count || ours[k] != expected[k + 1])
			differ(ours, depth, expected + 1, count - 1);
	compared++;
	deepest = depth > deepest ? depth : deepest;
}

static uint64_t lost(enum rvp_loss reason)
{
	return double_lost[reason];
}

static void start(void)
{
	rvp_walk_start(false);
	compared = deepest = exact_count = 0;
	memset(double_lost, 0, sizeof double_lost);
}

static void is_whole(unsigned least)
{
	ck_assert_uint_ge(compared, least);
	ck_assert_uint_eq(lost(RVP_LOSS_STACK_CUT), 0);
	ck_assert_uint_eq(lost(RVP_LOSS_STACK_TABLE), 0);
}

NOINLINE static void recurse(int depth)
{
	if (depth)
		recurse(depth - 1);
	else
		compare();
	sink++;
}

START_TEST(recursion)
{
	for (int depth = 0; depth < 300; depth += 7)
		recurse(depth);
	is_whole(40);
	ck_assert_uint_gt(deepest, 290);
}
END_TEST

/* One of two calls at each level: frames of one size, so that paths differ in return addresses alone. */
NOINLINE static void by_turns(int left, unsigned turns)
{
	if (!left) {
		compare();
	} else if (turns >> left & 1) {
		by_turns(left - 1, turns);
		__asm__ volatile("nop");
	} else {
		by_turns(left - 1, turns);
	}
	sink++;
}

/* More paths than a thread remembers, each of which comes again. */
START_TEST(many_paths_that_differ_anywhere)
{
	uint64_t random = 88172645463325252u;

	for (int i = 0; i < 30000; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		by_turns(13, (unsigned)(random >> 20));
	}
	is_whole(30000);
}
END_TEST

START_TEST(very_deep_is_cut_and_counted)
{
	struct rvp_path path;

	recurse(900);
	is_whole(1);
	(void)path;
}
END_TEST

NOINLINE static void with_alloca(int bytes)
{
	char *block = alloca(bytes);
	char vla[bytes / 2 + 1];

	memset(block, 1, bytes);
	vla[bytes / 2] = 2;
	compare();
	if (bytes > 64)
		with_alloca(bytes / 2);
	sink += block[bytes / 2] + vla[bytes / 2];
}

START_TEST(alloca_and_vla)
{
	with_alloca(20000);
	is_whole(8);
}
END_TEST

/* Realigned frames with arguments on the stack: the CFA is in memory. */
NOINLINE __attribute__((force_align_arg_pointer)) static int realigned(int a, int b, int c, int d, int e,
								       int f, int g, int depth)
{
	char *dynamic = alloca(16 + depth);
	_Alignas(64) char aligned[64];

	memset(aligned, g, sizeof aligned);
	dynamic[depth] = (char)g;
	if (depth)
		sink += realigned(b, c, d, e, f, g, a, depth - 1);
	if (a)
		compare();
	return aligned[depth] + dynamic[depth] + a;
}

START_TEST(realigned_frames)
{
	sink += realigned(1, 2, 3, 4, 5, 6, 7, 20);
	is_whole(21);
	ck_assert_uint_eq(lost(RVP_LOSS_UNWIND_FALLBACK), 0);
}
END_TEST

static int compare_ints(const void *a, const void *b)
{
	compare();
	return *(const int *)a - *(const int *)b;
}

START_TEST(through_libc)
{
	int numbers[40];

	for (int i = 0; i < 40; i++)
		numbers[i] = (i * 7) % 40;
	qsort(numbers, 40, sizeof *numbers, compare_ints);
	is_whole(40);
}
END_TEST

static jmp_buf away;

NOINLINE static void jump_from(int depth)
{
	if (depth)
		jump_from(depth - 1);
	compare();
	if (sink != -1)
		longjmp(away, 1);
}

START_TEST(longjmp_leaves_nothing_behind)
{
	for (volatile int i = 0; i < 20; i++) {
		if (setjmp(away) == 0)
			jump_from(i);
		compare();
	}
	is_whole(40);
}
END_TEST

static void on_signal(int number)
{
	(void)number;
	compare();
	recurse(3);
}

static void install(int number, int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	sigaction(number, &action, NULL);
}

NOINLINE static void raise_at(int depth)
{
	if (depth)
		raise_at(depth - 1);
	else
		raise(SIGUSR1);
	sink++;
}

START_TEST(signal_on_the_same_stack)
{
	install(SIGUSR1, 0);
	for (int i = 0; i < 10; i++)
		raise_at(i);
	is_whole(20);
	ck_assert_uint_eq(exact_count, compared);
}
END_TEST

START_TEST(signal_on_its_own_stack)
{
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};

	sigaltstack(&stack, NULL);
	install(SIGUSR1, SA_ONSTACK);
	for (int i = 0; i < 10; i++)
		raise_at(i);
	is_whole(20);
	ck_assert_uint_eq(exact_count, compared);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
}
END_TEST

static ucontext_t here, there;

static void coroutine(void)
{
	for (int i = 0; i < 5; i++) {
		recurse(i);
		swapcontext(&there, &here);
	}
}

static void *run_coroutine(void *unused)
{
	char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = 65536;
	there.uc_link = &here;
	makecontext(&there, coroutine, 0);
	for (int i = 0; i < 5; i++) {
		swapcontext(&here, &there);
		recurse(i);
	}
	munmap(stack, 65536);
	return unused;
}

START_TEST(coroutines)
{
	pthread_t thread;

	run_coroutine(NULL);
	is_whole(10);
	/* A thread's: its stack lies right below the thread's own, within what might be taken for that. */
	pthread_create(&thread, NULL, run_coroutine, NULL);
	pthread_join(thread, NULL);
	is_whole(20);
}
END_TEST

static void compare_at_cleanup(void *unused)
{
	(void)unused;
	recurse(2);
}

NOINLINE static void leave_thread(int depth)
{
	pthread_cleanup_push(compare_at_cleanup, NULL);
	if (depth)
		leave_thread(depth - 1);
	else if (sink != -1)
		pthread_exit(NULL);
	pthread_cleanup_pop(0);
	sink++;
}

static void *thread_that_leaves(void *unused)
{
	leave_thread(5);
	return unused;
}

START_TEST(forced_unwinding_in_flight)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_that_leaves, NULL);
	pthread_join(thread, NULL);
	is_whole(6);
}
END_TEST

#ifdef HAVE_EXCEPTIONS
int exceptions_in_flight(int rounds, void (*back)(void));

START_TEST(exceptions)
{
	ck_assert_int_eq(exceptions_in_flight(10, compare), 10);
	is_whole(10 * 3 + 55);
}
END_TEST
#endif

/* Every instruction: the trap flag raises SIGTRAP after each, and the handler compares. */
static unsigned steps_left;

static void trap_on(void)
{
	__asm__ volatile("pushfq; orq $0x100, (%rsp); popfq");
}
static void trap_off(void)
{
	__asm__ volatile("pushfq; andq $~0x100, (%rsp); popfq");
}

static void on_step(int number)
{
	(void)number;
	if (!steps_left)
		return;
	steps_left--;
	compare();
}

NOINLINE static void stepped(int depth)
{
	struct timespec now;
	char text[32];
	wchar_t wide[8];

	clock_gettime(CLOCK_MONOTONIC, &now); /* the vdso */
	if (depth)
		stepped(depth - 1);
	memset(text, depth, sizeof text);
	wmemset(wide, depth, 8); /* through the PLT, bound at its first call */
	sink += text[3] + (int)wide[2] + (int)now.tv_nsec;
	sink += realigned(0, 2, 3, 4, 5, 6, 7, 0);
}

START_TEST(every_instruction)
{
	struct sigaction action = {.sa_handler = on_step, .sa_flags = 0};

	sigaction(SIGTRAP, &action, NULL);
	steps_left = 4000;
	trap_on();
	stepped(1);
	trap_off();
	is_whole(800);
	ck_assert_uint_gt(lost(RVP_LOSS_UNWIND_FALLBACK), 0); /* in the lazy binder */
}
END_TEST

static void *walking_thread(void *unused)
{
	for (int i = 0; i < 2000; i++)
		recurse(i % 40);
	double_collect();
	return unused;
}

START_TEST(threads_share_the_tree)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, walking_thread, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	is_whole(2000);
}
END_TEST

START_TEST(nothing_known_of_the_stack)
{
	struct rvp_thread *thread = double_thread();
	uint64_t low = thread->stack_low;

	thread->stack_low = thread->stack_high = 0;
	recurse(30);
	is_whole(1);
	thread->stack_low = low;
}
END_TEST

START_TEST(after_a_fork_all_is_told_again)
{
	recurse(5);
	double_reset();
	rvp_walk_after_fork();
	recurse(5);
	ck_assert_uint_eq(double_nodes[1].is_defined, 1);
	ck_assert_uint_eq(double_modules[1].loads, 1);
	is_whole(2);
}
END_TEST

START_TEST(a_word_at_the_end_of_the_address_space)
{
	uint64_t pages[RVP_MEMORY_PAGES] = {0}, word;
	struct rvp_memory memory = {.pages = pages, .page_count = RVP_MEMORY_PAGES};

	/* A register may hold anything where a signal came within swapcontext. */
	for (uint64_t address = (uint64_t)-64; address; address += 8)
		ck_assert(!rvp_memory_word(&memory, address, &word));
	ck_assert(!rvp_memory_is_readable(&memory, (uint64_t)-7, 9));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind");
	TCase *cases = tcase_create("against libunwind");

	tcase_add_checked_fixture(cases, start, NULL);
	tcase_add_test(cases, recursion);
	tcase_add_test(cases, many_paths_that_differ_anywhere);
	tcase_add_test(cases, very_deep_is_cut_and_counted);
	tcase_add_test(cases, alloca_and_vla);
	tcase_add_test(cases, realigned_frames);
	tcase_add_test(cases, through_libc);
	tcase_add_test(cases, longjmp_leaves_nothing_behind);
	tcase_add_test(cases, signal_on_the_same_stack);
	tcase_add_test(cases, signal_on_its_own_stack);
	tcase_add_test(cases, coroutines);
	tcase_add_test(cases, forced_unwinding_in_flight);
#ifdef HAVE_EXCEPTIONS
	tcase_add_test(cases, exceptions);
#endif
	tcase_add_test(cases, every_instruction);
	tcase_add_test(cases, threads_share_the_tree);
	tcase_add_test(cases, nothing_known_of_the_stack);
	tcase_add_test(cases, after_a_fork_all_is_told_again);
	tcase_add_test(cases, a_word_at_the_end_of_the_address_space);
	tcase_set_timeout(cases, 60);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
