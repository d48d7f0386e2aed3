/* SPDX-License-Identifier: MIT */
/* devices.c: cuInit with its injection, devices and their attributes, contexts. */
#include "cupti/abi_callbacks.h"
#include "cupti/abi_driver.h"
#include "tests/fakes/driver.h"
#include "tests/fakes/engine.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sim_is_initialized;
static pid_t initialized_by;
static CUcontext primary[SIM_DEVICES];
static uint64_t primary_users[SIM_DEVICES];
static __thread CUcontext current[16];
static __thread unsigned int depth;

/* As the driver does: the library that CUDA_INJECTION64_PATH names is opened by the first cuInit and its
 * InitializeInjection called. The driver is usable by then. */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
	int (*initialize)(void) = library ? (int (*)(void))dlsym(library, "InitializeInjection") : NULL;

	if (initialize)
		initialize();
}

static void initialize_once(void)
{
	initialized_by = getpid();
	sim_is_initialized = true;
	inject();
	sim_tell_resource(RVP_CUPTI_INIT_FINISHED, &(struct sim_resource){.context = NULL});
}

CUresult sim_cuInit(unsigned int flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim_scenario()->init_error != 0)
		return (CUresult)sim_scenario()->init_error;
	pthread_once(&once, initialize_once);
	/* CUDA is of no use in a child of a process that has it. */
	return initialized_by == getpid() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult sim_cuDriverGetVersion(int *version)
{
	*version = (int)sim_scenario()->driver;
	return CUDA_SUCCESS;
}

static bool is_device(CUdevice device)
{
	return device >= 0 && (uint64_t)device < sim_scenario()->devices;
}

CUresult sim_cuDeviceGet(CUdevice *device, int ordinal)
{
	*device = ordinal;
	return is_device(ordinal) ? sim_ready() : CUDA_ERROR_INVALID_DEVICE;
}

CUresult sim_cuDeviceGetCount(int *count)
{
	*count = (int)sim_scenario()->devices;
	return sim_ready();
}

CUresult sim_cuDeviceGetName(char *name, int length, CUdevice device)
{
	if (!is_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, (size_t)length, "%s", sim_scenario()->model);
	return sim_ready();
}

CUresult sim_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
	if (!is_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	memcpy(uuid->bytes, "simulated-gpu-0", sizeof uuid->bytes);
	uuid->bytes[14] = (char)('0' + device);
	return sim_ready();
}

CUresult sim_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
	if (!is_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes = sim_scenario()->memory_bytes;
	return sim_ready();
}

CUresult sim_cuDeviceGetAttribute(int *value, unsigned int attribute, CUdevice device)
{
	static const struct {
		unsigned int attribute;
		int value;
	} known[] = {
	    {RVP_CU_WARP_SIZE, 32},
	    {RVP_CU_MULTIPROCESSORS, 132},
	    {RVP_CU_MEMORY_CLOCK_KHZ, 2619000},
	    {RVP_CU_MEMORY_BUS_BITS, 5120},
	    {RVP_CU_THREADS_PER_MULTIPROCESSOR, 2048},
	    {RVP_CU_COMPUTE_MAJOR, 9},
	    {RVP_CU_COMPUTE_MINOR, 0},
	    {RVP_CU_SHARED_PER_MULTIPROCESSOR, 233472},
	    {RVP_CU_REGISTERS_PER_MULTIPROCESSOR, 65536},
	    {RVP_CU_BLOCKS_PER_MULTIPROCESSOR, 32},
	    {41 /* unified addressing */, 1},
	    {102 /* virtual memory management */, 1},
	    {115 /* pools */, 1},
	};

	if (!is_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*value = 0;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i].attribute == attribute)
			*value = known[i].value;
	return sim_ready();
}

CUresult sim_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
	*can = is_device(device) && is_device(peer) && device != peer;
	return sim_ready();
}

