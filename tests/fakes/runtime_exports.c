/* SPDX-License-Identifier: MIT */
/* runtime_exports.c: each function of runtime.def as a call around its implementation; the last error of a
 * thread. */
#include "tests/fakes/runtime.h"

#define SHOWN __attribute__((visibility("default")))

__thread bool sim_runtime_per_thread;
static __thread cudaError_t last_error;

static cudaError_t keep(cudaError_t error)
{
	if (error != CUDA_SUCCESS && error != CUDA_ERROR_NOT_READY)
		last_error = error;
	return error;
}

#define RUNTIME(NUMBER, SYMBOL, VERSION, IMPLEMENTATION, FLAGS, ...)                                      \
	SHOWN cudaError_t SYMBOL(SIM_DECLARATIONS(__VA_ARGS__))                                           \
	{                                                                                                 \
		struct sim_##SYMBOL parameters = {SIM_NAMES(__VA_ARGS__)};                                \
		struct sim_call call = {                                                                  \
		    .domain = SIM_RUNTIME, .cbid = (NUMBER), .name = #SYMBOL, .parameters = &parameters}; \
		const struct sim_driver *driver = sim_driver();                                           \
		cudaError_t result = driver->error;                                                       \
                                                                                                          \
		if (result != CUDA_SUCCESS)                                                               \
			return keep(result);                                                              \
		driver->engine->begin(&call);                                                             \
		sim_runtime_per_thread = (FLAGS) == 2;                                                    \
		result = sim_##IMPLEMENTATION(SIM_NAMES(__VA_ARGS__));                                    \
		driver->engine->end(&call, result);                                                       \
		return keep(result);                                                                      \
	}
#define RUNTIME0(NUMBER, SYMBOL, VERSION, IMPLEMENTATION, FLAGS)                                   \
	SHOWN cudaError_t SYMBOL(void)                                                             \
	{                                                                                          \
		struct sim_call call = {.domain = SIM_RUNTIME, .cbid = (NUMBER), .name = #SYMBOL}; \
		const struct sim_driver *driver = sim_driver();                                    \
		cudaError_t result = driver->error;                                                \
                                                                                                   \
		if (result != CUDA_SUCCESS)                                                        \
			return keep(result);                                                       \
		driver->engine->begin(&call);                                                      \
		result = sim_##IMPLEMENTATION();                                                   \
		driver->engine->end(&call, result);                                                \
		return keep(result);                                                               \
	}
#include "tests/fakes/runtime.def"
#undef RUNTIME
#undef RUNTIME0

SHOWN cudaError_t cudaGetLastError(void)
{
	cudaError_t error = last_error;

	last_error = CUDA_SUCCESS;
	return error;
}

SHOWN cudaError_t cudaPeekAtLastError(void)
{
	return last_error;
}

static const struct {
	cudaError_t error;
	const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "cudaSuccess", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "cudaErrorInitializationError", "initialization error"},
    {CUDA_ERROR_INSUFFICIENT_DRIVER, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {CUDA_ERROR_NO_DEVICE, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {CUDA_ERROR_LAUNCH_FAILED, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {CUDA_ERROR_NOT_READY, "cudaErrorNotReady", "device not ready"},
};

SHOWN const char *cudaGetErrorName(cudaError_t error)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == error)
			return errors[i].name;
	return "cudaErrorUnknown";
}

SHOWN const char *cudaGetErrorString(cudaError_t error)
{
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == error)
			return errors[i].text;
	return "unknown error";
}
