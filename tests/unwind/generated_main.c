/* SPDX-License-Identifier: MIT */
/* generated_main.c: runs generated functions in threads, coroutines, signal handlers, and in libraries that
 * take each other's place.
 *
 *     PROGRAM SEED ROUNDS MODULE MODULE..     prints what of it took place
 */
#include "generated.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	THREADS = 3,
	COROUTINES = 4,
	COROUTINE_BYTES = 1 << 20,
	HANDLER_STACK_BYTES = 512 * 1024,
	STEPS_A_ROUND = 300,
	BUDGET = 60,
	DEEP_BUDGET = 600,
	HANDLER_BUDGET = 15,
};

struct coroutine {
	struct context context;
	ucontext_t inside, outside;
	struct context *resumer;
	void *stack;
	bool is_running; /* has begun, has not ended */
};

__thread struct context *here;
static __thread struct coroutine *coroutines, *running;
static _Atomic unsigned long jumps, signals, own_stack_signals, timer_signals, resumes, yields, module_calls,
    qsorts;
static unsigned long exchanges, same_places;
static void (*_Atomic module_function)(int budget);
static uint64_t seed;
static long rounds;

void jump_back(void)
{
	if (here->jump_count <= here->jump_floor)
		return;
	jumps++;
	longjmp(
	    *here->jumps[here->jump_floor + (int)(draw() % (uint64_t)(here->jump_count - here->jump_floor))],
	    1);
}

/* Nothing that runs in a handler jumps out of it. */
static void handle(int budget)
{
	int floor = here->jump_floor;

	here->jump_floor = here->jump_count;
	here->handlers++;
	any_function()(budget);
	event();
	here->handlers--;
	here->jump_floor = floor;
}

static void on_signal(int number)
{
	int error = errno;

	if (number == SIGUSR2)
		own_stack_signals++;
	else
		signals++;
	handle(HANDLER_BUDGET);
	errno = error;
}

/* Comes at any instruction: what may be called there are system calls. */
static void on_timer(int number)
{
	int error = errno;
	void *pages = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)number;
	timer_signals++;
	if (pages != MAP_FAILED)
		munmap(pages, 4096);
	errno = error;
}

void take_signal(int budget)
{
	if (budget > 0 && here->handlers < 2)
		raise(draw() % 2 ? SIGUSR1 : SIGUSR2);
}

static int compare_by_call(const void *a, const void *b, void *function)
{
	if (draw() % 4 == 0)
		(*(generated *)function)(3);
	return *(const int *)a - *(const int *)b;
}

void call_from_qsort(int budget, generated function)
{
	int numbers[4] = {3, 1, 4, 1};

	if (!step(budget))
		return;
	qsorts++;
	qsort_r(numbers, 4, sizeof *numbers, compare_by_call, &function);
}

static void coroutine_main(void)
{
	for (;;) {
		any_function()(BUDGET / 2);
		event();
		yield();
	}
}

void yield(void)
{
	struct coroutine *coroutine = running;

	if (!here->is_coroutine || here->handlers)
		return;
	yields++;
	running = NULL;
	here = coroutine->resumer;
	swapcontext(&coroutine->inside, &coroutine->outside);
}

static void begin_coroutine(struct coroutine *coroutine)
{
	coroutine->context = (struct context){.random = draw() | 1, .is_coroutine = true};
	coroutine->stack =
	    mmap(NULL, COROUTINE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	getcontext(&coroutine->inside);
	coroutine->inside.uc_stack.ss_sp = coroutine->stack;
	coroutine->inside.uc_stack.ss_size = COROUTINE_BYTES;
	coroutine->inside.uc_link = NULL;
	makecontext(&coroutine->inside, coroutine_main, 0);
	coroutine->is_running = true;
}

void resume_coroutine(int budget)
{
	struct coroutine *coroutine = &coroutines[draw() % COROUTINES];

	if (budget <= 0 || here->is_coroutine || here->handlers)
		return;
	if (!coroutine->is_running)
		begin_coroutine(coroutine);
	resumes++;
	coroutine->resumer = here;
	coroutine->context.steps = 20;
	running = coroutine;
	here = &coroutine->context;
	swapcontext(&coroutine->outside, &coroutine->inside);
}

/* A coroutine may sleep in a function for long, so that none enters a library that will be closed. */
void call_module(int budget)
{
	if (!here->may_use_module || here->is_coroutine || !module_function)
		return;
	module_calls++;
	module_function(budget);
}

static void give_handler_stack(void)
{
	stack_t stack = {.ss_size = HANDLER_STACK_BYTES};

	stack.ss_sp =
	    mmap(NULL, HANDLER_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&stack, NULL);
}

static void one_round(void)
{
	here->steps = STEPS_A_ROUND;
	here->jump_count = here->jump_floor = 0;
	any_function()(draw() % 50 ? BUDGET : DEEP_BUDGET);
}

static void run(struct context *context, long count)
{
	here = context;
	for (long i = 0; i < count; i++)
		one_round();
}

static void *thread_main(void *number)
{
	static struct context contexts[THREADS + 1];
	struct context *context = &contexts[(long)number];

	context->random = ((seed + 1) * 0x9e3779b97f4a7c15 ^ (uint64_t)number << 32) | 1;
	coroutines = calloc(COROUTINES, sizeof *coroutines);
	give_handler_stack();
	run(context, rounds);
	return NULL;
}

static void *open_module(const char *path)
{
	static void *last_place;
	void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL), *place;

	if (!module) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
	place = dlsym(module, "module_enter");
	module_function = (void (*)(int))place;
	exchanges++;
	same_places += ((uintptr_t)place & ~0xfffful) == ((uintptr_t)last_place & ~0xfffful);
	last_place = place;
	return module;
}

static void run_with_modules(struct context *context, int module_count, char **modules)
{
	enum { EXCHANGES = 40 };

	for (int i = 0; i < EXCHANGES; i++) {
		void *module = open_module(modules[i % module_count]);

		run(context, rounds / EXCHANGES);
		module_function = NULL;
		dlclose(module);
	}
}

static void install(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags | SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(number, &action, NULL);
}

int main(int count, char **words)
{
	static struct context context = {.may_use_module = true};
	struct itimerval often = {{0, 3000}, {0, 3000}};
	pthread_t threads[THREADS];

	if (count < 4)
		return 2;
	seed = strtoull(words[1], NULL, 10);
	rounds = atol(words[2]);
	context.random = seed * 0xbf58476d1ce4e5b9 | 1;
	coroutines = calloc(COROUTINES, sizeof *coroutines);
	install(SIGUSR1, on_signal, SA_NODEFER);
	install(SIGUSR2, on_signal, SA_NODEFER | SA_ONSTACK);
	install(SIGALRM, on_timer, 0);
	install(SIGPROF, on_timer, SA_ONSTACK);
	give_handler_stack();
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, thread_main, (void *)(i + 1));
	setitimer(ITIMER_REAL, &often, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	run_with_modules(&context, count - 3, words + 3);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("seed %lu: jumps %lu, signals %lu, on their own stack %lu, by timers %lu, coroutines resumed "
	       "%lu, "
	       "calls from qsort %lu, into a library %lu; libraries exchanged %lu times, at the same place "
	       "%lu\n",
	       seed, jumps, signals, own_stack_signals, timer_signals, resumes, qsorts, module_calls,
	       exchanges, same_places);
	return jumps && signals && own_stack_signals && timer_signals && resumes && qsorts && module_calls &&
		       same_places
		   ? 0
		   : 1;
}
