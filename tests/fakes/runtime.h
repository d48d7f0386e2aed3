/* SPDX-License-Identifier: MIT */
/* runtime.h: the simulated CUDA runtime, as libcudart.so.13 and as an archive (a "static cudart"). It reaches
 * the driver as NVIDIA's does: dlopen("libcuda.so.1"), dlsym("cuGetProcAddress_v2"), then everything by name,
 * version and flags. It opens nothing before the program's first call of it. */
#ifndef SIM_RUNTIME_H
#define SIM_RUNTIME_H

#include "tests/fakes/each.h"
#include "tests/fakes/engine.h"
#include "tests/fakes/types.h"

#define RUNTIME(NUMBER, SYMBOL, VERSION, IMPLEMENTATION, FLAGS, ...)     \
	struct sim_##SYMBOL {                                            \
		SIM_MEMBERS(__VA_ARGS__)                                 \
	};                                                               \
	cudaError_t sim_##IMPLEMENTATION(SIM_DECLARATIONS(__VA_ARGS__)); \
	cudaError_t SYMBOL(SIM_DECLARATIONS(__VA_ARGS__));
#define RUNTIME0(NUMBER, SYMBOL, VERSION, IMPLEMENTATION, FLAGS) \
	cudaError_t sim_##IMPLEMENTATION(void);                  \
	cudaError_t SYMBOL(void);
#include "tests/fakes/runtime.def"
#undef RUNTIME
#undef RUNTIME0

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

/* What nvcc's programs call. */
void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
			    void *tid, void *bid, void *block, void *grid, int *warp);
cudaError_t __cudaGetKernel(CUfunction *kernel, const void *host);
unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);

/* The driver's functions, those for the thread's own stream under their _ptsz names. */
struct sim_driver {
#define DRIVER(NUMBER, SYMBOL, IMPLEMENTATION, BASE, VERSION, FLAGS, ...) \
	CUresult (*SYMBOL)(SIM_DECLARATIONS(__VA_ARGS__));
#define DRIVER0(NUMBER, SYMBOL, IMPLEMENTATION, BASE, VERSION, FLAGS) CUresult (*SYMBOL)(void);
#include "tests/fakes/driver.def"
#undef DRIVER
#undef DRIVER0
	const struct sim_engine *engine;
	cudaError_t error; /* why there is none */
};
const struct sim_driver *sim_driver(void);
/* The same, with a current context of the thread's device; NULL: an error, in *error. */
const struct sim_driver *sim_ready_driver(cudaError_t *error);
extern __thread bool sim_runtime_per_thread; /* of the running call */

#endif
