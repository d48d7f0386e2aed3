/* SPDX-License-Identifier: MIT */
/* runtime_kernels.c: kernels as nvcc's programs register them, and their launches: by the host function's
 * address (cudaLaunchKernel) and, since CUDA 13, by a handle that is asked for once (__cudaGetKernel,
 * __cudaLaunchKernel). */
#include "tests/fakes/runtime.h"

#include <pthread.h>
#include <stdlib.h>

#define SHOWN __attribute__((visibility("default")))

struct kernel {
	const void *host;
	const char *name;
	CUfunction function;
	struct kernel *next;
};

static struct kernel *kernels;
static CUmodule module;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

SHOWN void **__cudaRegisterFatBinary(void *image)
{
	static void *handle;

	handle = image;
	return &handle;
}

SHOWN void __cudaRegisterFatBinaryEnd(void **handle)
{
	(void)handle;
}

SHOWN void __cudaUnregisterFatBinary(void **handle)
{
	(void)handle;
}

SHOWN char __cudaInitModule(void **handle)
{
	(void)handle;
	return 1;
}

SHOWN void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
				  void *tid, void *bid, void *block, void *grid, int *warp)
{
	struct kernel *kernel = calloc(1, sizeof *kernel);

	(void)handle, (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
	if (!kernel)
		abort();
	kernel->host = host;
	kernel->name = name;
	pthread_mutex_lock(&lock);
	kernel->next = kernels;
	kernels = kernel;
	pthread_mutex_unlock(&lock);
}

static CUfunction function_of(const struct sim_driver *driver, const void *host, cudaError_t *error)
{
	struct kernel *kernel;

	pthread_mutex_lock(&lock);
	for (kernel = kernels; kernel && kernel->host != host; kernel = kernel->next)
		;
	*error = kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_FUNCTION;
	if (kernel && !kernel->function) {
		if (!module)
			*error = driver->cuModuleLoadData(&module, "");
		if (*error == CUDA_SUCCESS)
			*error = driver->cuModuleGetFunction(&kernel->function, module, kernel->name);
	}
	pthread_mutex_unlock(&lock);
	return *error == CUDA_SUCCESS ? kernel->function : NULL;
}

static cudaError_t launch(CUfunction function, dim3 grid, dim3 block, void **arguments, size_t shared,
			  CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	if (!driver)
		return error;
	return (sim_runtime_per_thread ? driver->cuLaunchKernel_ptsz : driver->cuLaunchKernel)(
	    function, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned int)shared, stream,
	    arguments, NULL);
}

cudaError_t sim_cudaLaunchKernel(const void *host, dim3 grid, dim3 block, void **arguments, size_t shared,
				 CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);
	CUfunction function = driver ? function_of(driver, host, &error) : NULL;

	return function ? launch(function, grid, block, arguments, shared, stream) : error;
}

cudaError_t sim___cudaLaunchKernel(CUfunction kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
				   CUstream stream)
{
	return launch(kernel, grid, block, arguments, shared, stream);
}

cudaError_t sim_cudaLaunchKernelExC(const CUlaunchConfig *shape, const void *host, void **arguments)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);
	CUfunction function = driver ? function_of(driver, host, &error) : NULL;
	CUlaunchConfig copy = *shape;

	/* The runtime's struct has the dynamic shared bytes as a size_t in the same place. */
	return function ? driver->cuLaunchKernelEx(&copy, function, arguments, NULL) : error;
}

cudaError_t sim_cudaLaunchCooperativeKernel(const void *host, dim3 grid, dim3 block, void **arguments,
					    size_t shared, CUstream stream)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);
	CUfunction function = driver ? function_of(driver, host, &error) : NULL;

	return function
		   ? driver->cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y,
						       block.z, (unsigned int)shared, stream, arguments)
		   : error;
}

cudaError_t sim_cudaLaunchHostFunc(CUstream stream, CUhostFn function, void *user)
{
	cudaError_t error;
	const struct sim_driver *driver = sim_ready_driver(&error);

	return driver ? driver->cuLaunchHostFunc(stream, function, user) : error;
}

SHOWN cudaError_t __cudaGetKernel(CUfunction *kernel, const void *host)
{
	const struct sim_driver *driver = sim_driver();
	cudaError_t error = driver->error;

	if (error != CUDA_SUCCESS)
		return error;
	driver = sim_ready_driver(&error);
	if (driver)
		*kernel = function_of(driver, host, &error);
	return error;
}

static __thread struct {
	dim3 grid, block;
	size_t shared;
	CUstream stream;
} pushed;

SHOWN unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream stream)
{
	pushed.grid = grid;
	pushed.block = block;
	pushed.shared = shared;
	pushed.stream = stream;
	return 0;
}

SHOWN cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	*grid = pushed.grid;
	*block = pushed.block;
	*shared = pushed.shared;
	*(CUstream *)stream = pushed.stream;
	return CUDA_SUCCESS;
}
