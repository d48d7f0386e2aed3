/* SPDX-License-Identifier: MIT */
/* kernel_programs.c: clients that are about kernels. */
#include "tests/cuda/client.h"

#include <dlfcn.h>
#include <pthread.h>

/* A step captured once and replayed; a launch of its own between the replays. */
int run_graphs(int replays)
{
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;
	void *block;

	MUST(cudaStreamCreateWithFlags(&stream, 1));
	block = client_alloc(1 << 20);
	MUST(cudaStreamBeginCapture(stream, 0));
	MUST(cudaMemsetAsync(block, 0, 1 << 20, stream));
	for (int i = 0; i < 3; i++)
		MUST(cudaLaunchKernel(client_kernel("graph_gemm"), (dim3){16, 1, 1}, (dim3){128, 1, 1}, NULL,
				      0, stream));
	MUST(cudaLaunchKernel(client_kernel("graph_norm"), (dim3){4, 1, 1}, (dim3){64, 1, 1}, NULL, 0,
			      stream));
	MUST(cudaStreamEndCapture(stream, &graph));
	MUST(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < replays; i++) {
		MUST(cudaGraphLaunch(exec, stream));
		account_graph_launch();
		account_kernel("graph_gemm", 3);
		account_kernel("graph_norm", 1);
		account_set(1 << 20);
		client_launch("between", 1, 32, stream);
	}
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaGraphExecDestroy(exec));
	MUST(cudaGraphDestroy(graph));
	client_free(block);
	MUST(cudaStreamDestroy(stream));
	return 0;
}

static void *launch_many(void *count)
{
	static const char *const names[] = {"thread_gemm", "thread_norm"};
	CUstream stream;

	MUST(cudaStreamCreateWithFlags(&stream, 1));
	for (int i = 0; i < *(int *)count; i++) {
		void *block = client_alloc(4096 + (size_t)i % 7 * 512);

		client_launch(names[i % 2], 1, 32, stream);
		client_free(block);
	}
	MUST(cudaStreamSynchronize(stream));
	MUST(cudaStreamDestroy(stream));
	return NULL;
}

int run_threads(int count)
{
	enum { THREADS = 4 };
	pthread_t threads[THREADS];

	account_peak_by_chance();
	account_kernel("thread_gemm", 0); /* its row is the first, whichever thread is */
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, launch_many, &count) != 0)
			return 5;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* Launches until the device is lost; every call says so from then on. */
int run_lost(int count)
{
	void *block = client_alloc(1 << 20);
	CUfunction kernel;
	cudaError_t error = CUDA_SUCCESS;

	(void)block;
	client_kernel("doomed");
	MUST(__cudaGetKernel(&kernel, client_kernel("doomed")));
	for (int i = 0; i < count; i++) {
		error = __cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, NULL, 0, NULL);
		if (error != CUDA_SUCCESS)
			break;
		account_kernel("doomed", 1);
	}
	printf("%s, then %s\n", cudaGetErrorName(error), cudaGetErrorName(cudaDeviceSynchronize()));
	return 13;
}

int run_flood(int count)
{
	for (int i = 0; i < count; i++)
		client_launch("flood", 1, 32, NULL);
	MUST(cudaDeviceSynchronize());
	return 0;
}

/* Not a program: `count` thousand records straight from the simulated CUPTI to its client, and what that took
 * of the client's time. */
int run_records(int count)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12"};
	uint64_t records = (uint64_t)count * 1000, ns = 0;

	client_launch("before", 1, 32, NULL);
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < 2; i++) {
		void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
		uint64_t (*flood)(uint64_t) =
		    library ? (uint64_t(*)(uint64_t))dlsym(library, "simulated_flood") : NULL;

		if (flood) {
			ns = flood(records);
			break;
		}
	}
	fprintf(stderr, "records: %llu, ns each of the client's: %.1f\n", (unsigned long long)records,
		(double)ns / (double)records);
	account_kernel("flood_kernel", (unsigned long)(ns ? records - (records + 15) / 16 : 0));
	account_kernel("flood_other", (unsigned long)(ns ? (records + 15) / 16 : 0));
	return 0;
}

/* Streams that go while they are captured, more than a table of them may hold; memory behind that. */
int run_abandoned(int count)
{
	CUstream streams[count];

	for (int i = 0; i < count; i++) {
		MUST(cudaStreamCreateWithFlags(&streams[i], 1));
		MUST(cudaStreamBeginCapture(streams[i], 0));
	}
	for (int i = 0; i < count; i++)
		MUST(cudaStreamDestroy(streams[i]));
	client_free(client_alloc(1 << 20));
	return 0;
}

/* One context after the other. */
int run_contexts(int count)
{
	for (int i = 0; i < count; i++) {
		client_free(client_alloc(1 << 20));
		MUST(cudaDeviceReset());
	}
	return 0;
}
