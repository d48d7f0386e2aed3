/* SPDX-License-Identifier: MIT */
/* marks.c: each call of rvprof.h, in a place of its own; what a child by fork, a signal handler and a second
 * thread say; and what is too long. Its output is the same with and without the profiler, but for `active`.
 */
#include <rvprof.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KIB = 1024 };

static void *in_thread(void *argument)
{
	rvprof_scope_begin("gradient", "of the thread");
	argument = malloc(300 * KIB);
	rvprof_scope_end();
	return argument;
}

static void on_signal(int number)
{
	(void)number;
	rvprof_snapshot("in a handler");
}

static void nested(void)
{
	RVPROF_SCOPE("nested");
	rvprof_op_begin("matmul", "temp", "T<2x3xf32>");
	free(malloc(120 * KIB));
	rvprof_op_end();
}

static void child(void *inherited)
{
	int status;

	fflush(stdout);
	if (fork() == 0) {
		rvprof_metric("child", 2.5);
		rvprof_scope_begin("optimizer", "in the child");
		free(malloc(250 * KIB));
		rvprof_scope_end();
		free(inherited);
		exit(7);
	}
	wait(&status);
	printf("child %d\n", WEXITSTATUS(status));
}

int main(void)
{
	static char lengthy[3000];
	void *weights, *cache, *of_thread;
	pthread_t thread;

	printf("active %d\n", rvprof_active());
	errno = 77;
	rvprof_scope_begin("weights", "w");
	weights = malloc(400 * KIB);
	rvprof_scope_end();
	cache = malloc(200 * KIB);
	rvprof_tag(cache, 200 * KIB, "kv_cache", "layer 0");
	nested();
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, &of_thread);
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	for (unsigned i = 0; i < 3; i++) {
		rvprof_step_begin("decode", 10 + i);
		free(malloc(64 * KIB));
		rvprof_step_end();
	}
	rvprof_snapshot("here");
	rvprof_metric("accuracy", 0.99);
	memset(lengthy, 'x', sizeof lengthy - 1);
	rvprof_op_begin(lengthy, NULL, NULL);
	rvprof_op_end();
	rvprof_scope_end(); /* of nothing */
	rvprof_scope_begin(NULL, NULL);
	rvprof_tag(NULL, 0, NULL, NULL);
	rvprof_scope_end();
	child(weights);
	printf("errno %d\n", errno == 77 || errno == 0);
	free(of_thread);
	return 0;
}
