/* SPDX-License-Identifier: MIT */
/* plugin.c: a library that is loaded and unloaded, and allocates meanwhile. */
#include <stdlib.h>

void *plugin_allocate(size_t bytes, int depth);

__attribute__((noinline)) void *plugin_allocate(size_t bytes, int depth)
{
	void *volatile block = depth ? plugin_allocate(bytes, depth - 1) : malloc(bytes);

	return block;
}

static void *at_start;

__attribute__((constructor)) static void start(void)
{
	at_start = malloc(300);
}

__attribute__((destructor)) static void stop(void)
{
	free(at_start);
}
