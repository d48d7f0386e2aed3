/* SPDX-License-Identifier: MIT */
/* energy.h: what samples of power add up to.
 *
 *   - total_joules: sum over neighbouring samples of (w[i-1] + w[i]) / 2 * (t[i] - t[i-1]), the trapezoid
 *     rule. A clock that went back between two samples adds nothing.
 *   - mean_watts: the mean of the samples, not total_joules / duration_s.
 *   - duration_s: from the first sample to the last; 0 where the last is the earlier one.
 *
 * Samples are taken in the order in which they come. Without any all figures are 0.
 */
#ifndef RVP_REPORT_ENERGY_H
#define RVP_REPORT_ENERGY_H

#include <stdint.h>

struct rvp_energy {
	double total_joules, peak_watts, sum_watts;
	uint64_t sample_count, first_us, last_us;
	double last_watts;
};

void rvp_energy_add(struct rvp_energy *energy, uint64_t us, double watts);
double rvp_energy_mean_watts(const struct rvp_energy *energy);
double rvp_energy_duration_s(const struct rvp_energy *energy);

#endif
