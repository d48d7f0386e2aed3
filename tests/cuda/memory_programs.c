/* SPDX-License-Identifier: MIT */
/* memory_programs.c: clients that are about device memory. */
#include "tests/cuda/client.h"

#include <dlfcn.h>
#include <string.h>

enum { SLOTS = 512, PAGE = 2 << 20 };

static unsigned int draw(void)
{
	static unsigned int state = 12345;

	state = state * 1103515245 + 12345;
	return state >> 8;
}

/* Sizes from 1 byte to 4 MiB, most of them small. */
static size_t draw_size(void)
{
	unsigned int bits = 4 + draw() % 19;

	return 1 + draw() % (1u << bits);
}

int run_storm(int count)
{
	void *slots[SLOTS] = {NULL};

	for (int i = 0; i < count; i++) {
		unsigned int at = draw() % SLOTS;

		if (slots[at]) {
			client_free(slots[at]);
			slots[at] = NULL;
		} else {
			slots[at] = client_alloc(draw_size());
		}
	}
	for (unsigned int i = 0; i < SLOTS / 2; i++) /* the rest stays live to the end */
		if (slots[i])
			client_free(slots[i]);
	return 0;
}

static void own_pool(CUstream stream)
{
	CUmemPoolProps properties;
	CUmemoryPool pool;
	void *block;

	memset(&properties, 0, sizeof properties);
	properties.allocType = 1;
	properties.location = (CUmemLocation){CU_LOCATION_DEVICE, 0};
	MUST(cudaMemPoolCreate(&pool, &properties));
	MUST(cudaMallocFromPoolAsync(&block, 3 << 20, pool, stream));
	account_alloc(CLIENT_ORDERED, (unsigned long long)(uintptr_t)block, 3 << 20);
	client_free_async(block, stream);
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaMemPoolDestroy(pool));
}

int run_pools(int rounds)
{
	unsigned long long keep = 64 << 20;
	CUmemoryPool pool;
	CUstream stream;

	MUST(cudaStreamCreate(&stream));
	MUST(cudaDeviceGetDefaultMemPool(&pool, 0));
	MUST(cudaMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
	for (int i = 0; i < rounds; i++) {
		void *a = client_alloc_async(8 << 20, stream), *b = client_alloc_async(1000, stream);

		client_free_async(a, stream);
		client_free_async(b, stream);
		if (i % 8 == 7)
			MUST(cudaStreamSynchronize(stream));
	}
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaMemPoolTrimTo(pool, 0));
	own_pool(stream);
	/* A block of a pool may be freed by cudaFree too. */
	void *block = client_alloc_async(4096, stream);
	account_free(CLIENT_ORDERED, (unsigned long long)(uintptr_t)block);
	MUST(cudaFree(block));
	MUST(cudaStreamDestroy(stream));
	return 0;
}

static void host_kinds(void)
{
	void *pinned, *managed, *page = aligned_alloc(4096, 8192);

	MUST(cudaHostAlloc(&pinned, 3 << 20, 0));
	account_alloc(CLIENT_PINNED, (unsigned long long)(uintptr_t)pinned, 3 << 20);
	memset(pinned, 1, 3 << 20);
	MUST(cudaMallocManaged(&managed, 5 << 20, 1));
	account_alloc(CLIENT_MANAGED, (unsigned long long)(uintptr_t)managed, 5 << 20);
	memset(managed, 1, 5 << 20);
	MUST(cudaHostRegister(page, 8192, 0));
	MUST(cudaHostUnregister(page));
	free(page);
	account_free(CLIENT_MANAGED, (unsigned long long)(uintptr_t)managed);
	MUST(cudaFree(managed));
	account_free(CLIENT_PINNED, (unsigned long long)(uintptr_t)pinned);
	MUST(cudaFreeHost(pinned));
}

static void array_kinds(void)
{
	struct cudaChannelFormatDesc floats = {.x = 32, .f = 2};
	CUarray array;
	void *rows;
	size_t pitch;

	MUST(cudaMallocArray(&array, &floats, 640, 480, 0));
	account_alloc(CLIENT_ARRAY, (unsigned long long)(uintptr_t)array, 640 * 480 * 4);
	account_free(CLIENT_ARRAY, (unsigned long long)(uintptr_t)array);
	MUST(cudaFreeArray(array));
	MUST(cudaMallocPitch(&rows, &pitch, 1000, 100));
	account_alloc(CLIENT_PLAIN, (unsigned long long)(uintptr_t)rows, pitch * 100);
	client_free(rows);
}

