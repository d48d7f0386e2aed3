/* SPDX-License-Identifier: MIT */
/* student.c: see student.h. The tail is a regularized incomplete beta function, by its continued fraction
 * (Abramowitz and Stegun 26.5.8), evaluated by Lentz's method. */
#include "sweep/student.h"

#include <math.h>
#include <stdlib.h>

enum { TERMS = 300, HALVINGS = 200 };

static double not_zero(double x)
{
	return fabs(x) < 1e-300 ? 1e-300 : x;
}

/* The fraction for x < (a + 1) / (a + b + 2). */
static double fraction(double x, double a, double b)
{
	double c = 1, d = 1 / not_zero(1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m <= TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), step;

		d = 1 / not_zero(1 + even * d);
		c = not_zero(1 + even / c);
		value *= c * d;
		d = 1 / not_zero(1 + odd * d);
		c = not_zero(1 + odd / c);
		step = c * d;
		value *= step;
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return value;
}

static double incomplete_beta(double x, double a, double b)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * fraction(x, a, b) / a
					 : 1 - front * fraction(1 - x, b, a) / b;
}

double rvp_student_two_sided(double t, double freedom)
{
	return isnan(t) ? 1 : incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

double rvp_student_quantile(double probability, double freedom)
{
	double low = 0, high = 1;

	while (rvp_student_two_sided(high, freedom) > probability && high < 1e12)
		high *= 2;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		*(rvp_student_two_sided(middle, freedom) > probability ? &low : &high) = middle;
	}
	return high;
}

struct rvp_mean_test rvp_mean_test(const double *differences, size_t count, double probability)
{
	struct rvp_mean_test test = {.mean = NAN, .half = INFINITY, .p = 1};
	double sum = 0, squares = 0, error;

	for (size_t i = 0; i < count; i++)
		sum += differences[i];
	if (count)
		test.mean = sum / (double)count;
	if (count < 2)
		return test;
	for (size_t i = 0; i < count; i++)
		squares += (differences[i] - test.mean) * (differences[i] - test.mean);
	error = sqrt(squares / (double)(count - 1) / (double)count);
	test.half = rvp_student_quantile(probability, (double)count - 1) * error;
	if (error > 0)
		test.p = rvp_student_two_sided(test.mean / error, (double)count - 1);
	else
		test.p = test.mean == 0;
	return test;
}

struct ranked {
	double p;
	size_t at;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *one = a, *other = b;

	return (one->p > other->p) - (one->p < other->p);
}

void rvp_holm(double *p_values, size_t count)
{
	struct ranked *ranked = calloc(count + 1, sizeof *ranked);
	double least = 0;

	for (size_t i = 0; ranked && i < count; i++)
		ranked[i] = (struct ranked){p_values[i], i};
	if (ranked)
		qsort(ranked, count, sizeof *ranked, by_p);
	for (size_t i = 0; i < count; i++) {
		/* Without memory: Bonferroni's, which is never less careful. */
		double p = ranked ? ranked[i].p * (double)(count - i) : p_values[i] * (double)count;

		least = ranked && p < least ? least : p;
		p_values[ranked ? ranked[i].at : i] = least < 1 ? least : 1;
	}
	free(ranked);
}
