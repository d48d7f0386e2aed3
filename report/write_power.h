/* SPDX-License-Identifier: MIT */
/* write_power.h: power.csv, the sum of all sources, and power.<name>.csv of each: `timestamp_us,watts`, written as the rounds
 * come; and the counters of trace.json. A round in which a source has no figure has no row of it, and none of the sum. */
#ifndef RVP_REPORT_WRITE_POWER_H
#define RVP_REPORT_WRITE_POWER_H

#include "report/power.h"
#include "report/write_trace.h"

struct rvp_power_writer {
	struct rvp_power_sink sink;
	const struct rvp_power_list *list;
	FILE *sum, *sources[RVP_POWER_SOURCES_MAX];
	struct rvp_trace *trace;
	uint64_t trace_ns; /* of its last counter */
	double trace_watts[RVP_POWER_SOURCES_MAX];
};

/* Writes the headers. Streams may be NULL. */
void rvp_power_writer_open(struct rvp_power_writer *writer, const struct rvp_power_list *list, FILE *sum,
			   FILE *const *sources, struct rvp_trace *trace);

/* The counters alone; nothing where nobody sampled. */
void rvp_power_trace(struct rvp_trace *trace);

#endif
