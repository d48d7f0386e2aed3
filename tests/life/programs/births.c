/* SPDX-License-Identifier: MIT */
/* births.c: every way in which a process can get a child, and what it can see of its children. */
#include "tests/life/programs/case.h"
#include "tests/life/shadow.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int fork_without_exec(void)
{
	void *inherited = malloc(500);

	churn(5);
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();

		if (child == 0) {
			free(inherited);
			churn(5 + i);
			if (i % 2)
				exit(i);
			_exit(i);
		}
		print_end("child", child);
	}
	churn(5);
	free(inherited);
	return 0;
}

static int fork_of_forks(void)
{
	churn(2);
	for (int depth = 0; depth < 6; depth++) {
		pid_t child = fork();

		churn(2);
		if (child) {
			print_end("child", child);
			return depth;
		}
	}
	return 42;
}

static int fork_that_execs(void)
{
	pid_t child;

	churn(5);
	child = fork();
	if (child == 0) {
		churn(1);
		execl("/proc/self/exe", "life", "end_by_return", (char *)NULL);
		_exit(90);
	}
	print_end("child", child);
	return 0;
}

/* Its heap changes are the parent's: the block lives on, the freed one is used again. */
static int vfork_child_allocates(void)
{
	static void *volatile given, *volatile taken;
	static char *const words[] = {(char *)"true", NULL};
	pid_t child;

	churn(2);
	taken = malloc(5000);
	child = vfork();
	if (child == 0) {
		given = malloc(6000);
		free(taken);
		execv("/bin/true", words);
		_exit(90);
	}
	print_end("vfork child that execs", child);
	free(given);
	child = vfork();
	if (child == 0) {
		given = malloc(7000);
		_exit(11);
	}
	print_end("vfork child that ends", child);
	free(given);
	churn(2);
	return 0;
}

static int spawn(void)
{
	static char *const words[] = {(char *)"sh", (char *)"-c", (char *)"echo spawned; exit 12", NULL};
	static char *const none[] = {NULL};
	pid_t child;

	churn(2);
	if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0)
		print_end("posix_spawn", child);
	if (posix_spawnp(&child, "sh", NULL, NULL, words, environ) == 0)
		print_end("posix_spawnp", child);
	if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, none) == 0)
		print_end("with an empty environment", child);
	say("missing: %d\n", posix_spawn(&child, "/nonexistent", NULL, NULL, words, environ));
	churn(2);
	return 0;
}

static int system_and_popen(void)
{
	char line[64] = "";
	FILE *pipe;

	say("system: %d\n", WEXITSTATUS(system("echo by system; exit 13")));
	pipe = popen("echo by popen", "r");
	if (pipe && fgets(line, sizeof line, pipe))
		say("%s", line);
	say("pclose: %d\n", pipe ? pclose(pipe) : -1);
	return 0;
}

static int fork_behind_libc(void)
{
	churn(2);
	for (int way = 0; way < 2; way++) {
		pid_t child = way ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : _Fork();

		if (child == 0) {
			churn(3);
			_exit(14 + way);
		}
		print_end(way ? "raw clone" : "_Fork", child);
	}
	churn(2);
	return 0;
}

static int clone_main(void *argument)
{
	(void)argument;
	churn(3);
	return 17;
}

static int clone_function(void)
{
	char *stack = malloc(256 << 10);
	pid_t child = clone(clone_main, stack + (256 << 10), SIGCHLD, NULL);

	print_end("clone", child);
	free(stack);
	return 0;
}

/* As a daemon does it: a second fork, no terminal, no descriptor, no root folder, no rights. */
static void be_a_daemon(int report)
{
	churn(3);
	if (dup2(report, 3) < 0)
		_exit(91);
	closefrom(4);
	churn(3);
	if (chroot("/proc/self/fdinfo") != 0 || chdir("/") != 0)
		_exit(77);
	churn(30);
	if (setgroups(0, NULL) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
		_exit(78);
	churn(30);
	if (write(3, "daemon done\n", 12) != 12)
		_exit(79);
	_exit(0);
}

static int daemon_life(void)
{
	int ends[2];
	char line[64];
	ssize_t length, sum = 0;
	pid_t child;

	if (pipe(ends) != 0)
		return 92;
	child = fork();
	if (child == 0) {
		churn(1);
		setsid();
		if (fork() == 0)
			be_a_daemon(ends[1]);
		_exit(0);
	}
	print_end("middle", child);
	close(ends[1]);
	while ((length = read(ends[0], line, sizeof line)) > 0) {
		sum += length;
		if (write(1, line, (size_t)length) != length)
			return 93;
	}
	return sum == 12 ? 0 : 94;
}

/* Orphans come to a subreaper: none of ours may. */
static int subreaper(void)
{
	int status;
	pid_t child;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	churn(3);
	child = fork();
	if (child == 0) {
		churn(1);
		if (fork() == 0) {
			churn(1);
			_exit(18);
		}
		_exit(19);
	}
	while ((child = wait(&status)) > 0)
		say("reaped %d\n", WEXITSTATUS(status));
	say("%s\n", strerror(errno));
	return 0;
}

static int sigchld_ignored(void)
{
	pid_t child;

	signal(SIGCHLD, SIG_IGN);
	churn(3);
	child = fork();
	if (child == 0) {
		churn(1);
		_exit(1);
	}
	say("waitpid: %s\n", waitpid(child, NULL, 0) < 0 ? strerror(errno) : "a child");
	return 0;
}

static volatile sig_atomic_t children_seen;

static void on_child(int number)
{
	(void)number;
	children_seen++;
}

/* A thread that takes every child it can get: it must see the program's one and no other, until the very end.
 */
static void *wait_for_all(void *argument)
{
	struct timespec pause = {.tv_nsec = 200000};
	int *seen = argument, status;

	for (;;) {
		if (waitpid(-1, &status, __WALL) > 0)
			__atomic_fetch_add(seen, 1, __ATOMIC_RELAXED);
		else
			nanosleep(&pause, NULL);
	}
	return NULL;
}

static int waiting_thread(void)
{
	static int seen;
	struct timespec pause = {.tv_nsec = 1000000};
	pthread_t thread;
	pid_t child;

	signal(SIGCHLD, on_child);
	if (pthread_create(&thread, NULL, wait_for_all, &seen) != 0)
		return 95;
	churn(10);
	child = fork();
	if (child == 0) {
		churn(1);
		_exit(1);
	}
	while (!__atomic_load_n(&seen, __ATOMIC_RELAXED))
		nanosleep(&pause, NULL);
	churn(50);
	say("children %d, signals %d\n", seen, (int)children_seen);
	return 0;
}

/* No child, no signal of a child, at any time of a program that has none. */
static int no_children(void)
{
	int status;

	signal(SIGCHLD, on_child);
	churn(300);
	say("wait: %s, signals %d\n",
	    waitpid(-1, &status, WNOHANG | __WALL) < 0 ? strerror(errno) : "a child", (int)children_seen);
	return 0;
}

const struct life_case birth_cases[] = {
    {"fork_without_exec", fork_without_exec},
    {"fork_of_forks", fork_of_forks},
    {"fork_that_execs", fork_that_execs},
    {"vfork_child_allocates", vfork_child_allocates},
    {"spawn", spawn},
    {"system_and_popen", system_and_popen},
    {"fork_behind_libc", fork_behind_libc},
    {"clone_function", clone_function},
    {"daemon", daemon_life},
    {"subreaper", subreaper},
    {"sigchld_ignored", sigchld_ignored},
    {"waiting_thread", waiting_thread},
    {"no_children", no_children},
    {0},
};
