/* SPDX-License-Identifier: MIT */
/* driver.h: arguments and implementations of the driver's functions: struct sim_<symbol>,
 * sim_<implementation>(). */
#ifndef SIM_DRIVER_H
#define SIM_DRIVER_H

#include "tests/fakes/each.h"
#include "tests/fakes/types.h"

/* Functions that have the same implementation declare it again, which is the same declaration. */
#define DRIVER(NUMBER, SYMBOL, IMPLEMENTATION, BASE, VERSION, FLAGS, ...) \
	struct sim_##SYMBOL {                                             \
		SIM_MEMBERS(__VA_ARGS__)                                  \
	};                                                                \
	CUresult sim_##IMPLEMENTATION(SIM_DECLARATIONS(__VA_ARGS__));     \
	CUresult SYMBOL(SIM_DECLARATIONS(__VA_ARGS__));
#define DRIVER0(NUMBER, SYMBOL, IMPLEMENTATION, BASE, VERSION, FLAGS) \
	CUresult sim_##IMPLEMENTATION(void);                          \
	CUresult SYMBOL(void);
#include "tests/fakes/driver.def"
#undef DRIVER
#undef DRIVER0

CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags);
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
			     CUdriverProcAddressQueryResult *found);
CUresult cuGetExportTable(const void **table, const CUuuid *id);
CUresult cuGetErrorName(CUresult error, const char **name);
CUresult cuGetErrorString(CUresult error, const char **text);

#endif
