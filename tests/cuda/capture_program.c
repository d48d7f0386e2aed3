/* SPDX-License-Identifier: MIT */
/* capture_program.c: a client that says by cudaProfilerStart and cudaProfilerStop which part of it is of interest: host
 * blocks of 100 KiB and a launch before, 200 KiB and two within, 300 KiB
 * and four behind, `count` times. */
#include "tests/cuda/client.h"

enum { KIB = 1024 };

static void hold(size_t bytes, int launches)
{
	void *volatile block = malloc(bytes);
	void *device = client_alloc(4096);

	for (int i = 0; i < launches; i++)
		client_launch("work", 4, 32, NULL);
	MUST(cudaDeviceSynchronize());
	client_free(device);
	free(block);
}

int run_capture(int count)
{
	for (int i = 0; i < count; i++) {
		hold(100 * KIB, 1);
		MUST(cudaProfilerStart());
		hold(200 * KIB, 2);
		MUST(cudaProfilerStop());
		hold(300 * KIB, 4);
	}
	return 0;
}
