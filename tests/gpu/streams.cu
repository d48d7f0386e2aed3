/* SPDX-License-Identifier: MIT */
/* streams.cu: a decode on two streams, 64 steps: weights copied up once, a KV cache that grows by a block every 16 steps,
 * activations from the default pool, copies beside kernels. What is what is said by rvprof.h. */
#include "account.h"
#include "rvprof.h"

enum { STEPS = 64, LAYERS = 4, WIDTH = 1 << 20, KV_BYTES = 4 << 20, ACT_BYTES = 2 << 20 };

__global__ void gemm_like(const float *a, const float *b, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (i >= n)
		return;
	for (int k = 0; k < 64; k++)
		sum += a[(i + k * 4099) % n] * b[(i * 7 + k) % n];
	out[i] = sum;
}

__global__ void attention_like(const float *kv, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = kv[(i * 13) % n] + out[i];
}

__global__ void norm_like(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = rsqrtf(1.0f + x[i] * x[i]);
}

int main(void)
{
	float *weights[LAYERS], *kv[STEPS / 16 + 1], *pinned;
	int caches = 0, n = ACT_BYTES / (int)sizeof(float);
	cudaStream_t compute, copies;

	MUST(cudaStreamCreateWithFlags(&compute, cudaStreamNonBlocking));
	MUST(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
	MUST(cudaMallocHost((void **)&pinned, WIDTH * sizeof(float)));
	memset(pinned, 0, WIDTH * sizeof(float));
	rvprof_scope_begin("weights", "load");
	for (int i = 0; i < LAYERS; i++) {
		MUST(cudaMalloc((void **)&weights[i], WIDTH * sizeof(float)));
		account_alloc(WIDTH * sizeof(float));
		account_category("weights", WIDTH * sizeof(float));
		MUST(cudaMemcpyAsync(weights[i], pinned, WIDTH * sizeof(float), cudaMemcpyHostToDevice, copies));
	}
	rvprof_scope_end();
	MUST(cudaStreamSynchronize(copies));
	for (int step = 0; step < STEPS; step++) {
		float *activation;

		rvprof_step_begin("decode", (uint64_t)step + 1);
		if (step % 16 == 0) {
			rvprof_scope_begin("kv_cache", "grow");
			MUST(cudaMalloc((void **)&kv[caches], KV_BYTES));
			MUST(cudaMemsetAsync(kv[caches++], 0, KV_BYTES, compute));
			account_alloc(KV_BYTES);
			account_category("kv_cache", KV_BYTES);
			rvprof_scope_end();
		}
		MUST(cudaMallocAsync((void **)&activation, ACT_BYTES, compute));
		account_alloc(ACT_BYTES);
		for (int layer = 0; layer < LAYERS; layer++) {
			LAUNCH(gemm_like, n / 256, 256, compute, weights[layer], kv[0], activation, n);
			LAUNCH(attention_like, n / 256, 256, compute, kv[caches - 1], activation, n);
			LAUNCH(norm_like, n / 256, 256, compute, activation, n);
		}
		MUST(cudaMemcpyAsync(pinned, weights[0], 4096, cudaMemcpyDeviceToHost, copies));
		MUST(cudaFreeAsync(activation, compute));
		account_free(ACT_BYTES);
		MUST(cudaStreamSynchronize(compute));
		rvprof_step_end();
	}
	MUST(cudaDeviceSynchronize());
	account_print();
	return 0;
}
