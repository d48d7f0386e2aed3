/* SPDX-License-Identifier: MIT */
/* hold.c: hold MIB MS [MIB MS ..]: holds so much touched memory for so long, then the next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static void *take(size_t bytes)
{
	void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (block == MAP_FAILED)
		exit(2);
	memset(block, 1, bytes);
	return block;
}

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		size_t bytes = strtoul(argv[i], NULL, 10) << 20;
		long ms = strtol(argv[i + 1], NULL, 10);
		struct timespec time = {ms / 1000, ms % 1000 * 1000000};
		void *block = bytes ? take(bytes) : NULL;

		nanosleep(&time, NULL);
		if (block)
			munmap(block, bytes);
	}
	return 0;
}
