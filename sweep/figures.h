/* SPDX-License-Identifier: MIT */
/* figures.h: pictures of a sweep, by gnuplot: figs/NAME.gp, a script with its data in it that anybody can
 * change and draw again, and figs/NAME.svg where gnuplot is there.
 *
 * - axis-NAME: mean peak memory and p95 time against an axis, a line for each combination of the others
 * - pareto: what is saved of the KV cache (of memory where there is none) against accuracy (coherence where there
 *   is none): settings that no other one beats in both are joined
 * - times: how samples' times are distributed, by setting
 *
 * A picture without a point is not made. */
#ifndef RVP_SWEEP_FIGURES_H
#define RVP_SWEEP_FIGURES_H

#include "sweep/results.h"

/* *has_gnuplot: false where pictures were not drawn since it is not installed. */
struct rvp_status rvp_figures_write(const struct rvp_sweep *sweep, const struct rvp_outcomes *outcomes,
				    bool *has_gnuplot);

#endif
