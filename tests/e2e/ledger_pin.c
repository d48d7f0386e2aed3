/* SPDX-License-Identifier: MIT */
/* ledger_pin.c: gives 200 MB back below one block of 2,000 bytes that lives, then that block too, and says what each made of
 * RSS and of what malloc_info says is free: the second is what the first was pinned by. */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCKS = 3200, BLOCK_BYTES = 64000, PIN_BYTES = 2000 };

static long resident_bytes(void)
{
	long all = 0, resident = 0;
	static char text[4096];
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || setvbuf(file, text, _IOFBF, sizeof text) || fscanf(file, "%ld %ld", &all, &resident) != 2)
		exit(2);
	fclose(file);
	return resident * 4096;
}

__attribute__((noinline)) static char *make_the_pin(void)
{
	char *pin = malloc(PIN_BYTES);

	memset(pin, 1, PIN_BYTES);
	return pin;
}

int main(int argc, char **argv)
{
	char **blocks = malloc(BLOCKS * sizeof *blocks), *pin;
	static char buffer[4096];
	long before, kept;

	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	resident_bytes(); /* what reading takes lies below all else then */
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(BLOCK_BYTES);
		memset(blocks[i], 1, BLOCK_BYTES);
	}
	pin = make_the_pin();
	before = resident_bytes();
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	free(blocks);
	kept = resident_bytes();
	printf("given_back_bytes=%ld\nfree_bytes=%zu\n", before - kept, mallinfo2().fordblks);
	if (argc > 1) {
		fflush(stdout);
		_exit(0); /* with the pin */
	}
	free(pin);
	printf("pinned_bytes=%ld\n", kept - resident_bytes());
	fflush(stdout);
	_exit(0);
}
