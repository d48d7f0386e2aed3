/* SPDX-License-Identifier: MIT */
/* overhead_run.c: runs a command and writes what it took: wall ms, user + sys ms of it and all whom it waited
 * for, and the highest RSS of one of them in KiB.
 *
 *     overhead_run FILE COMMAND WORDS..     its output is thrown away; status: the command's
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static double ms(struct timeval time)
{
	return (double)time.tv_sec * 1e3 + (double)time.tv_usec * 1e-3;
}

int main(int count, char **words)
{
	posix_spawn_file_actions_t quiet;
	struct rusage usage;
	double begin, wall;
	int status;
	pid_t child;
	FILE *file;

	if (count < 3 || !(file = fopen(words[1], "we")))
		return 2;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
	begin = now_ms();
	if (posix_spawnp(&child, words[2], &quiet, NULL, words + 2, environ) != 0)
		return 127;
	while (wait4(child, &status, 0, &usage) != child)
		;
	wall = now_ms() - begin;
	fprintf(file, "%.4f %.3f %ld\n", wall, ms(usage.ru_utime) + ms(usage.ru_stime), usage.ru_maxrss);
	fclose(file);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
