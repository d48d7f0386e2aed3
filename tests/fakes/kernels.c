/* SPDX-License-Identifier: MIT */
/* kernels.c: modules, functions, launches. A function has its name and figures that are drawn from the name.
 */
#include "cupti/abi.h"
#include "cupti/abi_callbacks.h"
#include "tests/fakes/driver.h"
#include "tests/fakes/engine.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct CUmod_st {
	uint64_t held;
	uint32_t device;
};
struct CUfunc_st {
	char *name;
	uint32_t registers, static_shared;
};
enum { MODULE_BYTES = SIM_PAGE };

CUresult sim_cuModuleLoadData(CUmodule *handle, const void *image)
{
	CUmodule module = calloc(1, sizeof *module);
	CUresult result;

	(void)image;
	if (!module)
		abort();
	if (!sim_current_device(&module->device)) {
		free(module);
		return CUDA_ERROR_INVALID_CONTEXT;
	}
	result = sim_memory_charge(module->device, MODULE_BYTES);
	if (result != CUDA_SUCCESS) {
		free(module);
		return result;
	}
	*handle = module;
	sim_tell_resource(RVP_CUPTI_MODULE_LOADED, &(struct sim_resource){.context = sim_current()});
	return sim_ready();
}

CUresult sim_cuModuleUnload(CUmodule module)
{
	sim_tell_resource(RVP_CUPTI_MODULE_UNLOAD, &(struct sim_resource){.context = sim_current()});
	sim_memory_discharge(module->device, MODULE_BYTES);
	free(module);
	return CUDA_SUCCESS;
}

CUresult sim_cuModuleGetFunction(CUfunction *handle, CUmodule module, const char *name)
{
	CUfunction function = calloc(1, sizeof *function);

	(void)module;
	if (!function || !(function->name = strdup(name)))
		abort();
	function->registers = 16 + (uint32_t)(strlen(name) * 7 % 120);
	function->static_shared = strstr(name, "gemm") ? 16384 : 0;
	*handle = function;
	return CUDA_SUCCESS;
}

CUresult sim_cuFuncGetName(const char **name, CUfunction function)
{
	*name = function->name;
	return CUDA_SUCCESS;
}

uint64_t sim_kernel_duration(const char *name)
{
	const struct sim_scenario *scenario = sim_scenario();

	for (uint64_t i = 0; i < scenario->rule_count; i++)
		if (fnmatch(scenario->rules[i].pattern, name, 0) == 0)
			return sim_random(scenario->rules[i].least_ns, scenario->rules[i].most_ns);
	return sim_random(2000, 40000);
}

static CUresult launch(CUfunction function, const uint32_t grid[3], const uint32_t block[3], uint32_t shared,
		       CUstream handle, bool is_cooperative)
{
	CUstream stream = sim_stream(handle);
	struct sim_activity work = {.kind = RVP_CUPTI_CONCURRENT_KERNEL};
	CUresult result = sim_ready();

	if (result != CUDA_SUCCESS)
		return result;
	if (!stream)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!function || grid[0] * grid[1] * grid[2] == 0 || block[0] * block[1] * block[2] == 0 ||
	    block[0] * block[1] * block[2] > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	sim_count_launch();
	result = sim_ready();
	if (result != CUDA_SUCCESS)
		return result;
	work.kernel.name = function->name;
	memcpy(work.kernel.grid, grid, sizeof work.kernel.grid);
	memcpy(work.kernel.block, block, sizeof work.kernel.block);
	work.kernel.dynamic_shared = shared;
	work.kernel.static_shared = function->static_shared;
	work.kernel.registers = function->registers;
	work.kernel.is_cooperative = is_cooperative;
	if (sim_capture(stream, &work, 0, &result))
		return result;
	sim_submit(stream, &work, sim_kernel_duration(function->name));
	sim_tell(&work);
	return CUDA_SUCCESS;
}

CUresult sim_cuLaunchKernel(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz,
			    unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
			    CUstream stream, void **arguments, void **extra)
{
	(void)arguments, (void)extra;
	return launch(function, (const uint32_t[]){gx, gy, gz}, (const uint32_t[]){bx, by, bz}, shared,
		      stream, false);
}

CUresult sim_cuLaunchCooperativeKernel(CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz,
				       unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
				       CUstream stream, void **arguments)
{
	(void)arguments;
	return launch(function, (const uint32_t[]){gx, gy, gz}, (const uint32_t[]){bx, by, bz}, shared,
		      stream, true);
}

CUresult sim_cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction function, void **arguments, void **extra)
{
	(void)arguments, (void)extra;
	return launch(function, (const uint32_t[]){c->gridDimX, c->gridDimY, c->gridDimZ},
		      (const uint32_t[]){c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes,
		      c->hStream, false);
}

CUresult sim_cuLaunchHostFunc(CUstream handle, CUhostFn function, void *user)
{
	CUstream stream = sim_stream(handle);

	if (!stream)
		return CUDA_ERROR_INVALID_CONTEXT;
	sim_wait_until(sim_stream_end(stream)); /* the driver has a thread for it */
	function(user);
	return sim_ready();
}
