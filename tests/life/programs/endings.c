/* SPDX-License-Identifier: MIT */
/* endings.c: every way in which a process can end. */
#include "tests/life/programs/case.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void *volatile nowhere = (void *)8;

static void no_core(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
}

static int end_by_return(void)
{
	churn(20);
	printf("returned\n");
	return 3;
}

static void say_bye(void)
{
	free(malloc(1234));
	say("handler of atexit\n");
}

static int end_by_exit(void)
{
	atexit(say_bye);
	churn(20);
	exit(4);
}

static int end_by__exit(void)
{
	churn(20);
	_exit(5);
}

static int end_by__Exit(void)
{
	churn(20);
	_Exit(6);
}

static int end_by_quick_exit(void)
{
	at_quick_exit(say_bye);
	churn(20);
	quick_exit(7);
}

static int end_by_abort(void)
{
	no_core();
	churn(20);
	abort();
}

static int end_by_raw_syscall(void)
{
	churn(20);
	syscall(231, 8); /* exit_group, past every hook */
	return 0;
}

/* A child for each signal that ends a process; its status is told as it was. */
static int end_by_every_signal(void)
{
	no_core();
	for (int number = 1; number < SIGRTMAX; number++) {
		pid_t child;

		if (number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH ||
		    number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU ||
		    number == 32 || number == 33)
			continue;
		child = fork();
		if (child == 0) {
			churn(1);
			raise(number);
			_exit(0);
		}
		print_end("child", child);
	}
	return 0;
}

static int end_by_fault(void)
{
	no_core();
	churn(20);
	*(volatile int *)nowhere = 1;
	return 0;
}

static void on_fault(int number)
{
	free(malloc(77));
	say("handler of signal %d\n", number);
	_exit(9);
}

static int end_in_handler(void)
{
	signal(SIGSEGV, on_fault);
	churn(20);
	*(volatile int *)nowhere = 1;
	return 0;
}

static int end_by_exec(void)
{
	churn(20);
	execl("/bin/echo", "echo", "another program", (char *)NULL);
	return 90;
}

static int end_by_exec_of_itself(void)
{
	churn(20);
	execl("/proc/self/exe", "life", "end_by_return", (char *)NULL);
	return 90;
}

static int failed_exec(void)
{
	churn(5);
	execl("/nonexistent/program", "program", (char *)NULL);
	say("%s\n", strerror(errno));
	churn(5);
	return 0;
}

static int end_with_live_blocks(void)
{
	char *volatile kept[100];

	for (int i = 0; i < 100; i++)
		kept[i] = malloc((size_t)i * 1000);
	say("%d\n", kept[99] != NULL);
	return 0;
}

const struct life_case ending_cases[] = {
    {"end_by_return", end_by_return},
    {"end_by_exit", end_by_exit},
    {"end_by__exit", end_by__exit},
    {"end_by__Exit", end_by__Exit},
    {"end_by_quick_exit", end_by_quick_exit},
    {"end_by_abort", end_by_abort},
    {"end_by_raw_syscall", end_by_raw_syscall},
    {"end_by_every_signal", end_by_every_signal},
    {"end_by_fault", end_by_fault},
    {"end_in_handler", end_in_handler},
    {"end_by_exec", end_by_exec},
    {"end_by_exec_of_itself", end_by_exec_of_itself},
    {"failed_exec", failed_exec},
    {"end_with_live_blocks", end_with_live_blocks},
    {0},
};
