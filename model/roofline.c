/* SPDX-License-Identifier: MIT */
/* roofline.c: see roofline.h. */
#include "model/roofline.h"

#include <math.h>

struct rvp_roof rvp_roof_of(const struct rvp_machine *machine, double flops, double bytes, double ms)
{
	double intensity = bytes > 0 ? flops / bytes : INFINITY;
	double by_bytes = bytes > 0 ? intensity * machine->bytes_per_s : INFINITY, rate = flops / (ms / 1000);
	double flops_s = flops / machine->flops_per_s, bytes_s = bytes / machine->bytes_per_s;
	struct rvp_roof roof = {.intensity = intensity,
				.attainable_flops_per_s = fmin(by_bytes, machine->flops_per_s),
				.is_memory_bound = by_bytes < machine->flops_per_s,
				.share_of_attainable = NAN,
				.share_of_peak = NAN,
				.least_ms = 1000 * fmax(flops_s, bytes_s)};

	if (ms > 0) {
		roof.share_of_peak = rate / machine->flops_per_s;
		/* By time, so that work without FLOPs has a share too. */
		roof.share_of_attainable = roof.least_ms / ms;
	}
	return roof;
}
