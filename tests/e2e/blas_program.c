/* SPDX-License-Identifier: MIT */
/* blas_program.c: products of matrices by CBLAS and Fortran names, in steps, by two threads; prints the operations that they
 * take, by arithmetic: `gemm=N gemv=N calls=N step=N`. */
#include <rvprof.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROW = 101, PLAIN = 111, TURNED = 112 };
void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void cblas_sgemm(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
void cblas_zgemm(int, int, int, int, int, int, const void *, const void *, int, const void *, int, const void *, void *, int);
void cblas_dgemv(int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
void sgemm_(const char *, const char *, const int *, const int *, const int *, const float *, const float *, const int *,
	    const float *, const int *, const float *, float *, const int *);
void dgemv_(const char *, const int *, const int *, const double *, const double *, const int *, const double *, const int *,
	    const double *, double *, const int *);

static double *numbers(size_t count)
{
	double *all = malloc(count * sizeof *all);

	for (size_t i = 0; i < count; i++)
		all[i] = (double)(i % 7) - 3;
	return all;
}

static double expected(const double *a, const double *b, int k)
{
	double sum = 0;

	for (int i = 0; i < k; i++)
		sum += a[i] * b[i];
	return sum;
}

/* y = A x with A 40 x 30: 2 * 40 * 30; turned 2 * 30 * 40. */
static void *vectors(void *nothing)
{
	double *a = numbers(40 * 30), *x = numbers(40), y[40];
	const int m = 40, n = 30, one = 1;
	const double alpha = 1, beta = 0;

	cblas_dgemv(ROW, PLAIN, m, n, 1, a, n, x, 1, 0, y, 1);
	if (y[0] != expected(a, x, n))
		exit(1);
	cblas_dgemv(ROW, TURNED, m, n, 1, a, n, x, 1, 0, y, 1);
	dgemv_("N", &m, &n, &alpha, a, &m, x, &one, &beta, y, &one);
	free(a), free(x);
	return nothing;
}

int main(void)
{
	double *a = numbers(64 * 32), *b = numbers(64 * 48), *c = numbers(64 * 64);
	float *f = calloc(64 * 64, sizeof *f);
	const double one[2] = {1, 0}, zero[2] = {0, 0};
	const float alpha = 1, beta = 0;
	const int m = 20, n = 30, k = 40;
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		rvprof_step();
		cblas_dgemm(ROW, PLAIN, PLAIN, 64, 48, 32, 1, a, 32, b, 48, 0, c, 48);
		sgemm_("N", "N", &m, &n, &k, &alpha, f, &m, f, &k, &beta, f, &m);
	}
	rvprof_stop();
	cblas_dgemm(ROW, PLAIN, PLAIN, 64, 48, 32, 1, a, 32, b, 48, 0, c, 48); /* passed over */
	rvprof_start(1);
	cblas_zgemm(ROW, PLAIN, PLAIN, 10, 11, 12, one, a, 12, b, 11, zero, c, 11);
	cblas_sgemm(ROW, PLAIN, TURNED, 5, 0, 7, 1, f, 7, f, 7, 0, f, 1); /* of nothing */
	pthread_create(&thread, NULL, vectors, NULL);
	pthread_join(thread, NULL);
	printf("gemm=%d gemv=%d calls=%d step=%d last=%d\n",
	       3 * (2 * 64 * 48 * 32 + 2 * 20 * 30 * 40) + 8 * 10 * 11 * 12, 3 * 2 * 40 * 30, 3 * 2 + 2 + 3,
	       2 * 64 * 48 * 32 + 2 * 20 * 30 * 40, 8 * 10 * 11 * 12);
	return 0;
}
