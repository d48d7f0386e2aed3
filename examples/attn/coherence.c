/* SPDX-License-Identifier: MIT */
/* coherence.c: see coherence.h. */
#include "coherence.h"

#include <float.h>
#include <math.h>

static double norm_of(const float *a, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)a[i] * (double)a[i];
	return sqrt(sum);
}

double cosine_of(const float *a, const float *b, size_t count)
{
	double dot = 0, norms = norm_of(a, count) * norm_of(b, count);

	for (size_t i = 0; i < count; i++)
		dot += (double)a[i] * (double)b[i];
	return norms < DBL_EPSILON ? 0 : dot / norms;
}

struct behaviour behaviour_of(const float *baseline, const float *gated, size_t count)
{
	struct behaviour behaviour = {.coherence_delta = 0};
	double norm = norm_of(baseline, count);

	if (!count)
		return behaviour;
	behaviour.coherence_delta = cosine_of(baseline, gated, count) - 1;
	for (size_t i = 0; i < count; i++)
		behaviour.decision_flips += !signbit(baseline[i]) != !signbit(gated[i]);
	if (norm > DBL_EPSILON)
		behaviour.path_length_change = norm_of(gated, count) / norm - 1;
	return behaviour;
}

double l2_distance(const float *a, size_t a_count, const float *b, size_t b_count)
{
	double sum = 0;

	for (size_t i = 0; i < a_count || i < b_count; i++) {
		double apart = (i < a_count ? (double)a[i] : 0) - (i < b_count ? (double)b[i] : 0);

		sum += apart * apart;
	}
	return sqrt(sum);
}

static double sparsity(size_t edges, size_t count)
{
	return count ? 1 - (double)edges / (double)count : 0;
}

struct mask_difference mask_difference_of(const bool *baseline, size_t baseline_count, const bool *gated,
					  size_t gated_count)
{
	struct mask_difference difference = {.jaccard = 1, .sparsity_ratio = 1};
	size_t both = 0, either = 0;
	double before, after;

	for (size_t i = 0; i < baseline_count || i < gated_count; i++) {
		bool is_in_one = i < baseline_count && baseline[i], is_in_other = i < gated_count && gated[i];

		difference.baseline_edges += is_in_one;
		difference.gated_edges += is_in_other;
		difference.edge_flips += is_in_one != is_in_other;
		both += is_in_one && is_in_other;
		either += is_in_one || is_in_other;
	}
	if (either)
		difference.jaccard = (double)both / (double)either;
	before = sparsity(difference.baseline_edges, baseline_count);
	after = sparsity(difference.gated_edges, gated_count);
	if (baseline_count && gated_count)
		difference.sparsity_ratio = before > 0 ? after / before : after;
	return difference;
}

struct batch batch_of(const double *values, size_t count)
{
	struct batch batch = {.mean = 0};
	double squares = 0, half;

	for (size_t i = 0; i < count; i++)
		batch.mean += values[i];
	batch.mean = count ? batch.mean / (double)count : 0;
	for (size_t i = 0; i < count; i++)
		squares += (values[i] - batch.mean) * (values[i] - batch.mean);
	batch.std = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
	half = count ? 1.96 * (batch.std / sqrt((double)count)) : 0;
	batch.low = batch.mean - half;
	batch.high = batch.mean + half;
	return batch;
}
