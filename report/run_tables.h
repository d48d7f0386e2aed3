/* SPDX-License-Identifier: MIT */
/* run_tables.h: the tables of earlier profilers (kernel_table.h, kernel_list.h, op_memory.h, scope_tree.h), of what a run
 * recorded: kernels of its devices, or the operators that its program, or an adapter, said. */
#ifndef RVP_REPORT_RUN_TABLES_H
#define RVP_REPORT_RUN_TABLES_H

#include "report/kernel_table.h"
#include "report/op_table.h"

enum rvp_run_table {
	RVP_TABLE_KERNELS_COUNT,
	RVP_TABLE_KERNELS_TRACE,
	RVP_TABLE_OPS,
	RVP_TABLE_OPS_COUNT,
	RVP_TABLE_OPS_TRACE,
	RVP_TABLE_SCOPES,
	RVP_TABLE_MEMORY_TRACE,
	RVP_TABLE_TIMERS,
	RVP_RUN_TABLES
};
extern const char *const rvp_run_table_names[RVP_RUN_TABLES + 1]; /* NULL ends them */

/* Fails where the run has no work of devices that the table is of. */
struct rvp_status rvp_run_table_print(struct rvp_run *run, enum rvp_run_table table, bool is_json, FILE *out);

/* The names of kernels-count or ops-count with their figures, for a query; fails of another table. Free it in any case. */
struct rvp_status rvp_run_table_groups(struct rvp_run *run, enum rvp_run_table which, struct rvp_kernel_table *table);

/* The first `first_count` times of each operator are listed. */
struct rvp_status rvp_run_ops_print(struct rvp_run *run, size_t first_count, bool is_json, FILE *out);

#endif
