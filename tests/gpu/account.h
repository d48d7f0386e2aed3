/* SPDX-License-Identifier: MIT */
/* account.h: what a sample did on the device, by its own count, printed as one line of JSON when it is over: the oracle
 * that check.py holds against what rvprof says.
 *
 *     account: {"kernels": {"axpy": 20}, "allocs": 3, "frees": 3, "peak_bytes": 4096, "categories": {"weights": 4096}}
 *
 * Every launch and every alloc of a sample goes through the macros here. A call that fails ends the sample with status 3
 * and the line that failed. */
#ifndef RVP_GPU_ACCOUNT_H
#define RVP_GPU_ACCOUNT_H

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCOUNT_NAMES = 32 };

static struct {
	struct {
		const char *name;
		long count;
	} kernels[ACCOUNT_NAMES], categories[ACCOUNT_NAMES];
	long allocs, frees;
	long long live_bytes, peak_bytes;
} account;

#define MUST(call)                                                                                                   \
	do {                                                                                                         \
		cudaError_t error_ = (call);                                                                         \
		if (error_ != cudaSuccess) {                                                                         \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));  \
			exit(3);                                                                                     \
		}                                                                                                    \
	} while (0)

static void account_kernels(const char *name, long count)
{
	int i = 0;

	while (i < ACCOUNT_NAMES - 1 && account.kernels[i].name && strcmp(account.kernels[i].name, name) != 0)
		i++;
	account.kernels[i].name = name;
	account.kernels[i].count += count;
}

static void account_category(const char *name, long bytes)
{
	int i = 0;

	while (i < ACCOUNT_NAMES - 1 && account.categories[i].name && strcmp(account.categories[i].name, name) != 0)
		i++;
	account.categories[i].name = name;
	account.categories[i].count += bytes;
}

static void account_alloc(long long bytes)
{
	account.allocs++;
	account.live_bytes += bytes;
	if (account.live_bytes > account.peak_bytes)
		account.peak_bytes = account.live_bytes;
}

static void account_free(long long bytes)
{
	account.frees++;
	account.live_bytes -= bytes;
}

/* LAUNCH(axpy, grid, block, stream, arguments...) */
#define LAUNCH(kernel, grid, block, stream, ...)                          \
	do {                                                              \
		kernel<<<(grid), (block), 0, (stream)>>>(__VA_ARGS__);    \
		MUST(cudaGetLastError());                                 \
		account_kernels(#kernel, 1);                              \
	} while (0)

static void account_print(void)
{
	printf("account: {\"kernels\": {");
	for (int i = 0; i < ACCOUNT_NAMES && account.kernels[i].name; i++)
		printf("%s\"%s\": %ld", i ? ", " : "", account.kernels[i].name, account.kernels[i].count);
	printf("}, \"categories\": {");
	for (int i = 0; i < ACCOUNT_NAMES && account.categories[i].name; i++)
		printf("%s\"%s\": %ld", i ? ", " : "", account.categories[i].name, account.categories[i].count);
	printf("}, \"allocs\": %ld, \"frees\": %ld, \"peak_bytes\": %lld, \"live_bytes\": %lld}\n", account.allocs,
	       account.frees, account.peak_bytes, account.live_bytes);
	fflush(stdout);
}

#endif