static CUresult make(CUcontext *made, CUdevice device, bool is_primary)
{
	static uint32_t last;
	CUcontext context;
	CUresult charged;

	if (sim_ready() != CUDA_SUCCESS)
		return sim_ready();
	if (!is_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	charged = sim_memory_charge((uint32_t)device, sim_scenario()->context_bytes);
	if (charged != CUDA_SUCCESS)
		return charged;
	context = calloc(1, sizeof *context);
	if (!context)
		abort();
	context->number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	context->device = (uint32_t)device;
	context->is_primary = is_primary;
	context->is_alive = true;
	context->legacy = sim_stream_make(context, 0, 0);
	*made = context;
	sim_tell_resource(RVP_CUPTI_CONTEXT_CREATED, &(struct sim_resource){.context = context});
	return CUDA_SUCCESS;
}

static void destroy(CUcontext context)
{
	if (!context->is_alive)
		return;
	sim_tell_resource(RVP_CUPTI_CONTEXT_DESTROY, &(struct sim_resource){.context = context});
	context->is_alive = false; /* never given back: handles stay comparable */
	sim_memory_discharge(context->device, sim_scenario()->context_bytes);
}

CUcontext sim_current(void)
{
	return depth && current[depth - 1] && current[depth - 1]->is_alive ? current[depth - 1] : NULL;
}

bool sim_current_device(uint32_t *device)
{
	CUcontext context = sim_current();

	*device = context ? context->device : 0;
	return context;
}

CUresult sim_cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	CUresult made = CUDA_SUCCESS;

	if (sim_ready() != CUDA_SUCCESS)
		return sim_ready();
	if (!is_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&once);
	if (!primary[device])
		made = make(&primary[device], device, true);
	primary_users[device]++;
	pthread_mutex_unlock(&once);
	*context = primary[device];
	return made;
}

CUresult sim_cuDevicePrimaryCtxReset_v2(CUdevice device)
{
	if (!is_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (primary[device])
		destroy(primary[device]);
	primary[device] = NULL;
	primary_users[device] = 0;
	return CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
	if (!is_device(device) || primary_users[device] == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	return --primary_users[device] == 0 ? sim_cuDevicePrimaryCtxReset_v2(device) : CUDA_SUCCESS;
}

CUresult sim_cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
	if (!is_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*flags = 0;
	*active = primary[device] != NULL;
	return sim_ready();
}

CUresult sim_cuCtxGetCurrent(CUcontext *context)
{
	*context = sim_current();
	return sim_ready();
}

CUresult sim_cuCtxSetCurrent(CUcontext context)
{
	if (depth == 0)
		depth = 1;
	current[depth - 1] = context;
	return sim_ready();
}

CUresult sim_cuCtxPushCurrent_v2(CUcontext context)
{
	if (depth == sizeof current / sizeof *current)
		return CUDA_ERROR_INVALID_VALUE;
	current[depth++] = context;
	return sim_ready();
}

CUresult sim_cuCtxPopCurrent_v2(CUcontext *context)
{
	if (depth == 0)
		return CUDA_ERROR_INVALID_CONTEXT;
	*context = current[--depth];
	return sim_ready();
}

CUresult sim_cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
	CUresult made = make(context, device, false);

	(void)flags;
	return made == CUDA_SUCCESS ? sim_cuCtxPushCurrent_v2(*context) : made;
}

CUresult sim_cuCtxDestroy_v2(CUcontext context)
{
	destroy(context);
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxGetDevice(CUdevice *device)
{
	uint32_t found;

	if (!sim_current_device(&found))
		return CUDA_ERROR_INVALID_CONTEXT;
	*device = (CUdevice)found;
	return CUDA_SUCCESS;
}

CUresult sim_cuCtxSynchronize(void)
{
	CUcontext context = sim_current();

	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_wait_context(context);
	return sim_ready();
}

CUresult sim_cuCtxGetId(CUcontext context, unsigned long long *number)
{
	context = context ? context : sim_current();
	if (!context)
		return CUDA_ERROR_INVALID_CONTEXT;
	*number = context->number;
	return CUDA_SUCCESS;
}

CUresult sim_cuProfilerStart(void)
{
	return sim_ready();
}

CUresult sim_cuProfilerStop(void)
{
	return sim_ready();
}
