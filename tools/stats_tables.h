/* SPDX-License-Identifier: MIT */
/* stats_tables.h: `rvprof stats kernels|memory-trace|timers|scopes`: tables of earlier profilers, of rows in a CSV file. */
#ifndef RVP_TOOLS_STATS_TABLES_H
#define RVP_TOOLS_STATS_TABLES_H

#include "report/csv_rows.h"
#include "report/kernel_table.h"

struct rvp_table_asked {
	bool is_json, is_trace, is_for_kernels; /* is_for_kernels: an option was given that only the kernel table takes */
	const char *query;                      /* NULL: the table */
	FILE *out;
	struct rvp_kernel_heading heading;
};

/* Their numbers in getopt_long's table. */
enum { RVP_TABLE_TRACE = 2000, RVP_TABLE_QUERY, RVP_TABLE_ARCH, RVP_TABLE_TOOLKIT, RVP_TABLE_DEVICE };

/* clang-format off */
#define RVP_STATS_TABLE_OPTIONS                                       \
	{"trace", no_argument, NULL, RVP_TABLE_TRACE},                \
	{"query", required_argument, NULL, RVP_TABLE_QUERY},          \
	{"arch", required_argument, NULL, RVP_TABLE_ARCH},            \
	{"toolkit", required_argument, NULL, RVP_TABLE_TOOLKIT},      \
	{"device", required_argument, NULL, RVP_TABLE_DEVICE}
#define RVP_STATS_KERNEL_COLUMNS                                                                      \
	{"name", "?ms", "?duration_ns", "?start_us", "?registers", "?shared_bytes", "?grid", "?block", \
	 "?occupancy_blocks"}
/* clang-format on */

/* Heads as the table has them for this machine's processor. */
struct rvp_table_asked rvp_table_asked_first(void);
void rvp_table_take_option(struct rvp_table_asked *asked, int option, const char *argument);

/* Answers to asked->out; a query's warnings to stderr. */
struct rvp_status rvp_stats_kernels(struct rvp_csv_rows *rows, const struct rvp_table_asked *asked);
struct rvp_status rvp_stats_memory_trace(struct rvp_csv_rows *rows, const struct rvp_table_asked *asked);
struct rvp_status rvp_stats_timers(struct rvp_csv_rows *rows, const struct rvp_table_asked *asked);
struct rvp_status rvp_stats_scopes(struct rvp_csv_rows *rows, const struct rvp_table_asked *asked);

/* The answer to a query, of these rows or of a run's (report_tables.c). */
struct rvp_status rvp_print_kernel_query(const struct rvp_kernel_table *table, const struct rvp_table_asked *asked);

#endif
