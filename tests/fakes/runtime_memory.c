/* SPDX-License-Identifier: MIT */
/* runtime_memory.c: memory and copies, each by one function of the driver. */
#include "tests/fakes/runtime.h"

cudaError_t sim_cudaMalloc(void **address, size_t bytes)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemAlloc_v2((CUdeviceptr *)(void *)address, bytes) : error;
}

cudaError_t sim_cudaFree(void *address)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemFree_v2((CUdeviceptr)(uintptr_t)address) : error;
}

cudaError_t sim_cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemAllocPitch_v2((CUdeviceptr *)(void *)address, pitch, width, height, 4)
		      : error;
}

cudaError_t sim_cudaMallocManaged(void **address, size_t bytes, unsigned int flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemAllocManaged((CUdeviceptr *)(void *)address, bytes, flags) : error;
}

cudaError_t sim_cudaMallocHost(void **address, size_t bytes)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemHostAlloc(address, bytes, 0) : error;
}

cudaError_t sim_cudaHostAlloc(void **address, size_t bytes, unsigned int flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemHostAlloc(address, bytes, flags) : error;
}

cudaError_t sim_cudaFreeHost(void *address)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemFreeHost(address) : error;
}

cudaError_t sim_cudaHostRegister(void *address, size_t bytes, unsigned int flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemHostRegister_v2(address, bytes, flags) : error;
}

cudaError_t sim_cudaHostUnregister(void *address)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemHostUnregister(address) : error;
}

cudaError_t sim_cudaHostGetDevicePointer(void **address, void *host, unsigned int flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemHostGetDevicePointer_v2((CUdeviceptr *)(void *)address, host, flags)
		      : error;
}

cudaError_t sim_cudaMallocAsync(void **address, size_t bytes, CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? sim_runtime_per_thread
			    ? driver->cuMemAllocAsync_ptsz((CUdeviceptr *)(void *)address, bytes, stream)
			    : driver->cuMemAllocAsync((CUdeviceptr *)(void *)address, bytes, stream)
		      : error;
}

cudaError_t sim_cudaFreeAsync(void *address, CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? sim_runtime_per_thread
			    ? driver->cuMemFreeAsync_ptsz((CUdeviceptr)(uintptr_t)address, stream)
			    : driver->cuMemFreeAsync((CUdeviceptr)(uintptr_t)address, stream)
		      : error;
}

cudaError_t sim_cudaMallocFromPoolAsync(void **address, size_t bytes, CUmemoryPool pool, CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemAllocFromPoolAsync((CUdeviceptr *)(void *)address, bytes, pool, stream)
		      : error;
}

cudaError_t sim_cudaMallocArray(CUarray *array, const struct cudaChannelFormatDesc *format, size_t width,
				size_t height, unsigned int flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);
	const unsigned int channels = 1u + (format->y > 0) + (format->z > 0) + (format->w > 0);
	const CUDA_ARRAY_DESCRIPTOR shape = {width, height,
					     format->x == 8    ? 1
					     : format->x == 16 ? 2
							       : 3,
					     channels};

	(void)flags;
	return driver ? driver->cuArrayCreate_v2(array, &shape) : error;
}

cudaError_t sim_cudaFreeArray(CUarray array)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuArrayDestroy(array) : error;
}

cudaError_t sim_cudaMemGetInfo(size_t *available, size_t *total)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemGetInfo_v2(available, total) : error;
}

cudaError_t sim_cudaMemset(void *to, int value, size_t bytes)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemsetD8_v2((CUdeviceptr)(uintptr_t)to, (unsigned char)value, bytes)
		      : error;
}

cudaError_t sim_cudaMemsetAsync(void *to, int value, size_t bytes, CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver
		   ? driver->cuMemsetD8Async((CUdeviceptr)(uintptr_t)to, (unsigned char)value, bytes, stream)
		   : error;
}

