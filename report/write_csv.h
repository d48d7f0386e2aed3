/* SPDX-License-Identifier: MIT */
/* write_csv.h: memory.csv, categories.csv and latency.csv while a pass goes on. */
#ifndef RVP_REPORT_WRITE_CSV_H
#define RVP_REPORT_WRITE_CSV_H

#include "report/rows.h"

#include <stdio.h>

struct rvp_device_answers;

struct rvp_csv {
	struct rvp_observer observer;
	struct rvp_rows rows;
	FILE *memory, *categories;
	struct rvp_device_answers *devices; /* whose rows come between the host's, by time; NULL: none */
};

/* Writes the headers; the files are the caller's. */
void rvp_csv_open(struct rvp_csv *csv, FILE *memory, FILE *categories);

#endif
