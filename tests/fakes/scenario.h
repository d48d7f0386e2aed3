/* SPDX-License-Identifier: MIT */
/* scenario.h: what the simulated machine is like and what goes wrong in it. The environment variable SIMCUDA
 * holds the scenario, or `@file` that does. Statements end with a newline or `;`, `#` begins a comment;
 * scenario.c lists them all. One that cannot be read ends the program at once with status 96 and a line:
 * where, what was met, what was expected. */
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

enum { SIM_DEVICES = 8, SIM_KERNEL_RULES = 32, SIM_NAME_BYTES = 96, SIM_NVML_ROWS = 16 };

struct sim_kernel_rule {
	char pattern[SIM_NAME_BYTES]; /* as fnmatch */
	uint64_t least_ns, most_ns;
};

enum sim_nvml { SIM_NVML_PLAIN = 0, SIM_NVML_ABSENT, SIM_NVML_CONTAINER, SIM_NVML_NO_PROCESSES,
		SIM_NVML_NO_ENERGY, SIM_NVML_NO_POWER };

struct sim_scenario {
	/* the machine */
	uint64_t devices, memory_bytes, others_bytes, context_bytes, driver, cupti, seed;
	char model[SIM_NAME_BYTES];
	enum sim_nvml nvml;
	/* times */
	uint64_t latency_ns, copy_rate; /* bytes a second */
	int64_t clock_offset_ns;
	struct sim_kernel_rule rules[SIM_KERNEL_RULES];
	uint64_t rule_count;
	/* CUPTI's faults */
	char subscriber[SIM_NAME_BYTES]; /* who is there already; "": nobody */
	uint64_t subscribe_error, callbacks_error, enable_error, enable_error_kind;
	bool unusable, null_buffers, reentrant;
	uint64_t
	    late_ns; /* a flush gives buffers out so much later, in a thread of its own; 0: as it should */
	uint64_t dropped;
	uint64_t zero_after, backward_after, unknown_after; /* kernels; UINT64_MAX: never */
	uint64_t step_after;                                /* launches; UINT64_MAX: never */
	int64_t step_ns;
	/* the driver's faults */
	uint64_t init_error, lost_after, lost_error; /* launches; UINT64_MAX: never */
	uint64_t oom_at, oom_every, oom_above; /* the n-th allocation, each n-th, more bytes; 0: never */
};

/* Of this process, read once. */
const struct sim_scenario *sim_scenario(void);
/* Reads a text; on an error false and one line in `complaint`. */
bool sim_scenario_read(struct sim_scenario *scenario, const char *origin, const char *text, char *complaint,
		       unsigned int complaint_bytes);

#endif
