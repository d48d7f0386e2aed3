/* SPDX-License-Identifier: MIT */
/* op_table.h: operators by name and args: how often, their times, what they asked for: a sink of op_runs.h, and its text
 * and JSON (rvprof op). Scopes that are no operators are passed over.
 *
 * Memory: a group a name and args, with the first `first_count` times of each. */
#ifndef RVP_REPORT_OP_TABLE_H
#define RVP_REPORT_OP_TABLE_H

#include "report/op_runs.h"

struct rvp_op_group {
	uint32_t name, args, category; /* of the names */
	uint64_t count;                /* that ended; open ones are in no figure of time */
	uint64_t open_count;
	uint64_t total_ns, self_ns, min_ns, max_ns;
	uint64_t workspace_bytes; /* most of any */
	bool is_estimate;
	uint64_t *first_ns; /* the first times */
	size_t first_count, first_room;
};

struct rvp_op_table {
	struct rvp_op_sink sink; /* first: the sink is the table */
	struct rvp_name_table names, keys;
	struct rvp_op_group *groups; /* by number of the key */
	size_t room;
	size_t first_count; /* times that a group keeps, at most */
	uint64_t run_count; /* executions of all */
	uint64_t total_ns;
	bool no_memory;
};

void rvp_op_table_open(struct rvp_op_table *table, size_t first_count);

/* Largest total first, ties in order of appearance. False without memory; nothing was printed then. */
bool rvp_op_table_print(const struct rvp_op_table *table, FILE *out);
bool rvp_op_table_json(const struct rvp_op_table *table, FILE *out);
void rvp_op_table_free(struct rvp_op_table *table);

#endif
