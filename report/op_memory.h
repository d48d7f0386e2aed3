/* SPDX-License-Identifier: MIT */
/* op_memory.h: RAF's memory trace: after each operator how many megabytes (2^20) were used and held, as a table, and what
 * they come to. Numbers are floats, printed with six digits, as there.
 *
 *   - The peak is the first trace with the strictly highest `used`.
 *   - max_allocated is the highest `allocated`; there it is that of the peak's trace: max_allocated_original.
 *   - num_gc counts traces before which `allocated` fell; there it is always 0: num_gc_original.
 *   - Of no trace: 0, 0, -1, 0, and no table, as there.
 *   - Where `allocated` is not known it is a dash, and nothing is said of its highest.
 */
#ifndef RVP_REPORT_OP_MEMORY_H
#define RVP_REPORT_OP_MEMORY_H

#include "report/json_writer.h"

#include <stddef.h>

struct rvp_op_memory {
	float max_used, max_allocated, max_allocated_original, last_allocated;
	int64_t max_trace_idx;
	uint64_t num_gc, count;
	bool lacks_allocated; /* of one trace at least */
};

struct rvp_op_trace {
	const char *tag; /* terminated */
	float used_mb, allocated_mb;
	bool has_allocated;
};

#define RVP_OP_MEMORY_START ((struct rvp_op_memory){.max_trace_idx = -1})

/* Takes the next trace and prints its row; before the first the table's head. `json`: an object that is open; else text. */
void rvp_op_memory_put(struct rvp_op_memory *memory, const struct rvp_op_trace *trace, FILE *out, struct rvp_json *json);

/* What they come to. */
void rvp_op_memory_close(struct rvp_op_memory *memory, FILE *out, struct rvp_json *json);

#endif
