/* SPDX-License-Identifier: MIT */
/* kernel_table.h: the kernel table of Taichi's and Quadrants' profiler, mode count, with its columns and digits.
 *
 *     rvp_kernel_table_add(&table, name, length, ms);    a record
 *     rvp_kernel_table_count(&table, &heading, out);     a row a name, largest total first, ties in order of appearance
 *
 * Times are milliseconds, totals seconds, as there. Where the total is 0 each share is 0; there it divides by 0.
 */
#ifndef RVP_REPORT_KERNEL_TABLE_H
#define RVP_REPORT_KERNEL_TABLE_H

#include "report/json_writer.h"
#include "report/name_table.h"

/* "Kernel Profiler(MODE, TOOLKIT) @ ARCH on DEVICE" between rules of '=', the columns, a rule of '-'. Rules are as long as the
 * longer of the two. */
struct rvp_kernel_heading {
	const char *toolkit, *arch;
	const char *device; /* NULL: not said */
};

/* The length of the rules. */
size_t rvp_kernel_heading_print(const struct rvp_kernel_heading *heading, const char *mode, const char *columns, FILE *out);
void rvp_kernel_heading_json(const struct rvp_kernel_heading *heading, const char *mode, struct rvp_json *json);
void rvp_rule_print(FILE *out, char sign, size_t length);

struct rvp_kernel_group {
	double total_ms, min_ms, max_ms;
	uint64_t count;
};

struct rvp_kernel_table {
	struct rvp_name_table names;
	struct rvp_kernel_group *groups; /* by number of the name */
	size_t room;
	double total_ms;
	uint64_t count;
};

/* False without memory. */
bool rvp_kernel_table_add(struct rvp_kernel_table *table, const char *name, size_t length, double ms);

/* Numbers of the groups in the table's order; free() it. NULL without memory. */
uint32_t *rvp_kernel_table_order(const struct rvp_kernel_table *table);
double rvp_kernel_table_share(const struct rvp_kernel_table *table, uint32_t group); /* percent */

/* False without memory; nothing was printed then. */
bool rvp_kernel_table_count(const struct rvp_kernel_table *table, const struct rvp_kernel_heading *heading, FILE *out);
bool rvp_kernel_table_count_json(const struct rvp_kernel_table *table, const struct rvp_kernel_heading *heading,
				 FILE *out);
void rvp_kernel_table_free(struct rvp_kernel_table *table);

/* What query_kernel_profiler_info finds: the names that all of "<pattern>(.*)" matches, as one kernel of several parts,
 * by the sums of their least, highest and mean times. A name that was counted another number of times than the first one
 * is left out. */
struct rvp_kernel_query {
	uint64_t counter;
	double min_ms, max_ms, avg_ms;
	uint32_t first, left_out; /* left_out: one that was, UINT32_MAX: none */
};
enum rvp_kernel_query_end { RVP_QUERY_DONE, RVP_QUERY_NO_PATTERN, RVP_QUERY_NO_MEMORY };
/* `pattern`: a POSIX extended regular expression; what is wrong with it into `why`. */
enum rvp_kernel_query_end rvp_kernel_table_query(const struct rvp_kernel_table *table, const char *pattern,
						 struct rvp_kernel_query *query, char *why, size_t why_bytes);

#endif
