/* SPDX-License-Identifier: MIT */
/* energy.c: see energy.h. */
#include "report/energy.h"

static double seconds_between(uint64_t from_us, uint64_t to_us)
{
	return to_us > from_us ? (double)(to_us - from_us) / 1e6 : 0;
}

void rvp_energy_add(struct rvp_energy *energy, uint64_t us, double watts)
{
	if (energy->sample_count)
		energy->total_joules +=
		    (energy->last_watts + watts) / 2 * seconds_between(energy->last_us, us);
	else
		energy->first_us = us;
	if (!energy->sample_count || watts > energy->peak_watts)
		energy->peak_watts = watts;
	energy->sum_watts += watts;
	energy->last_us = us;
	energy->last_watts = watts;
	energy->sample_count++;
}

double rvp_energy_mean_watts(const struct rvp_energy *energy)
{
	return energy->sample_count ? energy->sum_watts / (double)energy->sample_count : 0;
}

double rvp_energy_duration_s(const struct rvp_energy *energy)
{
	return seconds_between(energy->first_us, energy->last_us);
}
