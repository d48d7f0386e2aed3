/* SPDX-License-Identifier: MIT */
/* memory.cu: every way to device memory, one a run: plain, pitch, pool, own_pool, managed, pinned, registered, array,
 * virtual (reserve, create, map, and a handle that is released before its mapping ends), refused (more than there is, 50
 * times, then what fits). Bytes are what was asked for, rounded where the call says that it rounds. */
#include "account.h"

#include <cuda.h>

#define MUST_DRIVER(call)                                                                  \
	do {                                                                               \
		CUresult result_ = (call);                                                 \
		if (result_ != CUDA_SUCCESS) {                                             \
			fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, result_); \
			exit(3);                                                           \
		}                                                                          \
	} while (0)

static const size_t MIB = 1 << 20;

static void plain(void)
{
	void *block[20];

	for (int i = 0; i < 20; i++) {
		MUST(cudaMalloc(&block[i], (size_t)(i + 1) * 300001));
		account_alloc((long long)(i + 1) * 300001);
	}
	for (int i = 0; i < 20; i += 2) {
		MUST(cudaFree(block[i]));
		account_free((long long)(i + 1) * 300001);
	}
}

static void pitch(void)
{
	size_t bytes;
	void *block;

	MUST(cudaMallocPitch(&block, &bytes, 1000, 77));
	account_alloc((long long)bytes * 77);
	MUST(cudaFree(block));
	account_free((long long)bytes * 77);
}

static void from_pool(cudaMemPool_t pool)
{
	cudaStream_t stream;
	void *block[8];

	MUST(cudaStreamCreate(&stream));
	for (int turn = 0; turn < 10; turn++) {
		for (int i = 0; i < 8; i++) {
			if (pool)
				MUST(cudaMallocFromPoolAsync(&block[i], (size_t)(i + 1) * MIB, pool, stream));
			else
				MUST(cudaMallocAsync(&block[i], (size_t)(i + 1) * MIB, stream));
			account_alloc((long long)(i + 1) * (long long)MIB);
		}
		for (int i = 0; i < 8; i++) {
			MUST(cudaFreeAsync(block[i], stream));
			account_free((long long)(i + 1) * (long long)MIB);
		}
		MUST(cudaStreamSynchronize(stream));
	}
}

static void own_pool(void)
{
	cudaMemPoolProps properties = {};
	cudaMemPool_t pool;

	properties.allocType = cudaMemAllocationTypePinned;
	properties.location.type = cudaMemLocationTypeDevice;
	MUST(cudaMemPoolCreate(&pool, &properties));
	from_pool(pool);
	MUST(cudaMemPoolTrimTo(pool, 0));
	MUST(cudaMemPoolDestroy(pool));
}

static void managed(void)
{
	char *block;

	MUST(cudaMallocManaged((void **)&block, 16 * MIB, cudaMemAttachGlobal));
	account_alloc(16 * (long long)MIB);
	memset(block, 1, 16 * MIB);
	MUST(cudaFree(block));
	account_free(16 * (long long)MIB);
}

/* Host memory: none of it is the device's. */
static void pinned(void)
{
	void *block;

	MUST(cudaMallocHost(&block, 32 * MIB));
	memset(block, 1, 32 * MIB);
	MUST(cudaFreeHost(block));
}

static void registered(void)
{
	void *block = aligned_alloc(4096, 32 * MIB);

	memset(block, 1, 32 * MIB);
	MUST(cudaHostRegister(block, 32 * MIB, cudaHostRegisterDefault));
	MUST(cudaHostUnregister(block));
	free(block);
}

static void virtual_memory(void)
{
	CUmemAllocationProp what = {};
	CUmemAccessDesc access = {};
	CUmemGenericAllocationHandle handle[4];
	CUdeviceptr base;
	size_t step;

	what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location = what.location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	MUST_DRIVER(cuMemGetAllocationGranularity(&step, &what, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	MUST_DRIVER(cuMemAddressReserve(&base, 16 * step, 0, 0, 0));
	for (size_t i = 0; i < 4; i++) {
		MUST_DRIVER(cuMemCreate(&handle[i], 2 * step, &what, 0));
		account_alloc(2 * (long long)step);
		MUST_DRIVER(cuMemMap(base + 2 * i * step, 2 * step, 0, handle[i], 0));
		MUST_DRIVER(cuMemSetAccess(base + 2 * i * step, 2 * step, &access, 1));
		MUST_DRIVER(cuMemRelease(handle[i]));
	}
	for (size_t i = 0; i < 2; i++) {
		MUST_DRIVER(cuMemUnmap(base + 2 * i * step, 2 * step));
		account_free(2 * (long long)step);
	}
}

static void refused(void)
{
	size_t free_bytes, total_bytes;
	void *block;

	MUST(cudaMemGetInfo(&free_bytes, &total_bytes));
	for (int i = 0; i < 50; i++)
		if (cudaMalloc(&block, total_bytes + MIB) == cudaSuccess)
			exit(3);
	(void)cudaGetLastError();
	MUST(cudaMalloc(&block, 64 * MIB));
	account_alloc(64 * (long long)MIB);
}

int main(int count, char **words)
{
	const char *way = count > 1 ? words[1] : "plain";

	MUST(cudaSetDevice(0));
	MUST(cudaFree(NULL));
	if (strcmp(way, "plain") == 0)
		plain();
	else if (strcmp(way, "pitch") == 0)
		pitch();
	else if (strcmp(way, "pool") == 0)
		from_pool(NULL);
	else if (strcmp(way, "own_pool") == 0)
		own_pool();
	else if (strcmp(way, "managed") == 0)
		managed();
	else if (strcmp(way, "pinned") == 0)
		pinned();
	else if (strcmp(way, "registered") == 0)
		registered();
	else if (strcmp(way, "virtual") == 0)
		virtual_memory();
	else if (strcmp(way, "refused") == 0)
		refused();
	else
		return 2;
	MUST(cudaDeviceSynchronize());
	account_print();
	return 0;
}
