/* SPDX-License-Identifier: MIT */
/* ledger_shared.c: ledger_shared CHILDREN MIB MS: writes MIB of memory, forks children that read it and hold it together with it, and says
 * what each of them is: so much is shared by CHILDREN + 1 processes. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned read_all(const volatile char *block, size_t bytes)
{
	unsigned sum = 0;

	for (size_t i = 0; i < bytes; i += 4096)
		sum += (unsigned char)block[i];
	return sum;
}

int main(int argc, char **argv)
{
	int children = argc > 3 ? atoi(argv[1]) : 3;
	size_t bytes = (size_t)(argc > 3 ? atoi(argv[2]) : 64) << 20;
	long ms = argc > 3 ? atol(argv[3]) : 1500;
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};
	char *block = malloc(bytes);

	memset(block, 1, bytes);
	for (int i = 0; i < children; i++)
		if (fork() == 0) {
			nanosleep(&time, NULL);
			_exit(read_all(block, bytes) != bytes / 4096);
		}
	nanosleep(&time, NULL);
	for (int status, failed = 0; wait(&status) > 0;)
		if ((failed |= status))
			return 1;
	printf("shared_bytes=%zu\n", bytes);
	return 0;
}
