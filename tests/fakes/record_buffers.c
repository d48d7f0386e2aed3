/* SPDX-License-Identifier: MIT */
/* record_buffers.c: an injection library that is a plain CUPTI client and no part of the profiler: writes
 * each buffer that it gets to the file $RECORD_BUFFERS, behind its length (8 bytes). For walk.c, and as a
 * tool that was there first. Kinds: all that the simulation makes. */
#include "cupti/abi.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUFFER_BYTES = 16 << 10 };

static int file = -1;
static uint32_t (*flush)(uint32_t);

static void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	void *pages = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*buffer = pages == MAP_FAILED ? NULL : pages;
	*bytes = BUFFER_BYTES;
	*most = 0;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	uint64_t length = valid;

	(void)context, (void)stream;
	if (write(file, &length, sizeof length) != sizeof length ||
	    write(file, buffer, valid) != (ssize_t)valid)
		abort();
	munmap(buffer, bytes);
}

static void finish(void)
{
	flush(RVP_CUPTI_FLUSH_FORCED);
}

__attribute__((visibility("default"))) int InitializeInjection(void);
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	static const uint32_t kinds[] = {
	    RVP_CUPTI_CONCURRENT_KERNEL, RVP_CUPTI_MEMCPY,      RVP_CUPTI_MEMSET,
	    RVP_CUPTI_MEMORY2,           RVP_CUPTI_MEMORY_POOL, RVP_CUPTI_SYNCHRONIZATION,
	    RVP_CUPTI_RUNTIME,           RVP_CUPTI_DRIVER,      RVP_CUPTI_MEMCPY_PEER};
	const char *name = getenv("CUPTI_LIBRARY"), *to = getenv("RECORD_BUFFERS");
	void *library = dlopen(name ? name : "libcupti.so.13", RTLD_NOW);
	uint32_t (*enable)(uint32_t), (*set)(rvp_cupti_request, rvp_cupti_complete);

	if (!library || !to)
		return 0;
	file = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	flush = (uint32_t(*)(uint32_t))dlsym(library, "cuptiActivityFlushAll");
	enable = (uint32_t(*)(uint32_t))dlsym(library, "cuptiActivityEnable");
	set = (uint32_t(*)(rvp_cupti_request, rvp_cupti_complete))dlsym(library,
									"cuptiActivityRegisterCallbacks");
	if (file < 0 || !flush || !enable || !set || set(request, complete) != RVP_CUPTI_SUCCESS)
		return 0;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		enable(kinds[i]);
	if (getenv("RECORD_GRAPHS"))
		enable(RVP_CUPTI_GRAPH_TRACE);
	atexit(finish);
	return 1;
}