/* As the runtime does: by the direction that the caller says; 4 leaves it to the driver. */
cudaError_t sim_cudaMemcpy(void *to, const void *from, size_t bytes, unsigned int kind)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	if (!driver)
		return error;
	switch (kind) {
	case 1: return driver->cuMemcpyHtoD_v2((CUdeviceptr)(uintptr_t)to, from, bytes);
	case 2: return driver->cuMemcpyDtoH_v2(to, (CUdeviceptr)(uintptr_t)from, bytes);
	case 3:
		return driver->cuMemcpyDtoD_v2((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from,
					       bytes);
	default: return driver->cuMemcpy((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes);
	}
}

cudaError_t sim_cudaMemcpyAsync(void *to, const void *from, size_t bytes, unsigned int kind, CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);
	bool own = sim_runtime_per_thread;

	if (!driver)
		return error;
	switch (kind) {
	case 1:
		return (own ? driver->cuMemcpyHtoDAsync_v2_ptsz
			    : driver->cuMemcpyHtoDAsync_v2)((CUdeviceptr)(uintptr_t)to, from, bytes, stream);
	case 2:
		return (own ? driver->cuMemcpyDtoHAsync_v2_ptsz
			    : driver->cuMemcpyDtoHAsync_v2)(to, (CUdeviceptr)(uintptr_t)from, bytes, stream);
	case 3:
		return driver->cuMemcpyDtoDAsync_v2((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from,
						    bytes, stream);
	default:
		return driver->cuMemcpyAsync((CUdeviceptr)(uintptr_t)to, (CUdeviceptr)(uintptr_t)from, bytes,
					     stream);
	}
}

cudaError_t sim_cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t bytes,
				    CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);
	CUcontext to_context, from_context;

	if (!driver)
		return error;
	error = driver->cuDevicePrimaryCtxRetain(&to_context, to_device);
	if (error == CUDA_SUCCESS)
		error = driver->cuDevicePrimaryCtxRetain(&from_context, from_device);
	if (error != CUDA_SUCCESS)
		return error;
	return driver->cuMemcpyPeerAsync((CUdeviceptr)(uintptr_t)to, to_context, (CUdeviceptr)(uintptr_t)from,
					 from_context, bytes, stream);
}

cudaError_t sim_cudaDeviceGetDefaultMemPool(CUmemoryPool *pool, int device)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuDeviceGetDefaultMemPool(pool, device) : error;
}

cudaError_t sim_cudaDeviceGetMemPool(CUmemoryPool *pool, int device)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuDeviceGetMemPool(pool, device) : error;
}

cudaError_t sim_cudaDeviceSetMemPool(int device, CUmemoryPool pool)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuDeviceSetMemPool(device, pool) : error;
}

cudaError_t sim_cudaMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemPoolCreate(pool, properties) : error;
}

cudaError_t sim_cudaMemPoolDestroy(CUmemoryPool pool)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemPoolDestroy(pool) : error;
}

cudaError_t sim_cudaMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemPoolTrimTo(pool, keep) : error;
}

cudaError_t sim_cudaMemPoolGetAttribute(CUmemoryPool pool, unsigned int attribute, void *value)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemPoolGetAttribute(pool, attribute, value) : error;
}

cudaError_t sim_cudaMemPoolSetAttribute(CUmemoryPool pool, unsigned int attribute, void *value)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuMemPoolSetAttribute(pool, attribute, value) : error;
}

cudaError_t sim_cudaIpcGetMemHandle(CUipcMemHandle *handle, void *address)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuIpcGetMemHandle(handle, (CUdeviceptr)(uintptr_t)address) : error;
}

cudaError_t sim_cudaIpcOpenMemHandle(void **address, CUipcMemHandle handle, unsigned int flags)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuIpcOpenMemHandle_v2((CUdeviceptr *)(void *)address, handle, flags) : error;
}

cudaError_t sim_cudaIpcCloseMemHandle(void *address)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuIpcCloseMemHandle((CUdeviceptr)(uintptr_t)address) : error;
}
