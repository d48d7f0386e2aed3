/* SPDX-License-Identifier: MIT */
/* check_headers: driver.def, runtime.def and types.h against NVIDIA's headers where these are installed: the
 * number of each function, the bytes of its arguments' struct and the types in it. Elsewhere only our own
 * types are looked at and the test is skipped, with the count of what was not compared. */
#ifdef HAVE_CUPTI_HEADERS
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#else
#include "tests/fakes/types.h"
#endif
#include "tests/fakes/each.h"

#include <stddef.h>
#include <stdio.h>

/* Ours are built with the types that the includes above have. */
#define DRIVER(NUMBER, SYMBOL, IMPLEMENTATION, BASE, VERSION, FLAGS, ...) \
	struct sim_##SYMBOL {                                             \
		SIM_MEMBERS(__VA_ARGS__)                                  \
	};
#define DRIVER0(...)
#include "tests/fakes/driver.def"
#undef DRIVER
#undef DRIVER0
#define RUNTIME(NUMBER, SYMBOL, VERSION, IMPLEMENTATION, FLAGS, ...) \
	struct sim_##SYMBOL {                                        \
		SIM_MEMBERS(__VA_ARGS__)                             \
	};
#define RUNTIME0(...)
#include "tests/fakes/runtime.def"
#undef RUNTIME
#undef RUNTIME0

struct row {
	const char *what;
	unsigned long long ours, theirs;
};

/* The two launches of CUDA 13 have a number and no struct in the headers. */
#ifdef HAVE_CUPTI_HEADERS
typedef struct sim___cudaLaunchKernel __cudaLaunchKernel_v13000_params;
typedef struct sim___cudaLaunchKernel_ptsz __cudaLaunchKernel_ptsz_v13000_params;
#define NUMBER_OF(NAME) (unsigned long long)(NAME)
#define BYTES_OF(TYPE)  sizeof(TYPE)
#define PLACE_OF(T, M)  offsetof(T, M)
#else
#define NUMBER_OF(NAME) 0
#define BYTES_OF(TYPE)  0
#define PLACE_OF(T, M)  0
#endif

static const struct row rows[] = {
#define DRIVER(NUMBER, SYMBOL, ...)                                                  \
	{"number of " #SYMBOL, NUMBER, NUMBER_OF(CUPTI_DRIVER_TRACE_CBID_##SYMBOL)}, \
	    {"arguments of " #SYMBOL, sizeof(struct sim_##SYMBOL), BYTES_OF(SYMBOL##_params)},
#define DRIVER0(NUMBER, SYMBOL, ...) \
	{"number of " #SYMBOL, NUMBER, NUMBER_OF(CUPTI_DRIVER_TRACE_CBID_##SYMBOL)},
#include "tests/fakes/driver.def"
#undef DRIVER
#undef DRIVER0
#define RUNTIME(NUMBER, SYMBOL, VERSION, ...)                                                      \
	{"number of " #SYMBOL, NUMBER, NUMBER_OF(CUPTI_RUNTIME_TRACE_CBID_##SYMBOL##_v##VERSION)}, \
	    {"arguments of " #SYMBOL, sizeof(struct sim_##SYMBOL), BYTES_OF(SYMBOL##_v##VERSION##_params)},
#define RUNTIME0(NUMBER, SYMBOL, VERSION, ...) \
	{"number of " #SYMBOL, NUMBER, NUMBER_OF(CUPTI_RUNTIME_TRACE_CBID_##SYMBOL##_v##VERSION)},
#include "tests/fakes/runtime.def"
#undef RUNTIME
#undef RUNTIME0
#define SIZE(TYPE, BYTES)           {"bytes of " #TYPE, BYTES, BYTES_OF(TYPE)},
#define OFFSET(TYPE, MEMBER, PLACE) {#TYPE "." #MEMBER, PLACE, PLACE_OF(TYPE, MEMBER)},
#include "tests/fakes/sizes.def"
#undef SIZE
#undef OFFSET
};

int main(void)
{
	unsigned int wrong = 0, count = sizeof rows / sizeof *rows;

#ifndef HAVE_CUPTI_HEADERS
	printf("%u rows not compared: NVIDIA's headers are not installed\n", count);
	return 77;
#endif
	for (unsigned int i = 0; i < count; i++)
		if (rows[i].ours != rows[i].theirs) {
			printf("%s: %llu, the headers have %llu\n", rows[i].what, rows[i].ours,
			       rows[i].theirs);
			wrong++;
		}
	printf("%u rows compared, %u differ\n", count, wrong);
	return wrong != 0;
}
