/* SPDX-License-Identifier: MIT */
/* run_program.c: see run_program.h. */
#include "tools/run_program.h"

#include "record/run_folder.h"
#include "tools/process_stat.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* All that can be caught and has not its cause in ourselves (faults, a broken pipe, job control by the
 * terminal). */
static void signals_to_pass(sigset_t *set)
{
	static const int not_passed[] = {SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGTRAP, SIGABRT,
					 SIGSYS,  SIGPIPE, SIGTTIN, SIGTTOU, SIGXCPU, SIGXFSZ};

	sigfillset(set);
	for (size_t i = 0; i < sizeof not_passed / sizeof *not_passed; i++)
		sigdelset(set, not_passed[i]);
}

struct rvp_status rvp_program_prepare(struct rvp_program *program)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	int ends[2];
	sigset_t set;

	memset(program, 0, sizeof *program);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return rvp_fail("make a socket pair", NULL, errno);
	signals_to_pass(&set);
	sigprocmask(SIG_BLOCK, &set, &program->mask);
	sigaction(SIGCHLD, &usual, &program->child_action); /* if it was ignored we could not wait */
	sigaction(SIGPIPE, NULL, &program->pipe_action);
	program->pid = fork();
	program->channel = ends[program->pid == 0];
	if (program->pid < 0)
		return rvp_fail("fork", NULL, errno);
	close(ends[program->pid != 0]);
	if (program->pid == 0)
		return RVP_OK;
	signal(SIGPIPE, SIG_IGN);
	program->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return program->signals < 0 ? rvp_fail("make a signalfd", NULL, errno) : RVP_OK;
}

/* All of `bytes`, or false at the other's end. */
static bool receive(int channel, void *into, size_t bytes)
{
	for (char *at = into; bytes;) {
		ssize_t got = recv(channel, at, bytes, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		bytes -= (size_t)got;
	}
	return true;
}

void rvp_program_become(struct rvp_program *program, char **argv, rvp_before_exec *before, void *context)
{
	char word[RVP_FOLDER_BYTES];
	int failed;

	if (!receive(program->channel, word, sizeof word))
		_exit(EXIT_FAILURE);
	failed = before(word, context);
	sigaction(SIGCHLD, &program->child_action, NULL);
	sigaction(SIGPIPE, &program->pipe_action, NULL);
	sigprocmask(SIG_SETMASK, &program->mask, NULL);
	if (!failed) {
		execvp(argv[0], argv);
		failed = errno;
	}
	send(program->channel, &failed, sizeof failed, MSG_NOSIGNAL);
	_exit(EXIT_FAILURE);
}

int rvp_program_go(struct rvp_program *program, const char *word)
{
	char message[RVP_FOLDER_BYTES] = "";
	int failed = 0;

	snprintf(message, sizeof message, "%s", word);
	if (send(program->channel, message, sizeof message, MSG_NOSIGNAL) != sizeof message)
		failed = EPIPE;
	if (!failed && !receive(program->channel, &failed, sizeof failed))
		failed = 0; /* exec closed the other end */
	close(program->channel);
	if (failed)
		waitpid(program->pid, NULL, 0);
	return failed;
}

void rvp_program_cancel(struct rvp_program *program)
{
	close(program->channel);
	waitpid(program->pid, NULL, 0);
}

static bool is_the_foreground(void)
{
	return isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* Stops us as the terminal's ^Z would: not in a group that nobody could continue (the kernel sees to that).
 */
static void stop(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* The child stopped. A shell waits for us and not for it, so in its foreground we stop as well. */
static void follow_stop(int how)
{
	if ((how == SIGTSTP || how == SIGTTIN || how == SIGTTOU) && is_the_foreground())
		stop();
}

/* Everything that ended or stopped: the program, and orphans when we are PID 1 or a subreaper. */
static void collect(struct rvp_program *program)
{
	int how;
	pid_t pid;

	while ((pid = waitpid(-1, &how, WNOHANG | WUNTRACED)) > 0) {
		if (pid != program->pid)
			continue;
		if (WIFSTOPPED(how)) {
			follow_stop(WSTOPSIG(how));
			continue;
		}
		program->ended = true;
		program->wait_status = how;
	}
}

static bool is_from_the_terminal(const struct signalfd_siginfo *info)
{
	switch (info->ssi_signo) {
	case SIGINT:
	case SIGQUIT:
	case SIGHUP:
	case SIGTSTP:
	case SIGWINCH: return info->ssi_code == SI_KERNEL;
	default: return false;
	}
}

static void send_on(struct rvp_program *program, const struct signalfd_siginfo *info)
{
	union sigval value = {.sival_ptr = (void *)(uintptr_t)info->ssi_ptr};

	if (info->ssi_code == SI_QUEUE)
		sigqueue(program->pid, (int)info->ssi_signo, value);
	else
		kill(program->pid, (int)info->ssi_signo);
}

static void pass(struct rvp_program *program, const struct signalfd_siginfo *info)
{
	if (info->ssi_signo == SIGCHLD) {
		collect(program);
		return;
	}
	if (program->ended)
		return;
	if (info->ssi_signo == SIGCONT) {
		if (rvp_process_state(program->pid) == 'T')
			kill(program->pid, SIGCONT);
		return;
	}
	if (!is_from_the_terminal(info))
		send_on(program, info);
	if (info->ssi_signo == SIGTSTP)
		stop();
}

void rvp_program_wait(struct rvp_program *program, int64_t timeout_ns)
{
	struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
	struct pollfd ready = {.fd = program->signals, .events = POLLIN};
	struct signalfd_siginfo info;

	if (ppoll(&ready, 1, timeout_ns < 0 ? NULL : &timeout, NULL) <= 0)
		return;
	while (!program->ended && read(program->signals, &info, sizeof info) == sizeof info)
		pass(program, &info);
}

void rvp_program_done(struct rvp_program *program)
{
	close(program->signals);
	sigprocmask(SIG_SETMASK, &program->mask, NULL);
}

static void raise_again(int number)
{
	struct rlimit none = {0, 0};
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
}

int rvp_program_pass_on(int wait_status)
{
	if (WIFEXITED(wait_status))
		return WEXITSTATUS(wait_status);
	raise_again(WTERMSIG(wait_status));
	return 128 + WTERMSIG(wait_status);
}
