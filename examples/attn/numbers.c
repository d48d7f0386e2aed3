/* SPDX-License-Identifier: MIT */
/* numbers.c: see numbers.h. */
#include "numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* 2^k e^r with |r| <= ln 2 / 2; the series to r^11 / 11! is good to 1e-14. */
float attn_exp(float x)
{
	static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33,
			    log2_e = 1.4426950408889634;
	double k, r, sum = 1;
	uint64_t bits;

	if (!(x > -87.0f))
		return x != x ? x : 0;
	if (x > 88.0f)
		return (float)INFINITY;
	k = (double)(int)(x * log2_e + (x < 0 ? -0.5 : 0.5));
	r = (double)x - k * ln2_high - k * ln2_low;
	for (int i = 11; i > 0; i--)
		sum = 1 + sum * r / i;
	bits = (uint64_t)(int64_t)(k + 1023) << 52;
	memcpy(&r, &bits, sizeof r);
	return (float)(sum * r);
}

/* splitmix64 */
static uint64_t next(struct attn_random *random)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

struct attn_random attn_random_from(uint64_t seed, uint64_t sample, uint64_t part)
{
	struct attn_random random = {seed};

	random.state = next(&random) ^ sample;
	random.state = next(&random) ^ part;
	return random;
}

float attn_uniform(struct attn_random *random)
{
	return (float)(next(random) >> 40) * 0x1p-24f;
}

float attn_normal(struct attn_random *random)
{
	uint64_t bits = next(random);
	float sum = 0;

	for (int i = 0; i < 4; i++, bits >>= 16)
		sum += (float)(bits & 0xffff) * 0x1p-16f;
	return (sum - 2.0f) * 1.7320508f;
}

/* Four sums side by side, so that a compiler may use vectors without changing any order. */
float attn_dot(const float *a, const float *b, size_t count)
{
	float sums[4] = {0};
	size_t i = 0;

	for (; i + 4 <= count; i += 4)
		for (size_t lane = 0; lane < 4; lane++)
			sums[lane] += a[i + lane] * b[i + lane];
	for (; i < count; i++)
		sums[i % 4] += a[i] * b[i];
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* %e tells how many digits are needed and where the point is; from 1e-5 to 1e16 they are put without an
 * exponent. */
static void put_shortest(FILE *out, double value, int most_digits, bool is_float)
{
	char text[40];
	int digits = 1, power;

	for (; digits <= most_digits; digits++) {
		snprintf(text, sizeof text, "%.*e", digits - 1, value);
		if (is_float ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value)
			break;
	}
	power = atoi(strchr(text, 'e') + 1);
	if (power >= -5 && power < 16)
		fprintf(out, "%.*f", digits - 1 > power ? digits - 1 - power : 0, value);
	else
		fputs(text, out);
}

void put_float(FILE *out, float value)
{
	if (isfinite(value))
		put_shortest(out, value, 9, true);
	else
		fputs("null", out);
}

void put_double(FILE *out, double value)
{
	if (isfinite(value))
		put_shortest(out, value, 17, false);
	else
		fputs("null", out);
}
