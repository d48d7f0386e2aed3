/* SPDX-License-Identifier: MIT */
/* profile.c: see profile.h. */
#include "model/profile.h"

#include <math.h>
#include <stdlib.h>

static const double megabyte = 1048576, taken_peak_gflops = 100, least_s = 1e-6, least_mb = 0.001;

struct rvp_rates rvp_rates_of(double flops, double latency_ms, double peak_mb)
{
	double seconds = latency_ms / 1000 > least_s ? latency_ms / 1000 : least_s;
	struct rvp_rates rates = {.gflops_per_second = flops / 1e9 / seconds,
				  .memory_bandwidth_mbs = peak_mb / seconds};

	rates.computational_efficiency = fmin(rates.gflops_per_second / taken_peak_gflops, 1);
	rates.is_memory_bound = rates.memory_bandwidth_mbs > rates.gflops_per_second * 100;
	return rates;
}

double rvp_memory_efficiency(double useful_mb, double peak_mb)
{
	if (isnan(useful_mb) || isnan(peak_mb))
		return NAN;
	return fmin(useful_mb / (peak_mb > least_mb ? peak_mb : least_mb), 1);
}

struct rvp_profile_base rvp_profile_base_of(const struct rvp_network *network, double value_bytes)
{
	return (struct rvp_profile_base){
	    .parameters = network->total.parameters,
	    .batch = rvp_shape_batch(&network->input),
	    .flops = network->total.flops,
	    .flops_original = network->total.flops_original,
	    .has_parameters = true,
	    .has_flops = true,
	    .value_bytes = value_bytes,
	    .activation_mb = (double)rvp_shape_values(&network->input) * 4 * 2 / megabyte,
	    .held_mb = (double)network->buffer_values_max * 4 / megabyte,
	    .useful_mb = NAN,
	    .latency_ms = NAN,
	};
}

/* Never below what is known to be held. */
static double peak_of(const struct rvp_profile_base *base, double useful_mb)
{
	if (isnan(useful_mb))
		return base->held_mb;
	return isnan(base->held_mb) ? useful_mb : fmax(base->held_mb, useful_mb);
}

struct rvp_forward rvp_forward_of(const struct rvp_profile_base *base)
{
	struct rvp_forward forward = {.parameters = base->parameters,
				      .flops = base->flops,
				      .flops_original = base->flops_original,
				      .batch_flops = base->flops * base->batch,
				      .has_parameters = base->has_parameters,
				      .has_flops = base->has_flops,
				      .latency_ms = base->latency_ms,
				      .activation_memory_mb = base->activation_mb};
	double useful = base->useful_mb;

	forward.parameter_memory_mb =
	    base->has_parameters ? (double)base->parameters * base->value_bytes / megabyte : NAN;
	forward.parameter_memory_mb_original =
	    base->has_parameters ? (double)base->parameters * 4 / megabyte : NAN;
	if (isnan(useful))
		useful = forward.parameter_memory_mb + base->activation_mb;
	/* A footprint that was given stands; one of a network is not below its parameters and activations. */
	forward.peak_memory_mb =
	    isnan(base->useful_mb) && !isnan(base->activation_mb) ? peak_of(base, useful) : base->held_mb;
	forward.memory_efficiency = rvp_memory_efficiency(useful, forward.peak_memory_mb);
	forward.has_rates = base->has_flops && !isnan(base->latency_ms);
	if (forward.has_rates) {
		forward.rates =
		    rvp_rates_of((double)forward.batch_flops, base->latency_ms, forward.peak_memory_mb);
		forward.original =
		    rvp_rates_of((double)base->flops_original, base->latency_ms, forward.peak_memory_mb);
	}
	return forward;
}

struct rvp_backward rvp_backward_of(const struct rvp_profile_base *base, const struct rvp_forward *forward)
{
	struct rvp_backward backward = {.flops = forward->flops * 2,
					.total_flops = forward->flops * 3,
					.latency_ms = forward->latency_ms * 2,
					.total_latency_ms = forward->latency_ms * 3,
					.gradient_memory_mb = forward->parameter_memory_mb,
					.total_gflops_per_second = NAN,
					.total_gflops_per_second_original = NAN};

	backward.total_memory_mb = forward->parameter_memory_mb * 2 + forward->activation_memory_mb;
	backward.adam_mb = backward.gradient_memory_mb * 2;
	if (forward->has_rates) {
		double total_ms = backward.total_latency_ms;

		backward.total_gflops_per_second =
		    rvp_rates_of((double)forward->batch_flops * 3, total_ms, 0).gflops_per_second;
		backward.total_gflops_per_second_original =
		    rvp_rates_of((double)base->flops_original * 3, total_ms, 0).gflops_per_second;
	}
	return backward;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

double rvp_median(double *values, size_t count)
{
	if (!count)
		return NAN;
	qsort(values, count, sizeof *values, compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
