/* SPDX-License-Identifier: MIT */
/* fork_steps.c: forks in a signal handler at each instruction of a malloc and of a free, one after the other. Each child goes
 * on from there, and has to end well. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { TRAP_FLAG = 0x100, STEPS_MAX = 20000, AFTER = 64 };

static volatile int steps, fork_at;
static volatile pid_t child;

static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *registers = context;

	(void)signal, (void)info;
	if (steps++ != fork_at)
		return;
	child = _Fork();
	registers->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* Below the red zone. */
#define CHANGE_FLAGS(how)                                                                             \
	__asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" how ", (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" \
			 :                                                                            \
			 :                                                                            \
			 : "cc", "memory")

static void step(void)
{
	CHANGE_FLAGS("orq $0x100");
}

static void stop(void)
{
	CHANGE_FLAGS("andq $~0x100");
}

static __attribute__((noinline)) void use(void)
{
	void *volatile block = malloc(100);

	free(block);
}

/* Of the child, from where it was born. */
static void end(void)
{
	for (int i = 0; i < AFTER; i++)
		use();
	_exit(0);
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
	int failed = 0;

	sigaction(SIGTRAP, &action, NULL);
	for (fork_at = 0; fork_at < STEPS_MAX; fork_at++) {
		int status = 0;

		for (int i = 0; i < AFTER; i++)
			use();
		steps = 0;
		child = -1;
		step();
		use();
		stop();
		if (child == 0)
			end();
		if (child < 0)
			break;
		if (waitpid(child, &status, 0) != child || status != 0) {
			printf("born at instruction %d: status %d\n", fork_at, status);
			failed = 1;
		}
	}
	printf("%d instructions\n", fork_at);
	return failed || fork_at == 0;
}
