/* SPDX-License-Identifier: MIT */
/* client.h: what the client programs share: kernels as nvcc's programs have them, and an account of all that
 * a program did on the device, which it prints as one line of JSON at its end: the oracle of the tests.
 * Nothing here knows the profiler or the simulation; a failing call that is not expected ends the program
 * with status 3 and its line. */
#ifndef CUDA_CLIENT_H
#define CUDA_CLIENT_H

#include "tests/fakes/runtime.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum client_memory {
	CLIENT_PLAIN,
	CLIENT_ORDERED,
	CLIENT_MANAGED,
	CLIENT_PINNED,
	CLIENT_PHYSICAL,
	CLIENT_ARRAY,
	CLIENT_KINDS
};
enum client_copy { CLIENT_HTOD = 1, CLIENT_DTOH = 2, CLIENT_DTOD = 3 };

#define MUST(call)                                                                    \
	do {                                                                          \
		cudaError_t error_ = (call);                                          \
		if (error_ != CUDA_SUCCESS) {                                         \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
				cudaGetErrorString(error_));                          \
			exit(3);                                                      \
		}                                                                     \
	} while (0)

/* Launches `name` (its first use registers it). By __cudaGetKernel and __cudaLaunchKernel, as nvcc 13 does.
 */
void client_launch(const char *name, unsigned int grid, unsigned int block, CUstream stream);
/* By cudaLaunchKernel, as nvcc 12 does. */
void client_launch_legacy(const char *name, unsigned int grid, unsigned int block, CUstream stream);
const void *client_kernel(const char *name);

void client_copy(void *to, const void *from, size_t bytes, enum client_copy direction, CUstream stream);
void client_set(void *to, size_t bytes, CUstream stream);
void *client_alloc(size_t bytes);
void client_free(void *address);
void *client_alloc_async(size_t bytes, CUstream stream);
void client_free_async(void *address, CUstream stream);

/* The account itself. */
void account_kernel(const char *name, unsigned long count);
void account_graph_launch(void);
void account_alloc(enum client_memory kind, unsigned long long address, size_t bytes);
void account_free(enum client_memory kind, unsigned long long address);
void account_copy(enum client_copy direction, size_t bytes);
void account_set(size_t bytes);
void account_refused(size_t bytes);
void account_peak_by_chance(void); /* threads of the program decide it: it is not printed */
void account_print(void);

/* The programs: main.c has their names. */
int run_decode(int steps);
int run_capture(int count);
int run_storm(int count);
int run_graphs(int replays);
int run_pools(int rounds);
int run_kinds(int unused);
int run_segments(int rounds);
int run_threads(int count);
int run_devices(int unused);
int run_retries(int count);
int run_refused(int unused);
int run_lost(int count);
int run_flood(int count);
int run_fork(int steps);
int run_quick_exit(int steps);
int run_killed(int steps);
int run_reset(int steps);
int run_running(int steps);
int run_records(int thousands);
int run_profiler(int count);
int run_abandoned(int count);
int run_contexts(int count);

#endif
