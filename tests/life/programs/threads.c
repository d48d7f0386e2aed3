/* SPDX-License-Identifier: MIT */
/* threads.c: threads that come and go, signal handlers that allocate, stacks that are not a thread's own. */
#include "tests/life/programs/case.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static void *churn_once(void *argument)
{
	pthread_setname_np(pthread_self(), "churner");
	churn(1);
	return argument;
}

static int thousand_threads(void)
{
	for (int round = 0; round < 125; round++) {
		pthread_t threads[8];

		for (int i = 0; i < 8; i++)
			if (pthread_create(&threads[i], NULL, churn_once, NULL) != 0)
				return 96;
		for (int i = 0; i < 8; i++)
			pthread_join(threads[i], NULL);
	}
	say("1000 threads\n");
	return 0;
}

static void *churn_while(void *go_on)
{
	while (__atomic_load_n((int *)go_on, __ATOMIC_RELAXED))
		churn(1);
	return NULL;
}

/* All at once, each with blocks that another one frees. */
static int many_at_once(void)
{
	enum { THREADS = 200 };
	static pthread_t threads[THREADS];
	int go_on = 1;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, churn_while, &go_on) != 0)
			return 96;
	usleep(200000);
	__atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	say("%d threads\n", THREADS);
	return 0;
}

/* 400,000 blocks of 16 KiB and more as fast as it goes, of which some live: too many to record each. */
static int large_and_fast(void)
{
	enum { HELD = 4000, COUNT = 400000 };
	static void *held[HELD];

	for (size_t i = 0; i < COUNT; i++) {
		free(held[i % HELD]);
		held[i % HELD] = malloc(16384 + i % 7 * 3000);
	}
	say("%d blocks\n", COUNT);
	return 0;
}

static void free_key(void *block)
{
	free(block);
}

static void *use_key(void *key)
{
	pthread_setspecific(*(pthread_key_t *)key, malloc(100));
	return NULL;
}

static int frees_at_thread_exit(void)
{
	pthread_key_t key;

	pthread_key_create(&key, free_key);
	for (int i = 0; i < 50; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, use_key, &key) != 0)
			return 96;
		pthread_join(thread, NULL);
	}
	say("done\n");
	return 0;
}

static volatile sig_atomic_t handled;

static void allocate_in_handler(int number)
{
	void *block = malloc((size_t)(64 + handled % 1000));

	(void)number;
	free(block);
	handled++;
}

/* What the main flow does meanwhile: a handler may not call malloc on top of libc's malloc, but on top of
 * anything else, our hooks of mmap and munmap included. */
static void map_and_unmap(void)
{
	void *block = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(block, 8192);
}

static volatile uint64_t spent;

static void spend_time(void)
{
	for (int i = 0; i < 1000; i++)
		spent++;
}

static int handlers(int own_stack, void (*meanwhile)(void))
{
	struct itimerval often = {.it_interval = {.tv_usec = 200}, .it_value = {.tv_usec = 200}}, never = {0};
	struct sigaction action = {.sa_handler = allocate_in_handler,
				   .sa_flags = SA_RESTART | (own_stack ? SA_ONSTACK : 0)};
	stack_t stack = {.ss_sp = malloc(16384), .ss_size = 16384};

	if (own_stack && sigaltstack(&stack, NULL) != 0)
		return 96;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 500)
		meanwhile();
	setitimer(ITIMER_REAL, &never, NULL);
	say("handled enough: %d\n", handled >= 500);
	return 0;
}

static int handlers_allocate(void)
{
	return handlers(0, spend_time);
}

static int handlers_inside_hooks(void)
{
	return handlers(0, map_and_unmap);
}

static int handlers_on_their_own_stack(void)
{
	return handlers(1, map_and_unmap);
}

static volatile pid_t last_child;

static void fork_in_handler(int number)
{
	(void)number;
	last_child = handled % 2 ? _Fork() : fork();
	handled++;
}

/* Handlers that fork, by either of libc's ways, while the main flow is inside a hook, which goes on in both. */
static int handlers_fork(void)
{
	struct itimerval soon = {.it_value = {.tv_usec = 300}};

	signal(SIGALRM, fork_in_handler);
	for (int turn = 1; turn <= 200; turn++) {
		setitimer(ITIMER_REAL, &soon, NULL);
		while (handled < turn)
			map_and_unmap();
		churn(1);
		if (last_child == 0)
			_exit(0);
		waitpid(last_child, NULL, 0);
	}
	say("200 forks\n");
	return 0;
}

