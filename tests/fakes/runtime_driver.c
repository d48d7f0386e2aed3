/* SPDX-License-Identifier: MIT */
/* runtime_driver.c: how the runtime finds the driver, its devices and contexts. */
#include "tests/fakes/runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

typedef CUresult (*find_function)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static struct sim_driver driver;
static CUcontext contexts[SIM_DEVICES];
static __thread int device;

static void load(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	find_function find = library ? (find_function)dlsym(library, "cuGetProcAddress_v2") : NULL;
	CUresult (*table)(const void **, const CUuuid *) = NULL;
	CUuuid id;

	driver.error = CUDA_ERROR_INSUFFICIENT_DRIVER;
	if (!find)
		return;
#define DRIVER(NUMBER, SYMBOL, IMPLEMENTATION, BASE, VERSION, FLAGS, ...) \
	find(#BASE, (void **)&driver.SYMBOL, VERSION, FLAGS, NULL);
#define DRIVER0 DRIVER
#include "tests/fakes/driver.def"
#undef DRIVER
#undef DRIVER0
	find("cuGetExportTable", (void **)&table, 3000, 0, NULL);
	memcpy(id.bytes, SIM_ENGINE_ID, sizeof id.bytes);
	if (!table || table((const void **)&driver.engine, &id) != CUDA_SUCCESS)
		return;
	driver.error = driver.cuInit(0);
}

const struct sim_driver *sim_driver(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return &driver;
}

const struct sim_driver *sim_ready_driver(cudaError_t *error)
{
	CUcontext current = NULL;

	*error = driver.cuCtxGetCurrent(&current);
	if (*error == CUDA_SUCCESS && current)
		return &driver;
	if (*error == CUDA_SUCCESS && !contexts[device])
		*error = driver.cuDevicePrimaryCtxRetain(&contexts[device], device);
	if (*error == CUDA_SUCCESS)
		*error = driver.cuCtxSetCurrent(contexts[device]);
	return *error == CUDA_SUCCESS ? &driver : NULL;
}

cudaError_t sim_cudaSetDevice(int wanted)
{
	int count = 0;
	cudaError_t error = driver.cuDeviceGetCount(&count);

	if (error != CUDA_SUCCESS)
		return error;
	if (wanted < 0 || wanted >= count)
		return CUDA_ERROR_INVALID_DEVICE;
	device = wanted;
	driver.cuCtxSetCurrent(NULL);
	return sim_ready_driver(&error) ? CUDA_SUCCESS : error;
}

cudaError_t sim_cudaGetDevice(int *current)
{
	*current = device;
	return CUDA_SUCCESS;
}

cudaError_t sim_cudaGetDeviceCount(int *count)
{
	return driver.cuDeviceGetCount(count);
}

cudaError_t sim_cudaDriverGetVersion(int *version)
{
	return driver.cuDriverGetVersion(version);
}

cudaError_t sim_cudaRuntimeGetVersion(int *version)
{
	*version = 13000;
	return CUDA_SUCCESS;
}

cudaError_t sim_cudaDeviceGetAttribute(int *value, unsigned int attribute, int which)
{
	return driver.cuDeviceGetAttribute(value, attribute, which);
}

cudaError_t sim_cudaDeviceSynchronize(void)
{
	cudaError_t error;
	const struct sim_driver *ready = sim_ready_driver(&error);

	return ready ? ready->cuCtxSynchronize() : error;
}

cudaError_t sim_cudaDeviceReset(void)
{
	contexts[device] = NULL;
	return driver.cuDevicePrimaryCtxReset_v2(device);
}

cudaError_t sim_cudaProfilerStart(void)
{
	return driver.cuProfilerStart();
}

cudaError_t sim_cudaProfilerStop(void)
{
	return driver.cuProfilerStop();
}
