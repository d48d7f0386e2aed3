/* SPDX-License-Identifier: MIT */
/* capture_program.c: a client that says by cudaProfilerStart and cudaProfilerStop which part of it is of interest: host
 * blocks of 100 KiB before, 200 KiB within, 300 KiB behind, `count` times. */
#include "tests/cuda/client.h"

enum { KIB = 1024 };

static void hold(size_t bytes)
{
	void *volatile block = malloc(bytes);
	void *device = client_alloc(4096);

	client_free(device);
	free(block);
}

int run_capture(int count)
{
	for (int i = 0; i < count; i++) {
		hold(100 * KIB);
		MUST(cudaProfilerStart());
		hold(200 * KIB);
		MUST(cudaProfilerStop());
		hold(300 * KIB);
	}
	return 0;
}
