/* SPDX-License-Identifier: MIT */
/* ledger_spike.c: ledger_spike free|unmap|move: holds a little, then for an instant much, and gives that back in one call.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LITTLE = 4 << 20, MUCH = 96 << 20 };

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "free";
	char *little = malloc(LITTLE), *much;

	memset(little, 1, LITTLE);
	if (!strcmp(how, "unmap")) {
		much = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		memset(much, 1, MUCH);
		munmap(much, MUCH);
	} else {
		much = malloc(MUCH);
		memset(much, 1, MUCH);
		if (!strcmp(how, "move"))
			much = realloc(much, 100000);
		free(much);
	}
	printf("spike_bytes=%d\n", MUCH);
	return little[100] - 1;
}
