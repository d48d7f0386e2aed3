/* SPDX-License-Identifier: MIT */
/* count_signals.c: count_signals MS: counts what it is sent for so long and prints it: "INT 1 TSTP 0 ...". */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile sig_atomic_t count[NSIG];

static void note(int number)
{
	count[number]++;
}

int main(int argc, char **argv)
{
	static const int numbers[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGWINCH};
	long ms = argc > 1 ? strtol(argv[1], NULL, 10) : 500;
	struct timespec left = {ms / 1000, ms % 1000 * 1000000};
	struct sigaction action = {.sa_handler = note};

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaction(numbers[i], &action, NULL);
	puts("ready");
	fflush(stdout);
	while (nanosleep(&left, &left))
		;
	printf("INT %d QUIT %d TERM %d HUP %d USR1 %d WINCH %d\n", (int)count[SIGINT], (int)count[SIGQUIT],
	       (int)count[SIGTERM], (int)count[SIGHUP], (int)count[SIGUSR1], (int)count[SIGWINCH]);
	return 3;
}
