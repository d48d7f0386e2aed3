/* SPDX-License-Identifier: MIT */
/* finalize.h: writes the outputs of a run folder from its records: memory.csv, categories.csv, latency.csv,
 * trace.json, run.json, and summary.json last. As often as one likes; one at a time, by a lock in the folder. */
#ifndef RVP_REPORT_FINALIZE_H
#define RVP_REPORT_FINALIZE_H

#include "record/status.h"

struct rvp_status rvp_finalize(const char *folder);

/* The same into another folder, which is made where it is not there; the run folder's outputs stay. */
struct rvp_status rvp_finalize_into(const char *folder, const char *to);

struct rvp_attribution_settings;

/* The same with rules of the user. */
struct rvp_status rvp_finalize_with(const char *folder, const struct rvp_attribution_settings *settings);

/* The same, unless summary.json is newer than every record and says that the run is complete. */
struct rvp_status rvp_finalize_if_stale(const char *folder);

#endif
