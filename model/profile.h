/* SPDX-License-Identifier: MIT */
/* profile.h: a forward and a backward pass in the figures of TinyTorch's profiler, by its definitions where
 * they are sound. Where they are not, the corrected figure has the name and the old one is `original`:
 *
 *   - rates are of the whole batch, as the latency is; the original divides one sample's FLOPs by the batch's
 * time
 *   - convolutions have the size of output that padding and kernel leave; the original takes input / stride
 *   - an activation is no product; the original counts each value of it as one FLOP, batch included
 *
 * Megabytes are 2^20 bytes. memory_bandwidth_mbs is footprint by time, not traffic; bottleneck compares the
 * two rates with a fixed factor and is no roofline (model/roofline.h is). What is not known is NAN.
 */
#ifndef RVP_MODEL_PROFILE_H
#define RVP_MODEL_PROFILE_H

#include "model/network.h"

/* What is derived from: of a network, or given. Doubles that are not known are NAN. */
struct rvp_profile_base {
	uint64_t parameters, batch;
	uint64_t flops, flops_original; /* of a sample */
	bool has_parameters, has_flops;
	double value_bytes;   /* of a parameter */
	double activation_mb; /* input and an output taken to be as large, in float32 */
	double held_mb;       /* most that was seen held while it ran */
	double useful_mb;     /* parameters and activations; NAN: their sum */
	double latency_ms;
};

struct rvp_rates {
	double gflops_per_second, memory_bandwidth_mbs, computational_efficiency;
	bool is_memory_bound;
};

struct rvp_forward {
	uint64_t parameters, flops, flops_original, batch_flops;
	bool has_parameters, has_flops, has_rates;
	double latency_ms;
	double parameter_memory_mb, parameter_memory_mb_original, activation_memory_mb, peak_memory_mb,
	    memory_efficiency;
	struct rvp_rates rates, original;
};

struct rvp_backward {
	uint64_t flops, total_flops; /* of a sample */
	double latency_ms, total_latency_ms;
	double gradient_memory_mb, total_memory_mb;
	double total_gflops_per_second, total_gflops_per_second_original;
	double adam_mb; /* two moments; AdamW the same, SGD nothing */
};

struct rvp_profile_base rvp_profile_base_of(const struct rvp_network *network, double value_bytes);
struct rvp_forward rvp_forward_of(const struct rvp_profile_base *base);
struct rvp_backward rvp_backward_of(const struct rvp_profile_base *base, const struct rvp_forward *forward);

struct rvp_rates rvp_rates_of(double flops, double latency_ms, double peak_mb);
double rvp_memory_efficiency(double useful_mb, double peak_mb);

/* Sorts them. Of an even count the mean of the two in the middle; NAN of none. */
double rvp_median(double *values, size_t count);

#endif
