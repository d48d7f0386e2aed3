/* SPDX-License-Identifier: MIT */
/* sample.c: see sample.h. No libm inside the program: the logarithm is our own. */
#include "preload/sample.h"

#include <string.h>

/* xorshift64*: 53 good bits. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1du;
}

/* -ln(u) for 0 < u <= 1, relative error below 1e-9: u = m * 2^e with m in [sqrt(1/2), sqrt(2)), and
 * ln m = 2 artanh((m - 1) / (m + 1)) by its series. */
static double minus_log(double u)
{
	uint64_t bits;
	int exponent;
	double m, t, square, sum = 0;

	memcpy(&bits, &u, sizeof bits);
	exponent = (int)(bits >> 52) - 1023;
	bits = (bits & 0xfffffffffffffu) | 1023ull << 52;
	memcpy(&m, &bits, sizeof m);
	if (m > 1.4142135623730951) {
		m *= 0.5;
		exponent++;
	}
	t = (m - 1) / (m + 1);
	square = t * t;
	for (int power = 17; power >= 1; power -= 2)
		sum = sum * square + 1.0 / power;
	return -(2 * t * sum + exponent * 0.6931471805599453);
}

int64_t rvp_sample_distance(struct rvp_thread *thread, uint64_t mean_bytes)
{
	double u = (double)((next_random(&thread->random) >> 11) + 1) * 0x1p-53;

	return (int64_t)(minus_log(u) * (double)mean_bytes) + 1;
}
