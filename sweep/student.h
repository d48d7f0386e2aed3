/* SPDX-License-Identifier: MIT */
/* student.h: Student's t, for means of few pairs. */
#ifndef RVP_SWEEP_STUDENT_H
#define RVP_SWEEP_STUDENT_H

#include <stddef.h>

/* P(|T| >= |t|) with `freedom` degrees of freedom. */
double rvp_student_two_sided(double t, double freedom);

/* The t for which that is `probability`, 0 < probability < 1. */
double rvp_student_quantile(double probability, double freedom);

/* Of differences that ought to be 0: their mean, half of the interval of 1 - `probability` about it, and how
 * probable a mean as far from 0 is if they are. Fewer than two: half INFINITY, p 1. */
struct rvp_mean_test {
	double mean, half, p;
};
struct rvp_mean_test rvp_mean_test(const double *differences, size_t count, double probability);

/* Holm's correction over all tests of a family: p_values become adjusted, so that each that is below alpha
 * counts, and the probability that any of them counts wrongly is alpha. */
void rvp_holm(double *p_values, size_t count);

#endif
