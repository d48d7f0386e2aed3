/* SPDX-License-Identifier: MIT */
/* power.h: what a sample of power is (POWER_SOURCE, POWER records), and when a counter of energy that fell has wrapped around.
 *
 * A counter of energy wraps at its range (powercap's max_energy_range_uj, less than a unit of the counter off), and begins anew when its driver is loaded
 * again. What it says then is the same: less than before. It has wrapped if the range is known and what that makes is less
 * than RVP_POWER_MOST_WATTS; else it began anew, and nobody knows what was used meanwhile. */
#ifndef RVP_POWER_H
#define RVP_POWER_H

#include <stdbool.h>
#include <stdint.h>

/* On disk: append only. */
#define RVP_POWER_KINDS(X) X(NVML, "nvml") X(RAPL, "rapl") X(HWMON, "hwmon") X(FILE, "file") X(MOCK, "mock")
enum rvp_power_kind {
#define X(id, name) RVP_POWER_##id,
	RVP_POWER_KINDS(X)
#undef X
	    RVP_POWER_KIND_COUNT
};

enum rvp_power_unit { RVP_POWER_MICROWATTS = 0, RVP_POWER_MICROJOULES = 1 };

enum { RVP_POWER_SOURCES_MAX = 16, RVP_POWER_FIGURES_MAX = 64, RVP_POWER_NAME_BYTES = 32 };

/* No part that has one counter takes as much. */
enum { RVP_POWER_MOST_WATTS = 10000 };

/* Microjoules between two readings `ns` apart. False: the counter began anew. `range` 0: not known. */
static inline bool rvp_power_between(uint64_t before, uint64_t now, uint64_t range, uint64_t ns, uint64_t *microjoules)
{
	*microjoules = now - before;
	if (now >= before)
		return true;
	if (!range || before > range)
		return false;
	*microjoules = range - before + now;
	return (double)*microjoules * 1e3 <= (double)ns * RVP_POWER_MOST_WATTS;
}

#endif
