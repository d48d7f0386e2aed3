/* SPDX-License-Identifier: MIT */
/* csv_rows.h: some columns of a CSV file with a header, row after row: latency.csv, memory.csv, power.csv,
 * ours or another program's.
 *
 *   - Columns are found by their names; others are passed over. A line has as many fields as the header.
 *   - A field in double quotes may hold commas, and double quotes doubled; no line ends. Numbers have no spaces. An empty field
 * was not measured.
 *   - A column whose name is asked for as "?name" may be missing: its fields are empty.
 *   - "\r\n" ends a line too; empty lines and a byte order mark are passed over.
 *   - Every failure names the file, the line and the column. Memory: one line, of RVP_CSV_LINE_MAX_BYTES at most.
 */
#ifndef RVP_REPORT_CSV_ROWS_H
#define RVP_REPORT_CSV_ROWS_H

#include "record/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { RVP_CSV_COLUMNS_MAX = 12, RVP_CSV_LINE_MAX_BYTES = 1 << 16 };

struct rvp_csv_rows {
	FILE *file;
	const char *path;
	const char *const *names; /* of the wanted columns; NULL ends them */
	char *text;               /* the line at hand, cut into fields */
	uint64_t line;
	unsigned field_count; /* of the header */
	unsigned place[RVP_CSV_COLUMNS_MAX];
	const char *fields[RVP_CSV_COLUMNS_MAX]; /* of the row at hand, as `names` */
};

/* Reads the header; "-" is standard input. `path` and `names` must outlive it. */
struct rvp_status rvp_csv_rows_open(struct rvp_csv_rows *rows, const char *path, const char *const *names);

/* Sets *has_row to false at the end. */
struct rvp_status rvp_csv_rows_next(struct rvp_csv_rows *rows, bool *has_row);

/* The number in the row's field of that column, which is not empty. */
struct rvp_status rvp_csv_whole(const struct rvp_csv_rows *rows, unsigned column, uint64_t *value);
struct rvp_status rvp_csv_decimal(const struct rvp_csv_rows *rows, unsigned column, double *value);

/* As messages name it. */
const char *rvp_csv_path(const struct rvp_csv_rows *rows);

void rvp_csv_rows_close(struct rvp_csv_rows *rows);

#endif
