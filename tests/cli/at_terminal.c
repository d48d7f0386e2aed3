/* SPDX-License-Identifier: MIT */
/* at_terminal.c: at_terminal KEYS CMD [ARG..]: runs CMD as a session of its own at a new terminal, types KEYS
 * once it has printed a line with "ready" in it ('^C' as two letters is control-C, a dot waits 0.3 s), prints
 * what it prints, and at last its status. */
#include <poll.h>
#include <pty.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { TEXT_BYTES = 65536, PATIENCE_MS = 10000 };

static char text[TEXT_BYTES];
static size_t length;

/* Reads for so long, or until the other end is closed (false). */
static bool listen_for(int terminal, int ms)
{
	struct pollfd ready = {.fd = terminal, .events = POLLIN};
	ssize_t got;

	if (poll(&ready, 1, ms) <= 0)
		return true;
	got = read(terminal, text + length, sizeof text - length - 1);
	if (got <= 0)
		return false;
	length += (size_t)got;
	return true;
}

static void type(int terminal, const char *keys)
{
	for (; *keys; keys++) {
		char key = *keys;

		if (key == '.') {
			usleep(300000);
			continue;
		}
		if (key == '^')
			key = *++keys & 31;
		if (write(terminal, &key, 1) != 1)
			return;
	}
}

static void echo_off(int terminal)
{
	struct termios mode;

	tcgetattr(terminal, &mode);
	mode.c_lflag &= ~(tcflag_t)ECHO;
	tcsetattr(terminal, TCSANOW, &mode);
}

static void print(void)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] != '\r')
			putchar(text[i]);
}

int main(int argc, char **argv)
{
	int terminal, how;
	pid_t pid;

	if (argc < 3)
		return 2;
	pid = forkpty(&terminal, NULL, NULL, NULL);
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	echo_off(terminal);
	while (!strstr(text, "ready") && listen_for(terminal, PATIENCE_MS))
		;
	type(terminal, argv[1]);
	while (listen_for(terminal, PATIENCE_MS))
		;
	waitpid(pid, &how, 0);
	print();
	if (WIFSIGNALED(how))
		printf("signal %d\n", WTERMSIG(how));
	else
		printf("status %d\n", WEXITSTATUS(how));
	return 0;
}
