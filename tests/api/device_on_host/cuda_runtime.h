/* SPDX-License-Identifier: MIT */
/* cuda_runtime.h: as much of CUDA's runtime as rvprof_device.cuh needs, on the host: memory is the heap's, an event is a time, a
 * kernel runs where it is launched. For machines without CUDA; the numbers are not a device's. */
#ifndef DEVICE_ON_HOST_CUDA_RUNTIME_H
#define DEVICE_ON_HOST_CUDA_RUNTIME_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define __host__
#define __device__
#define __global__

struct dim3 {
	unsigned x, y, z;
};
static dim3 threadIdx, blockIdx, gridDim = {1, 1, 1};

typedef int cudaError_t;
typedef void *cudaStream_t;
typedef struct cuda_event {
	double ms;
} *cudaEvent_t;
enum { cudaSuccess, cudaErrorMemoryAllocation = 2, cudaMemcpyDeviceToHost = 2 };

static int cuda_failures; /* so many calls of the next fail */

static inline cudaError_t cuda_answer()
{
	if (!cuda_failures)
		return cudaSuccess;
	cuda_failures--;
	return cudaErrorMemoryAllocation;
}

static inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long more)
{
	return __atomic_fetch_add(at, more, __ATOMIC_RELAXED);
}

static inline cudaError_t cudaMalloc(void **at, size_t bytes)
{
	*at = malloc(bytes);
	return cuda_answer();
}

static inline cudaError_t cudaFree(void *at)
{
	free(at);
	return cudaSuccess;
}

static inline cudaError_t cudaMemset(void *at, int value, size_t bytes)
{
	memset(at, value, bytes);
	return cuda_answer();
}

static inline cudaError_t cudaMemsetAsync(void *at, int value, size_t bytes, cudaStream_t)
{
	return cudaMemset(at, value, bytes);
}

static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int)
{
	memcpy(to, from, bytes);
	return cuda_answer();
}

static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t)
{
	return cudaMemcpy(to, from, bytes, kind);
}

static inline cudaError_t cudaDeviceSynchronize()
{
	return cuda_answer();
}

static inline cudaError_t cudaStreamSynchronize(cudaStream_t)
{
	return cuda_answer();
}

static inline cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	*event = new cuda_event{0};
	return cuda_answer();
}

static inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t)
{
	struct timespec now;

	timespec_get(&now, TIME_UTC);
	event->ms = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
	return cuda_answer();
}

static inline cudaError_t cudaEventSynchronize(cudaEvent_t)
{
	return cuda_answer();
}

static inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	*ms = (float)(to->ms - from->ms);
	return cuda_answer();
}

#endif