int run_kinds(int unused)
{
	CUipcMemHandle handle;
	void *block = client_alloc(PAGE), *imported;

	(void)unused;
	host_kinds();
	array_kinds();
	MUST(cudaIpcGetMemHandle(&handle, block));
	MUST(cudaIpcOpenMemHandle(&imported, handle, 0)); /* a real one opens it in another process only */
	MUST(cudaIpcCloseMemHandle(imported));
	client_free(block);
	return 0;
}

/* The driver's functions that no runtime offers, found as PyTorch finds them. */
static void *driver_function(const char *name)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY), *function = library ? dlsym(library, name) : NULL;

	if (!function) {
		fprintf(stderr, "no %s\n", name);
		exit(3);
	}
	return function;
}
#define DRIVER_FUNCTION(name) ((__typeof__(((struct sim_driver *)NULL)->name))driver_function(#name))

/* As PyTorch's expandable segments: one large reservation, physical pages mapped to its end and unmapped
 * again. */
int run_segments(int rounds)
{
	enum { PAGES = 8 };
	CUdeviceptr base;
	CUmemGenericAllocationHandle handles[PAGES];
	CUmemAllocationProp properties;
	CUmemAccessDesc access = {{CU_LOCATION_DEVICE, 0}, 3};

	memset(&properties, 0, sizeof properties);
	properties.type = 1;
	properties.location = (CUmemLocation){CU_LOCATION_DEVICE, 0};
	MUST(cudaSetDevice(0));
	MUST(DRIVER_FUNCTION(cuMemAddressReserve)(&base, PAGES * PAGE, 0, 0, 0));
	/* Asked for what there is none of (it does so of handles for a fabric), which is no lack of memory. */
	properties.location.id = 99;
	if (DRIVER_FUNCTION(cuMemCreate)(&handles[0], PAGE, &properties, 0) == CUDA_SUCCESS)
		return 1;
	properties.location.id = 0;
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < PAGES; i++) {
			MUST(DRIVER_FUNCTION(cuMemCreate)(&handles[i], PAGE, &properties, 0));
			account_alloc(CLIENT_PHYSICAL, handles[i], PAGE);
			MUST(DRIVER_FUNCTION(cuMemMap)(base + (CUdeviceptr)i * PAGE, PAGE, 0, handles[i], 0));
			MUST(DRIVER_FUNCTION(cuMemSetAccess)(base + (CUdeviceptr)i * PAGE, PAGE, &access, 1));
		}
		client_set((void *)(uintptr_t)base, PAGES * PAGE, NULL);
		MUST(cudaDeviceSynchronize());
		for (int i = 0; i < PAGES; i++) {
			MUST(DRIVER_FUNCTION(cuMemUnmap)(base + (CUdeviceptr)i * PAGE, PAGE));
			account_free(CLIENT_PHYSICAL, handles[i]);
			MUST(DRIVER_FUNCTION(cuMemRelease)(handles[i]));
		}
	}
	MUST(DRIVER_FUNCTION(cuMemAddressFree)(base, PAGES * PAGE));
	return 0;
}

int run_devices(int unused)
{
	void *blocks[2];

	(void)unused;
	for (int i = 0; i < 2; i++) {
		MUST(cudaSetDevice(i));
		blocks[i] = client_alloc((size_t)(i + 1) << 20);
		client_launch(i == 0 ? "first_device" : "second_device", 1, 32, NULL);
	}
	MUST(cudaMemcpyPeerAsync(blocks[1], 1, blocks[0], 0, 1 << 20, NULL));
	for (int i = 0; i < 2; i++) {
		MUST(cudaSetDevice(i));
		MUST(cudaDeviceSynchronize());
		client_free(blocks[i]);
	}
	return 0;
}

/* A caching allocator's routine: a refused allocation empties the cache and is tried again, and succeeds. */
int run_retries(int count)
{
	void *cached = client_alloc(PAGE);

	for (int refused = 0; refused < count;) {
		void *block = NULL;

		if (cudaMalloc(&block, PAGE) != CUDA_SUCCESS) {
			cudaGetLastError();
			account_refused(PAGE);
			refused++;
			client_free(cached);
			cached = client_alloc(PAGE);
			continue;
		}
		account_alloc(CLIENT_PLAIN, (unsigned long long)(uintptr_t)block, PAGE);
		client_free(block);
	}
	client_free(cached);
	return 0;
}

/* Out of memory for good: what is live stays, the program says so and ends by itself. */
int run_refused(int unused)
{
	size_t available, total;
	void *half, *rest = NULL;

	(void)unused;
	MUST(cudaMemGetInfo(&available, &total));
	half = client_alloc(available / 2);
	if (cudaMalloc(&rest, available) == CUDA_SUCCESS)
		return 6;
	account_refused(available);
	printf("out of memory, %s half live\n", half ? "one" : "no");
	return 12;
}
