/* SPDX-License-Identifier: MIT */
/* decode.c: a decoder of text on two streams, as far as the device sees it: weights copied up from pinned
 * memory, a KV cache that grows by a block every 16 steps, activations that live for a step, kernels named as
 * a framework names them. Steps are said through rvprof.h, which does nothing without the profiler. And its
 * ways to end. */
#include "include/rvprof.h"
#include "tests/cuda/client.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	LAYERS = 2,
	WEIGHT_BYTES = 4 << 20,
	CACHE_BYTES = 1 << 20,
	CACHE_EVERY = 16,
	CACHE_BLOCKS = 64,
	TEMP_BYTES = 128 << 10
};

static const char gemm[] = "_ZN7cutlass6KernelINS_4gemm6device4GemmEEEvNT_6ParamsE";
static const char attention[] = "_Z24flash_fwd_splitkv_kernelPK6__halfS1_S1_PS_i";
static const char norm[] = "_Z15rms_norm_kernelPK6__halfS1_PS_if";
static const char sample[] = "_Z13sample_kernelPKfPiif";

struct model {
	CUstream compute, copy;
	CUevent loaded;
	void *host, *weights[LAYERS], *cache[CACHE_BLOCKS];
	int cache_count;
};

static void load_weights(struct model *model)
{
	MUST(cudaHostAlloc(&model->host, WEIGHT_BYTES, 0));
	account_alloc(CLIENT_PINNED, (unsigned long long)(uintptr_t)model->host, WEIGHT_BYTES);
	rvprof_scope_begin("weights", "load");
	for (int i = 0; i < LAYERS; i++) {
		model->weights[i] = client_alloc(WEIGHT_BYTES);
		client_copy(model->weights[i], model->host, WEIGHT_BYTES, CLIENT_HTOD, model->copy);
	}
	rvprof_scope_end();
	MUST(cudaEventRecord(model->loaded, model->copy));
	MUST(cudaStreamWaitEvent(model->compute, model->loaded, 0));
}

static void grow_cache(struct model *model)
{
	rvprof_scope_begin("kv_cache", "grow");
	model->cache[model->cache_count] = client_alloc(CACHE_BYTES);
	rvprof_scope_end();
	client_set(model->cache[model->cache_count++], CACHE_BYTES, model->compute);
}

static void step(struct model *model, int number)
{
	static int token;
	void *temp;

	rvprof_step_begin("decode", (uint64_t)number + 1);
	if (number % CACHE_EVERY == 0 && model->cache_count < CACHE_BLOCKS)
		grow_cache(model);
	temp = client_alloc_async(TEMP_BYTES, model->compute);
	rvprof_scope_begin(NULL, "forward");
	for (int i = 0; i < LAYERS; i++) {
		rvprof_scope_begin(NULL, "layer");
		client_launch(norm, 8, 128, model->compute);
		client_launch(gemm, 64, 256, model->compute);
		client_launch(attention, 32, 128, model->compute);
		client_launch_legacy(gemm, 64, 256, model->compute);
		rvprof_scope_end();
	}
	rvprof_scope_end();
	client_launch(sample, 1, 1024, model->compute);
	client_copy(&token, temp, sizeof token, CLIENT_DTOH, model->compute);
	client_free_async(temp, model->compute);
	MUST(cudaStreamSynchronize(model->compute));
	rvprof_step_end();
}

static void begin(struct model *model)
{
	*model = (struct model){.cache_count = 0};
	MUST(cudaStreamCreateWithFlags(&model->compute, 1));
	MUST(cudaStreamCreateWithFlags(&model->copy, 1));
	MUST(cudaEventCreate(&model->loaded));
	load_weights(model);
}

static void end(struct model *model)
{
	for (int i = 0; i < LAYERS; i++)
		client_free(model->weights[i]);
	for (int i = 0; i < model->cache_count; i++)
		client_free(model->cache[i]);
	account_free(CLIENT_PINNED, (unsigned long long)(uintptr_t)model->host);
	MUST(cudaFreeHost(model->host));
	MUST(cudaEventDestroy(model->loaded));
	MUST(cudaStreamDestroy(model->copy));
	MUST(cudaStreamDestroy(model->compute));
}

int run_decode(int steps)
{
	struct model model;

	begin(&model);
	for (int i = 0; i < steps; i++)
		step(&model, i);
	end(&model);
	return 0;
}

/* The child has no use of CUDA; the parent goes on. */
int run_fork(int steps)
{
	struct model model;
	int status;
	pid_t child;

	begin(&model);
	step(&model, 0);
	child = fork();
	if (child == 0)
		_exit(7);
	for (int i = 1; i < steps; i++)
		step(&model, i);
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		return 5;
	end(&model);
	return 0;
}

/* With all its memory, and without a destructor or a handler. */
int run_quick_exit(int steps)
{
	struct model model;

	begin(&model);
	for (int i = 0; i < steps; i++)
		step(&model, i);
	account_print();
	_exit(9);
}

int run_killed(int steps)
{
	struct model model;

	begin(&model);
	for (int i = 0; i < steps; i++)
		step(&model, i);
	account_print();
	raise(SIGKILL);
	return 0;
}

/* Ends while a kernel runs. */
int run_running(int steps)
{
	struct model model;

	begin(&model);
	for (int i = 0; i < steps; i++)
		step(&model, i);
	client_launch(gemm, 64, 256, model.compute);
	client_launch("long_kernel", 1, 32, model.compute);
	return 0;
}

/* Work after the context is gone begins a new one. */
int run_reset(int steps)
{
	struct model model;

	for (int round = 0; round < 2; round++) {
		begin(&model);
		for (int i = 0; i < steps; i++)
			step(&model, i);
		end(&model);
		MUST(cudaDeviceSynchronize());
		MUST(cudaDeviceReset());
	}
	return 0;
}
