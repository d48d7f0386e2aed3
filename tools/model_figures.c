/* SPDX-License-Identifier: MIT */
/* model_figures.c: `rvprof model --params ..`, `--flops .. --latency-ms ..`: what follows from figures alone.
 */
#include "tools/model.h"

#include "model/exact.h"
#include "tools/model_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Without an optimizer: what it takes to run it. */
static struct rvp_status tell_memory(struct rvp_figures *figures, const struct rvp_model_wish *wish)
{
	struct rvp_training training;
	struct rvp_status status = rvp_training_of(wish->parameters, wish->type, wish->optimizer, &training);

	if (rvp_failed(status))
		return status;
	rvp_figures_group(figures, "memory",
			  wish->has_optimizer ? "memory of training, without activations" : "memory");
	rvp_figure_whole(figures, "parameters", wish->parameters);
	rvp_figure_text(figures, "dtype", wish->type.name);
	rvp_figure_bytes(figures, "weights_bytes", training.weights_bytes);
	if (wish->has_optimizer) {
		rvp_figure_text(figures, "optimizer", wish->optimizer.name);
		rvp_figure_bytes(figures, "gradient_bytes", training.gradient_bytes);
		rvp_figure_bytes(figures, "optimizer_bytes", training.optimizer_bytes);
		rvp_figure_bytes(figures, "total_bytes", training.total_bytes);
	}
	rvp_figures_end(figures);
	return RVP_OK;
}

static struct rvp_profile_base base_of(struct rvp_model_wish *wish)
{
	return (struct rvp_profile_base){.parameters = wish->parameters,
					 .batch = wish->batch,
					 .flops = wish->flops,
					 .flops_original = wish->flops,
					 .has_parameters = wish->has_parameters,
					 .has_flops = wish->has_flops,
					 .value_bytes = rvp_bytes_of_value(wish->type),
					 .activation_mb = NAN,
					 .held_mb = wish->peak_mb,
					 .useful_mb = wish->used_mb,
					 .latency_ms = rvp_median(wish->latencies_ms, wish->latency_count)};
}

struct rvp_status rvp_model_of_figures(struct rvp_model_wish *wish)
{
	struct rvp_figures figures;
	struct rvp_profile_base base = base_of(wish);
	struct rvp_status status = RVP_OK;

	if (rvp_times(3, rvp_times(wish->flops, wish->batch)) == UINT64_MAX)
		return rvp_fail_with("count", "--flops",
				     "three passes of a batch are more than 64 bits can count");
	if (!wish->batch)
		return rvp_fail_with("use", "--batch", "it is 1 and more");
	if (wish->has_parameters && rvp_times(16, wish->parameters) == UINT64_MAX)
		return rvp_fail_with("use", "--params", "they are more than 64 bits can count bytes of");
	rvp_figures_open(&figures, wish->is_json, "rvprof.model/1");
	if (wish->has_parameters)
		status = tell_memory(&figures, wish);
	rvp_tell_profile(&figures, &base);
	rvp_figures_close(&figures);
	return status;
}