static sigjmp_buf place;

static void jump_out(int number)
{
	siglongjmp(place, number);
}

/* A handler that leaves by longjmp, from anywhere in user code: the recorder must not think it is still
 * inside. */
static int handler_jumps_out(void)
{
	struct itimerval soon = {.it_value = {.tv_usec = 500}};
	volatile int jumps = 0;

	signal(SIGALRM, jump_out);
	while (jumps < 50) {
		if (sigsetjmp(place, 1)) {
			jumps++;
			churn(1);
			continue;
		}
		setitimer(ITIMER_REAL, &soon, NULL);
		for (;;)
			spent++;
	}
	churn(3);
	say("50 jumps\n");
	return 0;
}

static ucontext_t main_context, coroutine[2];
static int switches;

static void deep(int depth)
{
	char *block = malloc((size_t)(100 + depth));

	if (depth)
		deep(depth - 1);
	else
		swapcontext(&coroutine[switches % 2], &coroutine[(switches + 1) % 2]);
	free(block);
}

static void coroutine_main(void)
{
	while (switches < 1000) {
		switches++;
		churn(1);
		deep(5);
	}
	setcontext(&main_context);
}

static int coroutines(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&coroutine[i]);
		coroutine[i].uc_stack.ss_sp = malloc(65536);
		coroutine[i].uc_stack.ss_size = 65536;
		coroutine[i].uc_link = &main_context;
		makecontext(&coroutine[i], coroutine_main, 0);
	}
	swapcontext(&main_context, &coroutine[0]);
	say("%d switches\n", switches);
	return 0;
}

enum { CROSSING = 20000 };

static void *give;

static void *free_given(void *argument)
{
	(void)argument;
	for (int done = 0; done < CROSSING; done++) {
		void *block;

		while (!(block = __atomic_exchange_n(&give, NULL, __ATOMIC_ACQ_REL)))
			sched_yield();
		free(block);
	}
	return NULL;
}

/* Every block is freed by another thread than the one that got it. */
static int blocks_cross_threads(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, free_given, NULL) != 0)
		return 96;
	for (int i = 0; i < CROSSING; i++) {
		void *block = malloc((size_t)(i % 500)), *none = NULL;

		while (!__atomic_compare_exchange_n(&give, &none, block, 0, __ATOMIC_ACQ_REL,
						    __ATOMIC_RELAXED)) {
			none = NULL;
			sched_yield();
		}
	}
	pthread_join(thread, NULL);
	say("%d blocks\n", CROSSING);
	return 0;
}

static void *never_ends(void *argument)
{
	for (;;)
		churn(1);
	return argument;
}

static int exit_beside_busy_threads(void)
{
	for (int i = 0; i < 4; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, never_ends, NULL) != 0)
			return 96;
	}
	usleep(50000);
	say("leaving\n");
	return 23;
}

static void *cancelled(void *argument)
{
	for (;;) {
		churn(1);
		pthread_testcancel();
	}
	return argument;
}

static int cancel(void)
{
	for (int i = 0; i < 20; i++) {
		pthread_t thread;
		void *end;

		if (pthread_create(&thread, NULL, cancelled, NULL) != 0)
			return 96;
		usleep(1000);
		pthread_cancel(thread);
		pthread_join(thread, &end);
		if (end != PTHREAD_CANCELED)
			return 97;
	}
	say("20 cancelled\n");
	return 0;
}

static int main_thread_ends_first(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, churn_once, NULL) != 0)
		return 96;
	churn(3);
	pthread_exit(NULL);
}

const struct life_case thread_cases[] = {
    {"thousand_threads", thousand_threads},
    {"many_at_once", many_at_once},
    {"large_and_fast", large_and_fast},
    {"frees_at_thread_exit", frees_at_thread_exit},
    {"handlers_allocate", handlers_allocate},
    {"handlers_inside_hooks", handlers_inside_hooks},
    {"handlers_on_their_own_stack", handlers_on_their_own_stack},
    {"handlers_fork", handlers_fork},
    {"handler_jumps_out", handler_jumps_out},
    {"coroutines", coroutines},
    {"blocks_cross_threads", blocks_cross_threads},
    {"exit_beside_busy_threads", exit_beside_busy_threads},
    {"cancel", cancel},
    {"main_thread_ends_first", main_thread_ends_first},
    {0},
};
