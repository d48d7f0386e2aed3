/* SPDX-License-Identifier: MIT */
/* client.c: launches, copies and allocations that are counted. */
#include "tests/cuda/client.h"

#include <pthread.h>
#include <string.h>

struct kernel {
	const char *name;
	CUfunction handle;
	struct kernel *next;
};

static struct kernel *kernels;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct kernel *find(const char *name)
{
	struct kernel *kernel;

	pthread_mutex_lock(&lock);
	for (kernel = kernels; kernel && strcmp(kernel->name, name) != 0; kernel = kernel->next)
		;
	if (!kernel) {
		kernel = calloc(1, sizeof *kernel);
		if (!kernel)
			abort();
		kernel->name = name;
		kernel->next = kernels;
		kernels = kernel;
		__cudaRegisterFunction(NULL, (const char *)kernel, NULL, name, -1, NULL, NULL, NULL, NULL,
				       NULL);
	}
	pthread_mutex_unlock(&lock);
	return kernel;
}

const void *client_kernel(const char *name)
{
	return find(name);
}

void client_launch(const char *name, unsigned int grid, unsigned int block, CUstream stream)
{
	struct kernel *kernel = find(name);

	if (!kernel->handle)
		MUST(__cudaGetKernel(&kernel->handle, kernel));
	MUST(__cudaLaunchKernel(kernel->handle, (dim3){grid, 1, 1}, (dim3){block, 1, 1}, NULL, 0, stream));
	account_kernel(name, 1);
}

void client_launch_legacy(const char *name, unsigned int grid, unsigned int block, CUstream stream)
{
	MUST(cudaLaunchKernel(find(name), (dim3){grid, 1, 1}, (dim3){block, 1, 1}, NULL, 0, stream));
	account_kernel(name, 1);
}

void client_copy(void *to, const void *from, size_t bytes, enum client_copy direction, CUstream stream)
{
	MUST(cudaMemcpyAsync(to, from, bytes, direction, stream));
	account_copy(direction, bytes);
}

void client_set(void *to, size_t bytes, CUstream stream)
{
	MUST(cudaMemsetAsync(to, 0, bytes, stream));
	account_set(bytes);
}

void *client_alloc(size_t bytes)
{
	void *address = NULL;

	MUST(cudaMalloc(&address, bytes));
	account_alloc(CLIENT_PLAIN, (unsigned long long)(uintptr_t)address, bytes);
	return address;
}

void client_free(void *address)
{
	account_free(CLIENT_PLAIN, (unsigned long long)(uintptr_t)address);
	MUST(cudaFree(address));
}

void *client_alloc_async(size_t bytes, CUstream stream)
{
	void *address = NULL;

	MUST(cudaMallocAsync(&address, bytes, stream));
	account_alloc(CLIENT_ORDERED, (unsigned long long)(uintptr_t)address, bytes);
	return address;
}

void client_free_async(void *address, CUstream stream)
{
	account_free(CLIENT_ORDERED, (unsigned long long)(uintptr_t)address);
	MUST(cudaFreeAsync(address, stream));
}
