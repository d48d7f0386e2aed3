/* SPDX-License-Identifier: MIT */
/* profiler_program.c: a program that starts a profiler of its own in the middle, as torch.profiler does: it subscribes to CUPTI,
 * gives it buffers (which are not zeroed) and counts the kernels of that stretch. What it prints of that is its own result: a
 * profiler around it must not change it. */
#include "cupti/abi.h"
#include "cupti/abi_callbacks.h"
#include "tests/cuda/client.h"

#include <dlfcn.h>
#include <string.h>

enum { BEFORE = 10, BEHIND = 5, BUFFER_BYTES = 1 << 16 };

static struct {
	int (*subscribe)(void **, rvp_cupti_callback, void *);
	int (*unsubscribe)(void *);
	int (*register_callbacks)(rvp_cupti_request, rvp_cupti_complete);
	int (*enable)(uint32_t), (*disable)(uint32_t);
	int (*flush)(uint32_t);
	int (*next_record)(uint8_t *, size_t, void **);
} cupti;
static int asked, given, foreign, kernels;

static void request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	memset(*buffer, 0xee, BUFFER_BYTES);
	*bytes = BUFFER_BYTES;
	*most = 0;
	asked++;
}

static void complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	void *record = NULL;

	(void)context, (void)stream;
	given++;
	if (bytes != BUFFER_BYTES) {
		foreign++;
		return;
	}
	while (valid && cupti.next_record(buffer, valid, &record) == RVP_CUPTI_SUCCESS)
		kernels += *(uint32_t *)record == RVP_CUPTI_CONCURRENT_KERNEL;
	free(buffer);
}

static void called(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user, (void)domain, (void)cbid, (void)data;
}

static void *find(void *library, const char *name)
{
	void *function = dlsym(library, name);

	if (!function) {
		fprintf(stderr, "%s: %s\n", name, dlerror());
		exit(3);
	}
	return function;
}

static void open_cupti(void)
{
	int version = 0;
	void *library;

	MUST(cudaDriverGetVersion(&version));
	library = dlopen(version < 13000 ? "libcupti.so.12" : "libcupti.so.13", RTLD_LAZY);
	if (!library) {
		fprintf(stderr, "no libcupti\n");
		exit(3);
	}
	*(void **)&cupti.subscribe = find(library, "cuptiSubscribe");
	*(void **)&cupti.unsubscribe = find(library, "cuptiUnsubscribe");
	*(void **)&cupti.register_callbacks = find(library, "cuptiActivityRegisterCallbacks");
	*(void **)&cupti.enable = find(library, "cuptiActivityEnable");
	*(void **)&cupti.disable = find(library, "cuptiActivityDisable");
	*(void **)&cupti.flush = find(library, "cuptiActivityFlushAll");
	*(void **)&cupti.next_record = find(library, "cuptiActivityGetNextRecord");
}

static void launch(const char *name, int count)
{
	for (int i = 0; i < count; i++)
		client_launch(name, 1, 32, NULL);
	MUST(cudaDeviceSynchronize());
}

int run_profiler(int count)
{
	void *block = client_alloc(1 << 20), *subscriber = NULL;
	int result;

	launch("before", BEFORE);
	open_cupti();
	result = cupti.subscribe(&subscriber, called, NULL);
	printf("subscribed: %d\n", result);
	if (result == RVP_CUPTI_SUCCESS) {
		cupti.register_callbacks(request, complete);
		cupti.enable(RVP_CUPTI_CONCURRENT_KERNEL);
	}
	launch("within", count);
	client_free(client_alloc(3 << 20));
	if (result == RVP_CUPTI_SUCCESS) {
		cupti.disable(RVP_CUPTI_CONCURRENT_KERNEL);
		cupti.flush(RVP_CUPTI_FLUSH_FORCED);
		cupti.unsubscribe(subscriber);
	}
	printf("its profiler: %d kernels; %d of %d buffers came back, %d of somebody else's\n", kernels, given, asked, foreign);
	launch("behind", BEHIND);
	client_free(block);
	return 0;
}
