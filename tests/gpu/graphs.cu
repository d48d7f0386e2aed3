/* SPDX-License-Identifier: MIT */
/* graphs.cu: a graph of 20 kernels on two branches, captured once and replayed 500 times, beside 100 plain launches. */
#include "account.h"

enum { NODES = 20, REPLAYS = 500, PLAIN = 100, N = 1 << 16 };

__global__ void in_graph(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = x[i] * 0.5f + 1.0f;
}

__global__ void outside(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] += 1.0f;
}

static void capture(cudaStream_t first, cudaStream_t second, float *x)
{
	cudaEvent_t forked, joined;

	MUST(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
	MUST(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
	MUST(cudaEventRecord(forked, first));
	MUST(cudaStreamWaitEvent(second, forked, 0));
	for (int i = 0; i < NODES; i++)
		in_graph<<<N / 256, 256, 0, i % 2 ? second : first>>>(x + (i % 2) * N, N);
	MUST(cudaEventRecord(joined, second));
	MUST(cudaStreamWaitEvent(first, joined, 0));
}

int main(void)
{
	cudaStream_t first, second;
	cudaGraphExec_t ready;
	cudaGraph_t graph;
	float *x;

	MUST(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
	MUST(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	MUST(cudaMalloc((void **)&x, 2 * N * sizeof(float)));
	account_alloc(2 * N * sizeof(float));
	MUST(cudaMemset(x, 0, 2 * N * sizeof(float)));
	MUST(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
	capture(first, second, x);
	MUST(cudaStreamEndCapture(first, &graph));
	MUST(cudaGraphInstantiate(&ready, graph, 0));
	for (int i = 0; i < REPLAYS; i++)
		MUST(cudaGraphLaunch(ready, first));
	account_kernels("in_graph", (long)NODES * REPLAYS);
	for (int i = 0; i < PLAIN; i++)
		LAUNCH(outside, N / 256, 256, first, x, N);
	MUST(cudaDeviceSynchronize());
	MUST(cudaGraphExecDestroy(ready));
	MUST(cudaGraphDestroy(graph));
	MUST(cudaFree(x));
	account_free(2 * N * sizeof(float));
	account_print();
	return 0;
}
