/* SPDX-License-Identifier: MIT */
/* ledger_driver.c: ledger_driver vfork|spawn CMD...: as a compiler's driver: few calls, then some MiB are touched that no
 * hook sees, then it waits for CMD and does nothing else until it ends.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char touched[24 << 20];

static pid_t start_by_vfork(char **command)
{
	pid_t pid = vfork();

	if (!pid) {
		execvp(command[0], command);
		_exit(127);
	}
	return pid;
}

static pid_t start_by_spawn(char **command)
{
	pid_t pid;

	return posix_spawnp(&pid, command[0], NULL, NULL, command, environ) ? -1 : pid;
}

int main(int argc, char **argv)
{
	char *block = malloc(20000);
	int status = 1;
	pid_t pid;

	if (argc < 3)
		return 2;
	memset(block, 1, 20000);
	memset(touched, 1, sizeof touched);
	printf("driver_bytes=%zu\n", sizeof touched);
	fflush(stdout);
	pid = strcmp(argv[1], "spawn") ? start_by_vfork(argv + 2) : start_by_spawn(argv + 2);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 3;
	return status || block[100] + touched[100] != 2;
}
