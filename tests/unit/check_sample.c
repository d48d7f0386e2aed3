/* SPDX-License-Identifier: MIT */
/* The sampling process: distances are exponential, blocks are hit as often as docs/metrics.md says, and what
 * hits stand for is what was allocated. All seeds are fixed, so a bound of 4 standard errors holds or does
 * not for good. */
#include "preload/sample.h"
#include "tests/unit/run_suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

enum { SEEDS = 2000, DRAWS = 100 };
static const uint64_t mean_bytes = 512 * 1024;

/* Well mixed and never 0, as thread.c makes them. */
static uint64_t seed_of(uint64_t number)
{
	uint64_t x = (number + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (x ^ x >> 31) | 1;
}

static struct rvp_thread thread_of(uint64_t number)
{
	return (struct rvp_thread){.random = seed_of(number)};
}

/* An exponential has its mean for a standard deviation; a distance is cut to whole bytes and one added, so
 * half a byte too long. */
START_TEST(the_mean_distance_is_the_one_asked_for)
{
	static const uint64_t means[] = {1000, 512 * 1024, 1ull << 40};

	for (unsigned i = 0; i < sizeof means / sizeof *means; i++) {
		double sum = 0, squares = 0, count = (double)SEEDS * DRAWS, mean, deviation;

		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct rvp_thread thread = thread_of(seed);

			for (int draw = 0; draw < DRAWS; draw++) {
				double distance =
				    (double)rvp_sample_distance(&thread, means[i]) / (double)means[i];

				ck_assert_double_gt(distance, 0);
				sum += distance;
				squares += distance * distance;
			}
		}
		mean = sum / count - 0.5 / (double)means[i];
		deviation = sqrt(squares / count - sum / count * (sum / count));
		ck_assert_double_le(fabs(mean - 1), 4 / sqrt(count));
		/* The standard error of an exponential's deviation is sqrt(2 / n). */
		ck_assert_double_le(fabs(deviation - 1), 4 * sqrt(2 / count));
	}
}
END_TEST

/* The first draw of each seed alone: a seed says nothing of its first distance. */
START_TEST(first_distances_are_exponential)
{
	/* Shares of 10 classes of equal probability: chi-squared with 9 degrees of freedom, 99.9 %
	 * below 27.9. */
	double bounds[10], chi_squared = 0;
	unsigned seen[10] = {0};

	for (int i = 0; i < 10; i++)
		bounds[i] = i == 9 ? INFINITY : -log(1 - (i + 1) / 10.0) * (double)mean_bytes;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct rvp_thread thread = thread_of(seed);
		double distance = (double)rvp_sample_distance(&thread, mean_bytes);
		int class = 0;

		while (distance > bounds[class])
			class ++;
		seen[class]++;
	}
	for (int i = 0; i < 10; i++)
		chi_squared += (seen[i] - SEEDS / 10.0) * (seen[i] - SEEDS / 10.0) / (SEEDS / 10.0);
	ck_assert_double_lt(chi_squared, 27.9);
}
END_TEST

/* The generator once more, to know the u of a distance. */
static double uniform_of(uint64_t state)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (double)((state * 0x2545f4914f6cdd1du >> 11) + 1) * 0x1p-53;
}

/* With a mean of 2^52 bytes a distance shows the logarithm to 2^-52: it agrees with libm's to 1e-9 of itself.
 */
START_TEST(the_logarithm_is_libms)
{
	const double mean = 0x1p52;

	for (uint64_t seed = 0; seed < 200000; seed++) {
		struct rvp_thread thread = thread_of(seed);
		double expected = -log(uniform_of(thread.random)), got;

		got = (double)(rvp_sample_distance(&thread, (uint64_t)mean) - 1) / mean;
		ck_assert_double_le(fabs(got - expected), 1e-9 * expected + 2 / mean);
	}
}
END_TEST

/* Blocks of one size until enough points have passed; how far the estimate is off, in standard errors. */
static double error_of_estimate(uint64_t bytes, uint64_t mean)
{
	double p = 1 - exp(-(double)bytes / (double)mean), hits = 0, blocks = 0;
	uint64_t each = 20 * mean / bytes;

	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct rvp_thread thread = thread_of(seed);

		for (uint64_t i = 0; i < each; i++)
			hits += rvp_sample_hits(&thread, &thread.sample_left, bytes, mean);
		blocks += (double)each;
	}
	/* Each block is an independent draw: hits / p has a variance of blocks * (1 - p) / p. */
	return (hits / p - blocks) / sqrt(blocks * (1 - p) / p);
}

START_TEST(weights_make_counts_unbiased)
{
	static const uint64_t sizes[] = {16, 100, 1024, 4096, 16383};

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		double errors = error_of_estimate(sizes[i], 16384);

		ck_assert_msg(fabs(errors) < 4, "%lu bytes: off by %.2f standard errors", sizes[i], errors);
	}
}
END_TEST

/* The mean of the product on the sizes that give few points a block. */
START_TEST(weights_at_the_usual_mean)
{
	static const uint64_t sizes[] = {4096, 16383, 65536, 1 << 20};

	for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		double errors = error_of_estimate(sizes[i], mean_bytes);

		ck_assert_msg(fabs(errors) < 4, "%lu bytes: off by %.2f standard errors", sizes[i], errors);
	}
}
END_TEST

/* Sizes mixed: the bytes that hits stand for are the bytes given out. */
START_TEST(a_mixture_is_weighed_block_by_block)
{
	static const uint64_t sizes[] = {16, 48, 512, 3000, 16000};
	double allocated = 0, estimated = 0, variance = 0, mean = 16384;

	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct rvp_thread thread = thread_of(seed);

		for (int i = 0; i < 1000; i++) {
			uint64_t bytes = sizes[i % 5];
			double p = 1 - exp(-(double)bytes / mean);

			allocated += (double)bytes;
			variance += (double)bytes * (double)bytes * (1 - p) / p;
			if (rvp_sample_hits(&thread, &thread.sample_left, bytes, (uint64_t)mean))
				estimated += (double)bytes / p;
		}
	}
	ck_assert_double_le(fabs(estimated - allocated), 4 * sqrt(variance));
}
END_TEST

START_TEST(an_empty_block_is_never_a_sample)
{
	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct rvp_thread thread = thread_of(seed);

		ck_assert(!rvp_sample_hits(&thread, &thread.sample_left, 0, 1));
		ck_assert(!rvp_sample_hits(&thread, &thread.sample_left, 0, 1));
	}
}
END_TEST

/* A block far above the mean is all but certain. */
START_TEST(a_huge_block_is_a_sample)
{
	for (uint64_t seed = 0; seed < 1000; seed++) {
		struct rvp_thread thread = thread_of(seed);

		ck_assert(rvp_sample_hits(&thread, &thread.sample_left, 1ull << 40, mean_bytes));
		ck_assert(rvp_sample_hits(&thread, &thread.sample_left, 1ull << 40, mean_bytes));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sample");
	TCase *cases = tcase_create("sample");

	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, the_mean_distance_is_the_one_asked_for);
	tcase_add_test(cases, first_distances_are_exponential);
	tcase_add_test(cases, the_logarithm_is_libms);
	tcase_add_test(cases, weights_make_counts_unbiased);
	tcase_add_test(cases, weights_at_the_usual_mean);
	tcase_add_test(cases, a_mixture_is_weighed_block_by_block);
	tcase_add_test(cases, an_empty_block_is_never_a_sample);
	tcase_add_test(cases, a_huge_block_is_a_sample);
	suite_add_tcase(suite, cases);
	return run_suite(suite);
}
