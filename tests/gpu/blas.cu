/* SPDX-License-Identifier: MIT */
/* blas.cu: matrix products by cuBLAS, whose runtime is inside of it and passes no symbol that a preload could see. Kernel
 * names are cuBLAS's own: only how many launches there were at the least is said. */
#include "account.h"

#include <cublas_v2.h>

enum { SIDE = 1024, TURNS = 200 };

int main(void)
{
	const float one = 1, zero = 0;
	cublasHandle_t handle;
	float *matrix[3];

	if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
		return 3;
	for (int i = 0; i < 3; i++) {
		MUST(cudaMalloc((void **)&matrix[i], SIDE * SIDE * sizeof(float)));
		MUST(cudaMemset(matrix[i], 0, SIDE * SIDE * sizeof(float)));
		account_alloc(SIDE * SIDE * sizeof(float));
	}
	for (int i = 0; i < TURNS; i++)
		if (cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, SIDE, SIDE, SIDE, &one, matrix[0], SIDE, matrix[1], SIDE,
				&zero, matrix[2], SIDE) != CUBLAS_STATUS_SUCCESS)
			return 3;
	account_kernels("*", TURNS);
	MUST(cudaDeviceSynchronize());
	account_print();
	cublasDestroy(handle);
	return 0;
}
