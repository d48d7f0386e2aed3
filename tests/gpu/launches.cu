/* SPDX-License-Identifier: MIT */
/* launches.cu: launch-bound on purpose. `launches eager N`: N launches of an empty kernel, a synchronisation each 100;
 * `launches graph N`: N replays of a graph of 20 of them; `launches ends HOW`: 1,000 launches, then the end by _exit,
 * abort or kill, without a synchronisation for the first. Prints ns a launch by its own clock: what a profiler adds. */
#include "account.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

__global__ void nothing(int *x)
{
	if (x)
		*x = 1;
}

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void eager(long count, cudaStream_t stream)
{
	for (long i = 0; i < count; i++) {
		nothing<<<1, 32, 0, stream>>>(NULL);
		if (i % 100 == 99)
			MUST(cudaStreamSynchronize(stream));
	}
	MUST(cudaStreamSynchronize(stream));
	account_kernels("nothing", count);
}

static void graph(long count, cudaStream_t stream)
{
	cudaGraphExec_t ready;
	cudaGraph_t graph;

	MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 20; i++)
		nothing<<<1, 32, 0, stream>>>(NULL);
	MUST(cudaStreamEndCapture(stream, &graph));
	MUST(cudaGraphInstantiate(&ready, graph, 0));
	for (long i = 0; i < count; i++) {
		MUST(cudaGraphLaunch(ready, stream));
		if (i % 20 == 19)
			MUST(cudaStreamSynchronize(stream));
	}
	MUST(cudaStreamSynchronize(stream));
	account_kernels("nothing", 20 * count);
}

static void end(const char *how, cudaStream_t stream)
{
	eager(1000, stream);
	account_print();
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "abort") == 0)
		abort();
	raise(SIGKILL);
}

int main(int count, char **words)
{
	cudaStream_t stream;
	double begin;
	long launches;

	if (count < 3)
		return 2;
	MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	eager(200, stream);
	if (strcmp(words[1], "ends") == 0)
		end(words[2], stream);
	launches = atol(words[2]);
	begin = now_ns();
	if (strcmp(words[1], "graph") == 0)
		graph(launches, stream);
	else
		eager(launches, stream);
	printf("ns_a_launch: %.1f\n", (now_ns() - begin) / (double)launches);
	account_print();
	return 0;
}
