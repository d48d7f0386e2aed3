/* SPDX-License-Identifier: MIT */
/* vectors.h: the arithmetic of the programs here: enough to read every weight and write every result. */
#ifndef VECTORS_H
#define VECTORS_H

#include <stddef.h>

static inline float dot(const float *a, const float *b, size_t n)
{
	float sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* out[rows] = matrix[rows][n] * in[n], kept small so that it never overflows. */
static inline void product(float *out, const float *matrix, const float *in, size_t rows, size_t n)
{
	for (size_t i = 0; i < rows; i++) {
		float value = dot(matrix + i * n, in, n);

		out[i] = value > 4 ? 4 : value < -4 ? -4 : value;
	}
}

static inline float noise(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return ((float)(*state >> 9) / 8388608.0f - 0.5f) / 16;
}

#endif
