/* SPDX-License-Identifier: MIT */
/* driver_exports.c: what libcuda.so.1 shows: each function of driver.def as a call around its implementation,
 * and how the functions are found by name, version and flags (cuGetProcAddress). */
#include "tests/fakes/driver.h"
#include "tests/fakes/engine.h"

#include <string.h>

#define SHOWN __attribute__((visibility("default")))

#define DRIVER(NUMBER, SYMBOL, IMPLEMENTATION, BASE, VERSION, FLAGS, ...)                                \
	SHOWN CUresult SYMBOL(SIM_DECLARATIONS(__VA_ARGS__))                                             \
	{                                                                                                \
		struct sim_##SYMBOL parameters = {SIM_NAMES(__VA_ARGS__)};                               \
		struct sim_call call = {                                                                 \
		    .domain = SIM_DRIVER, .cbid = (NUMBER), .name = #SYMBOL, .parameters = &parameters}; \
		CUresult result;                                                                         \
                                                                                                         \
		sim_begin(&call);                                                                        \
		sim_is_per_thread = (FLAGS) == 2;                                                        \
		result = sim_##IMPLEMENTATION(SIM_NAMES(__VA_ARGS__));                                   \
		sim_end(&call, result);                                                                  \
		return result;                                                                           \
	}
#define DRIVER0(NUMBER, SYMBOL, IMPLEMENTATION, BASE, VERSION, FLAGS)                             \
	SHOWN CUresult SYMBOL(void)                                                               \
	{                                                                                         \
		struct sim_call call = {.domain = SIM_DRIVER, .cbid = (NUMBER), .name = #SYMBOL}; \
		CUresult result;                                                                  \
                                                                                                  \
		sim_begin(&call);                                                                 \
		result = sim_##IMPLEMENTATION();                                                  \
		sim_end(&call, result);                                                           \
		return result;                                                                    \
	}
#include "tests/fakes/driver.def"
#undef DRIVER
#undef DRIVER0

static const struct {
	const char *base;
	int version;
	unsigned int flags;
	void *function;
} functions[] = {
#define DRIVER(NUMBER, SYMBOL, IMPLEMENTATION, BASE, VERSION, FLAGS, ...) \
	{#BASE, VERSION, FLAGS, (void *)SYMBOL},
#define DRIVER0(NUMBER, SYMBOL, IMPLEMENTATION, BASE, VERSION, FLAGS) {#BASE, VERSION, FLAGS, (void *)SYMBOL},
#include "tests/fakes/driver.def"
#undef DRIVER
#undef DRIVER0
    {"cuGetProcAddress", 11030, 0, (void *)cuGetProcAddress},
    {"cuGetProcAddress", 12000, 0, (void *)cuGetProcAddress_v2},
    {"cuGetExportTable", 3000, 0, (void *)cuGetExportTable},
    {"cuGetErrorName", 6000, 0, (void *)cuGetErrorName},
    {"cuGetErrorString", 6000, 0, (void *)cuGetErrorString},
};
enum { FOUND = 0, NOT_FOUND = 1, TOO_NEW = 2, PER_THREAD = 2 };

/* The newest of the name that is not newer than `version`; with PER_THREAD its twin for the thread's own
 * stream where there is one. */
static CUresult find(const char *name, void **function, int version, cuuint64_t flags,
		     CUdriverProcAddressQueryResult *found)
{
	int best = -1;
	bool is_per_thread = false, is_known = false;

	*function = NULL;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		bool is_twin = functions[i].flags == PER_THREAD;

		if (strcmp(functions[i].base, name) != 0 || (is_twin && !(flags & PER_THREAD)))
			continue;
		is_known = true;
		if (functions[i].version > version || functions[i].version > (int)sim_scenario()->driver)
			continue;
		if (is_twin < is_per_thread || (is_twin == is_per_thread && functions[i].version < best))
			continue;
		best = functions[i].version;
		is_per_thread = is_twin;
		*function = functions[i].function;
	}
	if (found)
		*found = *function ? FOUND : is_known ? TOO_NEW : NOT_FOUND;
	return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

SHOWN CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags)
{
	return find(symbol, function, version, flags, NULL);
}

SHOWN CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
				   CUdriverProcAddressQueryResult *found)
{
	return find(symbol, function, version, flags, found);
}

SHOWN CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
	if (memcmp(id->bytes, SIM_ENGINE_ID, sizeof id->bytes) != 0)
		return CUDA_ERROR_NOT_FOUND;
	*table = &sim_engine;
	return CUDA_SUCCESS;
}

static const struct {
	CUresult error;
	const char *name, *text;
} errors[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
};

SHOWN CUresult cuGetErrorName(CUresult error, const char **name)
{
	*name = NULL;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == error)
			*name = errors[i].name;
	return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SHOWN CUresult cuGetErrorString(CUresult error, const char **text)
{
	*text = NULL;
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (errors[i].error == error)
			*text = errors[i].text;
	return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
