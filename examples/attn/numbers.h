/* SPDX-License-Identifier: MIT */
/* numbers.h: arithmetic that gives the same bits on every x86-64: floats and doubles in a fixed order of
 * operations, no contraction (-ffp-contract=off), nothing of libm but sqrt, which is exact to the last bit by
 * its standard. */
#ifndef ATTN_NUMBERS_H
#define ATTN_NUMBERS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* e to the power x: within a unit or two in the last place of a float; 0 below -87. */
float attn_exp(float x);

/* A stream of random numbers that depends on its seeds alone. */
struct attn_random {
	uint64_t state;
};
struct attn_random attn_random_from(uint64_t seed, uint64_t sample, uint64_t part);
float attn_uniform(struct attn_random *random); /* [0, 1), multiples of 2^-24 */
float attn_normal(struct attn_random *random);  /* nearly: four uniforms, mean 0, variance 1 */

float attn_dot(const float *a, const float *b, size_t count);

/* The least digits that read back as the same number, no exponent but for what is huge or tiny. */
void put_float(FILE *out, float value);
void put_double(FILE *out, double value);

#endif
