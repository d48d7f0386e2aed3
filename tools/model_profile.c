/* SPDX-License-Identifier: MIT */
/* model_profile.c: see model_profile.h. A figure that an older version would have given otherwise stands
 * beside it,
 * `<name>_original`. */
#include "tools/model_profile.h"

#include <math.h>
#include <stdio.h>

static void tell_both(struct rvp_figures *figures, const char *key, double value, double original)
{
	char old[64];

	rvp_figure_double(figures, key, value);
	snprintf(old, sizeof old, "%s_original", key);
	if (!isnan(value) && value != original)
		rvp_figure_double(figures, old, original);
}

static const char *bottleneck(const struct rvp_rates *rates)
{
	return rates->is_memory_bound ? "memory" : "compute";
}

static void tell_bound(struct rvp_figures *figures, const struct rvp_rates *rates, const char *suffix)
{
	char key[40];

	snprintf(key, sizeof key, "is_memory_bound%s", suffix);
	rvp_figure_bool(figures, key, rates->is_memory_bound);
	snprintf(key, sizeof key, "is_compute_bound%s", suffix);
	rvp_figure_bool(figures, key, !rates->is_memory_bound);
	snprintf(key, sizeof key, "bottleneck%s", suffix);
	rvp_figure_text(figures, key, bottleneck(rates));
}

/* The verdict needs a footprint. */
static void tell_rates(struct rvp_figures *figures, const struct rvp_forward *forward)
{
	const struct rvp_rates *now = &forward->rates, *old = &forward->original;

	if (!forward->has_rates)
		return;
	tell_both(figures, "gflops_per_second", now->gflops_per_second, old->gflops_per_second);
	rvp_figure_double(figures, "memory_bandwidth_mbs", now->memory_bandwidth_mbs);
	tell_both(figures, "computational_efficiency", now->computational_efficiency,
		  old->computational_efficiency);
	if (isnan(now->memory_bandwidth_mbs))
		return;
	tell_bound(figures, now, "");
	if (now->is_memory_bound != old->is_memory_bound)
		tell_bound(figures, old, "_original");
	rvp_figure_text(figures, "memory_bandwidth_is", "footprint by time, not traffic");
}

static void tell_forward(struct rvp_figures *figures, const struct rvp_forward *forward)
{
	rvp_figures_group(figures, "forward", "forward pass");
	if (forward->has_parameters)
		rvp_figure_whole(figures, "parameters", forward->parameters);
	if (forward->has_flops) {
		rvp_figure_whole(figures, "flops", forward->flops);
		if (forward->flops != forward->flops_original)
			rvp_figure_whole(figures, "flops_original", forward->flops_original);
		rvp_figure_whole(figures, "batch_flops", forward->batch_flops);
	}
	rvp_figure_double(figures, "latency_ms", forward->latency_ms);
	tell_both(figures, "parameter_memory_mb", forward->parameter_memory_mb,
		  forward->parameter_memory_mb_original);
	rvp_figure_double(figures, "activation_memory_mb", forward->activation_memory_mb);
	rvp_figure_double(figures, "peak_memory_mb", forward->peak_memory_mb);
	rvp_figure_double(figures, "memory_efficiency", forward->memory_efficiency);
	tell_rates(figures, forward);
	rvp_figures_end(figures);
}

void rvp_tell_optimizers(struct rvp_figures *figures, double gradient_mb)
{
	if (isnan(gradient_mb))
		return;
	if (figures->is_json)
		rvp_json_open(&figures->json, "optimizer_memory_estimates", '{');
	rvp_figure_double(figures, figures->is_json ? "sgd" : "optimizer_memory_estimates sgd", 0);
	rvp_figure_double(figures, figures->is_json ? "adam" : "optimizer_memory_estimates adam",
			  gradient_mb * 2);
	rvp_figure_double(figures, figures->is_json ? "adamw" : "optimizer_memory_estimates adamw",
			  gradient_mb * 2);
	if (figures->is_json)
		rvp_json_close(&figures->json, '}');
}

static void tell_backward(struct rvp_figures *figures, const struct rvp_forward *forward,
			  const struct rvp_backward *backward)
{
	rvp_figures_group(figures, "backward", "backward pass (estimated: twice the forward)");
	if (forward->has_flops) {
		rvp_figure_whole(figures, "forward_flops", forward->flops);
		rvp_figure_whole(figures, "backward_flops", backward->flops);
		rvp_figure_whole(figures, "total_flops", backward->total_flops);
	}
	rvp_figure_double(figures, "forward_latency_ms", forward->latency_ms);
	rvp_figure_double(figures, "backward_latency_ms", backward->latency_ms);
	rvp_figure_double(figures, "total_latency_ms", backward->total_latency_ms);
	rvp_figure_double(figures, "forward_memory_mb", forward->peak_memory_mb);
	rvp_figure_double(figures, "gradient_memory_mb", backward->gradient_memory_mb);
	rvp_figure_double(figures, "total_memory_mb", backward->total_memory_mb);
	tell_both(figures, "total_gflops_per_second", backward->total_gflops_per_second,
		  backward->total_gflops_per_second_original);
	rvp_tell_optimizers(figures, backward->gradient_memory_mb);
	rvp_figure_double(figures, "memory_efficiency", forward->memory_efficiency);
	if (forward->has_rates && !isnan(forward->peak_memory_mb))
		rvp_figure_text(figures, "bottleneck", bottleneck(&forward->rates));
	rvp_figures_end(figures);
}

void rvp_tell_profile(struct rvp_figures *figures, const struct rvp_profile_base *base)
{
	struct rvp_forward forward = rvp_forward_of(base);
	struct rvp_backward backward = rvp_backward_of(base, &forward);

	tell_forward(figures, &forward);
	tell_backward(figures, &forward, &backward);
}
