/* SPDX-License-Identifier: MIT */
/* copies.c: copies and memsets. Device memory holds nothing: a copy to the host brings zeros. */
#include "cupti/abi.h"
#include "tests/fakes/driver.h"
#include "tests/fakes/engine.h"

#include <string.h>

enum { HTOD = 1, DTOH = 2, DTOD = 8, HTOH = 9, PTOP = 10 };

static bool is_on_device(uint8_t kind)
{
	return kind == RVP_CUPTI_MEMORY_DEVICE || kind == RVP_CUPTI_MEMORY_ARRAY ||
	       kind == RVP_CUPTI_MEMORY_MANAGED;
}

static uint64_t rate_ns(uint64_t bytes)
{
	return 1000 + bytes * 1000000000ULL / sim_scenario()->copy_rate;
}

static CUresult submit(CUstream stream, struct sim_activity *work, uint64_t duration_ns, bool waits)
{
	CUresult result = CUDA_SUCCESS;

	if (sim_capture(stream, work, duration_ns, &result))
		return result;
	sim_submit(stream, work, duration_ns);
	sim_tell(work);
	if (waits)
		sim_wait_until(work->end);
	return sim_ready();
}

/* What a copy and a set ask first. True: *result is the call's. */
static bool is_over(CUstream stream, uint64_t bytes, CUresult *result)
{
	*result = sim_ready();
	if (*result == CUDA_SUCCESS && !stream)
		*result = CUDA_ERROR_INVALID_CONTEXT;
	return *result != CUDA_SUCCESS || bytes == 0;
}

static CUresult copy(uint64_t to, uint64_t from, uint64_t bytes, CUstream handle, bool is_async)
{
	CUstream stream = sim_stream(handle);
	struct sim_activity work = {.kind = RVP_CUPTI_MEMCPY};
	CUresult result;

	if (is_over(stream, bytes, &result))
		return result;
	work.copy.from = sim_memory_kind(from);
	work.copy.to = sim_memory_kind(to);
	work.copy.kind = is_on_device(work.copy.from) ? is_on_device(work.copy.to) ? DTOD : DTOH
			 : is_on_device(work.copy.to) ? HTOD
						      : HTOH;
	work.copy.bytes = bytes;
	work.copy.is_async = is_async;
	if (work.copy.to != RVP_CUPTI_MEMORY_DEVICE && work.copy.to != RVP_CUPTI_MEMORY_ARRAY) {
		if (work.copy.kind == DTOH)
			memset((void *)(uintptr_t)to, 0, bytes);
		else if (work.copy.kind == HTOH)
			memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
	}
	return submit(stream, &work, rate_ns(bytes), !is_async);
}

static uint64_t at(const void *host)
{
	return (uint64_t)(uintptr_t)host;
}

CUresult sim_cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return copy(to, from, bytes, NULL, false);
}

CUresult sim_cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return copy(to, from, bytes, stream, true);
}

CUresult sim_cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	return copy(to, at(from), bytes, NULL, false);
}

CUresult sim_cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	return copy(at(to), from, bytes, NULL, false);
}

CUresult sim_cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	return copy(to, from, bytes, NULL, true); /* the host does not wait for it */
}

CUresult sim_cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
	return copy(to, at(from), bytes, stream, true);
}

CUresult sim_cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return copy(at(to), from, bytes, stream, true);
}

CUresult sim_cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
	return copy(to, from, bytes, stream, true);
}

CUresult sim_cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
			       size_t bytes, CUstream handle)
{
	CUstream stream = sim_stream(handle);
	struct sim_activity work = {.kind = RVP_CUPTI_MEMCPY_PEER};

	(void)to, (void)from;
	if (!stream || !to_context || !from_context)
		return CUDA_ERROR_INVALID_CONTEXT;
	work.copy.kind = PTOP;
	work.copy.from = work.copy.to = RVP_CUPTI_MEMORY_DEVICE;
	work.copy.bytes = bytes;
	work.copy.is_async = true;
	work.copy.from_device = from_context->device;
	work.copy.to_device = to_context->device;
	return submit(stream, &work, rate_ns(bytes), false);
}

static CUresult set(uint64_t to, uint32_t value, uint64_t bytes, CUstream handle, bool is_async)
{
	CUstream stream = sim_stream(handle);
	struct sim_activity work = {.kind = RVP_CUPTI_MEMSET};
	CUresult result;

	if (is_over(stream, bytes, &result))
		return result;
	work.set.bytes = bytes;
	work.set.value = value;
	work.set.memory_kind = sim_memory_kind(to);
	work.set.is_async = is_async;
	return submit(stream, &work, rate_ns(bytes / 16), false);
}

CUresult sim_cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count)
{
	return set(to, value, count, NULL, false);
}

CUresult sim_cuMemsetD32_v2(CUdeviceptr to, unsigned int value, size_t count)
{
	return set(to, value, count * 4, NULL, false);
}

CUresult sim_cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
	return set(to, value, count, stream, true);
}

CUresult sim_cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream)
{
	return set(to, value, count * 4, stream, true);
}
