/* SPDX-License-Identifier: MIT */
/* products.c: a BLAS of one function, so that examples/decode-blas calls one on every machine: its interface, not its speed.
 *
 * cblas_sgemv of a matrix that lies by rows, is not turned, and of vectors without gaps: out = alpha * matrix * in + beta * out.
 * Anything else is refused: it would be wrong. */
#include <stdio.h>
#include <stdlib.h>

enum { ROW_MAJOR = 101, NOT_TURNED = 111 };

__attribute__((visibility("default"))) void cblas_sgemv(int order, int turned, int rows, int columns, float alpha,
							 const float *matrix, int stride, const float *in, int step_in,
							 float beta, float *out, int step_out);

static float product_of(const float *row, const float *in, int columns)
{
	float sum[8] = {0}, all;
	int c = 0;

	for (; c + 8 <= columns; c += 8)
		for (int lane = 0; lane < 8; lane++)
			sum[lane] += row[c + lane] * in[c + lane];
	all = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
	for (; c < columns; c++)
		all += row[c] * in[c];
	return all;
}

void cblas_sgemv(int order, int turned, int rows, int columns, float alpha, const float *matrix, int stride, const float *in,
		 int step_in, float beta, float *out, int step_out)
{
	if (order != ROW_MAJOR || turned != NOT_TURNED || step_in != 1 || step_out != 1) {
		fputs("products: cblas_sgemv only by rows, not turned, without gaps\n", stderr);
		abort();
	}
	for (int r = 0; r < rows; r++) {
		float product = alpha * product_of(matrix + (size_t)r * (size_t)stride, in, columns);

		out[r] = beta != 0 ? product + beta * out[r] : product;
	}
}
