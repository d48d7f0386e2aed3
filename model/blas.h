/* SPDX-License-Identifier: MIT */
/* blas.h: OpenBLAS, opened when something is to be run with it: nothing links it. */
#ifndef RVP_MODEL_BLAS_H
#define RVP_MODEL_BLAS_H

#include "record/status.h"

#include <stdbool.h>

enum { RVP_BLAS_PLAIN = 111, RVP_BLAS_TURNED = 112 };

struct rvp_blas {
	void *library;
	/* cblas_sgemm; its order is always by rows, 101. */
	void (*sgemm)(int order, int turn_a, int turn_b, int m, int n, int k, float alpha, const float *a,
		      int row_a, const float *b, int row_b, float beta, float *c, int row_c);
	/* The same of doubles; NULL: it has none. */
	void (*dgemm)(int order, int turn_a, int turn_b, int m, int n, int k, double alpha, const double *a,
		      int row_a, const double *b, int row_b, double beta, double *c, int row_c);
	void (*set_threads)(int count);
	int (*threads)(void);
	char *(*config)(void); /* NULL in old ones */
};

struct rvp_status rvp_blas_open(struct rvp_blas *blas);
void rvp_blas_close(struct rvp_blas *blas);

/* c (m x n) = a (m x k) b (k x n) + beta c, all of them dense by rows. */
static inline void rvp_blas_product(const struct rvp_blas *blas, int m, int n, int k, const float *a,
				    const float *b, float beta, float *c)
{
	blas->sgemm(101, RVP_BLAS_PLAIN, RVP_BLAS_PLAIN, m, n, k, 1, a, k, b, n, beta, c, n);
}

#endif
