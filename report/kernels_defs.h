/* SPDX-License-Identifier: MIT */
/* kernels_defs.h: what the records of a process define about its device's work, collected by the first look
 * at its log (scan.c): names, shapes, devices, graph nodes, how the device was followed, the brackets of its
 * clock; and in which chunks of the log the work itself stands. The work is not held: kernels_stream.h reads
 * it again, in order.
 *
 * Rules
 *   - Numbers of a log are checked: ask by the functions, never the arrays with a number from a record.
 *   - Texts point into the log and are not terminated; they live until the run is closed.
 *   - Memory: definitions, and a place of 64 bytes for a chunk of the log that has work in it.
 */
#ifndef RVP_REPORT_KERNELS_DEFS_H
#define RVP_REPORT_KERNELS_DEFS_H

#include "record/schema.h"
#include "report/device_clock.h"

#include <stdbool.h>
#include <stddef.h>

/* What launches of a kernel have in common. */
struct rvp_kernel_shape {
	uint32_t name, device, context;
	uint32_t grid[3], block[3];
	uint32_t registers;
	uint64_t static_bytes, dynamic_bytes, local_bytes;
	bool is_defined, is_cooperative;
};

struct rvp_graph_node {
	uint64_t node, original; /* original: 0: it is no copy */
	uint32_t stack, python;  /* as numbered in the log; 0: none */
};

/* A chunk with work or launches in it: where in time they lie, in the units of their records. */
struct rvp_kernel_place {
	uint32_t chunk, count;
	bool has_timeless;                        /* rvp_is_timeless: in no order */
	uint64_t first_device_ns, last_device_ns; /* first > last: none */
	uint64_t first_stamp, last_stamp;         /* likewise, of launches */
};

struct rvp_device_told { /* a DEVICE, a context or a stream of one, or a DEVICE_TRACER, as it was told */
	enum rvp_kind kind;
	union {
		struct rvp_record_DEVICE device;
		struct rvp_record_DEVICE_CONTEXT context;
		struct rvp_record_DEVICE_STREAM stream;
		struct rvp_record_DEVICE_TRACER tracer;
		struct rvp_record_DEVICE_CLOCK clock;
	};
};

struct rvp_kernel_defs {
	struct rvp_text *names; /* index: number */
	size_t name_count, name_room;
	struct rvp_kernel_shape *shapes; /* index: number */
	size_t shape_count, shape_room;
	struct rvp_graph_node *nodes; /* by node, once sorted */
	size_t node_count, node_room;
	struct rvp_device_told *told; /* in no order but of their chunks */
	size_t told_count, told_room;
	struct rvp_kernel_place *places;
	size_t place_count, place_room;
	uint64_t counts[RVP_KIND_COUNT]; /* records by kind, 64 and up */
	uint64_t activity_count;         /* of the kinds that kernels_stream.h reads */
	struct rvp_device_clock clock;   /* finished by rvp_kernel_defs_settle */
	bool is_settled;
};

/* A time that says nothing: such work stands behind all other. */
static inline bool rvp_is_timeless(uint64_t start_ns, uint64_t flaw)
{
	return !start_ns || flaw == RVP_DEVICE_FLAW_ZERO_TIME || flaw == RVP_DEVICE_FLAW_OUT_OF_WINDOW;
}

/* The flaw of a record of work; kinds that have none: a start that was not told. */
static inline uint64_t rvp_work_flaw(const struct rvp_record *record)
{
	switch (record->kind) {
	case RVP_KERNEL: return record->KERNEL.flaw;
	case RVP_DEVICE_COPY: return record->DEVICE_COPY.flaw;
	case RVP_DEVICE_SET: return record->DEVICE_SET.flaw;
	case RVP_DEVICE_SYNC: return record->DEVICE_SYNC.flaw;
	case RVP_GRAPH_RUN: return record->GRAPH_RUN.flaw;
	default: return record->KERNEL.start_ns ? RVP_DEVICE_FLAW_NONE : RVP_DEVICE_FLAW_ZERO_TIME;
	}
}

struct rvp_run;
struct rvp_process;

/* A record of a kind from RVP_DEVICE on, of this chunk. `number_limit`: no number can be larger. False
 * without memory. */
bool rvp_kernel_defs_take(struct rvp_kernel_defs **defs, uint32_t chunk, const struct rvp_record *record,
			  uint64_t number_limit);

/* Once the run is open: the clock, and nodes in order. False without memory. */
bool rvp_kernel_defs_settle(const struct rvp_run *run, const struct rvp_process *process);

/* NULL where the process has no record of the device. */
struct rvp_kernel_defs *rvp_kernel_defs_of(const struct rvp_process *process);

/* The empty text for a number that no record defined. */
struct rvp_text rvp_device_name_at(const struct rvp_kernel_defs *defs, uint64_t number);
const struct rvp_kernel_shape *rvp_kernel_shape_at(const struct rvp_kernel_defs *defs, uint64_t number);

/* What was told last of a device; NULL: nothing. */
const struct rvp_record_DEVICE *rvp_device_at(const struct rvp_kernel_defs *defs, uint64_t device);

/* The call path by which a node of a graph came to be: its own, else that of what it was copied from. False:
 * none. */
bool rvp_graph_node_path(const struct rvp_kernel_defs *defs, uint64_t node, uint32_t *stack,
			 uint32_t *python);

void rvp_kernel_defs_free(struct rvp_kernel_defs *defs);

#endif
