/* SPDX-License-Identifier: MIT */
/* kernels.h: the work of a run's devices, read once: every piece is joined to its launch and given to whoever
 * wants it, and the figures that docs/metrics.md defines are summed up.
 *
 *     struct rvp_kernels kernels;
 *     rvp_kernels_read(&kernels, run, &(struct rvp_kernel_question){.steps = steps, .sinks = sinks});
 *     ... kernels.kernels.sum ...
 *     rvp_kernels_free(&kernels);
 *
 * Memory: names, shapes, streams, steps, call paths and ranges; the windows of kernels_stream.h; RVP_LAUNCHES_MAX
 * launches a process. Nothing grows with the number of pieces.
 *
 * Invariants
 *   (KN1) A piece with a flaw is in `flaws` and in no sum; it is given to the sinks all the same.
 *   (KN2) The classes' sums are the kernels', copies', memsets' and graph runs' sums; so are those of the streams.
 *   (KN3) A device's busy time and its idle parts are together the time from its first piece's start to its last's end.
 */
#ifndef RVP_REPORT_KERNELS_H
#define RVP_REPORT_KERNELS_H

#include "report/busy.h"
#include "report/distribution.h"
#include "report/kernels_idle.h"
#include "report/kernels_join.h"
#include "report/kernels_names.h"
#include "report/key_places.h"

struct rvp_kernel_sink {
	void (*see)(struct rvp_kernel_sink *sink, const struct rvp_work *work,
		    const struct rvp_kernel_names *names);
};

struct rvp_kernel_sum {
	uint64_t count, ns, bytes; /* bytes: of copies and memsets */
};

struct rvp_kernel_stream_sum {
	uint32_t process, device, context, stream; /* device: as its process counts */
	struct rvp_kernel_sum kernels, copies; /* copies: and memsets, and graphs as wholes */
	struct rvp_busy busy;
};

struct rvp_kernel_device {
	uint32_t process, device; /* device: as its process counts */
	uint32_t called;          /* N of cuda:N */
	const struct rvp_record_DEVICE *told; /* NULL: nothing */
	uint64_t first_ns, last_ns;           /* start of the first, end of the last piece */
	struct rvp_busy all, kernels, copies,
	    without_comm; /* kernels: and graphs as wholes; copies: and memsets */
	uint64_t idle_ns[RVP_IDLE_COUNT];
	struct rvp_distribution gaps;
	struct rvp_kernel_sum sum; /* of kernels */
	bool is_behind_comm;       /* what ended last is communication */
};

struct rvp_kernel_step {
	struct rvp_kernel_sum kernels, copies;
	struct rvp_busy kernel_busy, busy;
};

struct rvp_kernel_site {
	uint32_t process, stack, python;
	uint64_t first_ns;
	struct rvp_kernel_sum kernels;
	uint64_t estimated_ns; /* by how many launches each recorded one stands for */
};

/* Of kernels that were launched in this range itself, not in one within it. */
struct rvp_kernel_range_sum {
	struct rvp_kernel_sum kernels;
	uint64_t estimated_ns;  /* as that of a site */
	uint64_t with_inner_ns; /* and of those in the ranges within it */
};

/* The clocks of all processes together. */
struct rvp_kernel_clock {
	bool is_tied; /* those of all processes with work */
	uint64_t error_ns;
	uint64_t beyond; /* pieces of work before the first or behind the last bracket */
	size_t brackets, steps;
	int64_t largest_step_ns;
};

enum { RVP_OVERHEADS = 12 }; /* kinds; the last one: any other */

struct rvp_kernels {
	struct rvp_kernel_names *names;
	struct rvp_distribution *by_name; /* of kernels, rvp_kernel_name_count of them */
	size_t name_count, name_room;
	struct rvp_kernel_sum by_class[RVP_KERNEL_CLASS_COUNT];
	struct rvp_kernel_sum kernels, copies, sets, graph_runs, syncs, calls,
	    launches;            /* launches: those recorded */
	uint64_t launches_meant; /* what they stand for */
	struct rvp_kernel_stream_sum *streams;
	size_t stream_count, stream_room;
	struct rvp_kernel_device *devices;
	size_t device_count, device_room;
	struct rvp_key_places stream_keys, device_keys, site_keys; /* each with the numbers of the array */
	struct rvp_kernel_step *steps; /* as many as the run has; NULL without */
	size_t step_count;
	struct rvp_kernel_site *sites;
	size_t site_count, site_room;
	struct rvp_kernel_ranges *ranges;
	struct rvp_kernel_range_sum *by_range; /* by number, rvp_kernel_range_count of them */
	size_t range_count, range_room;
	uint64_t flaws[RVP_DEVICE_FLAW_COUNT]; /* NONE: not used */
	uint64_t flawed_kernels;
	struct rvp_distribution latency, queued, submitted;
	uint64_t in_other_steps; /* work of one process during a step of another, in no step */
	uint64_t step_by_launch, step_by_time, clock_conflicts, without_launch, without_path,
	    sampled_launches;
	struct rvp_kernel_sum overheads[RVP_OVERHEADS];
	bool has_device;
	struct rvp_kernel_clock clock;
	uint64_t records[RVP_KIND_COUNT]; /* of the kinds from RVP_DEVICE on */
	uint64_t csv_rows, csv_cut_rows;  /* of kernels.csv, by who writes it: in it, and beyond its bound */
	/* While it goes on. */
	struct rvp_host_wait *waits; /* by process */
	bool no_memory;
};

struct rvp_kernel_question {
	const struct rvp_steps *steps;        /* NULL: none */
	const char *const *rule_files;        /* the user's, NULL ends them; may be NULL */
	struct rvp_kernel_sink *const *sinks; /* NULL ends them; may be NULL */
	bool has_only_step;                   /* work of this step alone is summed and seen */
	uint64_t only_step;
	bool without_ranges; /* nobody asks for them: the host's records are not read for them */
};

/* Fails without memory only. A run without devices has has_device false and costs nothing. */
struct rvp_status rvp_kernels_read(struct rvp_kernels *kernels, const struct rvp_run *run,
				   const struct rvp_kernel_question *question);
void rvp_kernels_free(struct rvp_kernels *kernels);

/* Whether times of kernels were recorded at all, so that 0 is a figure. */
bool rvp_kernels_were_timed(const struct rvp_kernels *kernels);

/* Whether every kernel of this step was to be recorded, by what the tracer said of itself then. */
bool rvp_kernels_step_is_measured(const struct rvp_kernels *kernels, const struct rvp_run *run,
				  const struct rvp_step *step);

uint64_t rvp_kernel_device_idle_ns(const struct rvp_kernel_device *device);
/* The part of the copies' busy time during which a kernel ran too; and communication that no other work hid.
 */
uint64_t rvp_kernel_overlap_ns(const struct rvp_kernel_device *device);
uint64_t rvp_kernel_exposed_comm_ns(const struct rvp_kernel_device *device);

/* By CUpti_ActivityOverheadKind: where it is in `overheads`, and Kineto's word. */
uint32_t rvp_overhead_number(uint32_t kind);
const char *rvp_overhead_name(uint32_t kind);

/* Numbers of `count` items whose keys are larger first, ties in their order; free() it. NULL without memory.
 */
uint32_t *rvp_kernels_ranked(const void *items, size_t count, size_t item_bytes,
			     uint64_t (*key)(const void *item));

#endif
