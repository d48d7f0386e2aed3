/* SPDX-License-Identifier: MIT */
/* write_kernels.h: kernels.csv, a row a kernel in order of start.
 *
 * start_us is UNIX microseconds with three decimals (without a tied clock: since the first kernel's process's
 * first work, see metrics.md). A kernel with a flaw has no duration_ns, and behind all others no start_us
 * where it was not told. An empty field was not measured or is not known. Names are quoted always, quotes in
 * them doubled.
 *
 * Rules
 *   - It grows with the run, so it has a bound: the rows up to it stand, whole; from the first that does not fit on all are
 * counted in `cut_rows` (summary.json's kernels.csv_cut_rows). Sums, steps and classes are of all kernels all the same, and
 * `rvprof export csv` writes all rows.
 */
#ifndef RVP_REPORT_WRITE_KERNELS_H
#define RVP_REPORT_WRITE_KERNELS_H

#include "report/kernels.h"

#include <stdio.h>

struct rvp_kernel_csv {
	struct rvp_kernel_sink sink;
	const struct rvp_run *run;
	FILE *out;
	uint64_t rows, cut_rows, bytes, max_bytes;
};

/* Of kernels.csv beside the other outputs; as trace.json's. */
enum { RVP_KERNEL_CSV_MAX_BYTES = 100000000 };

/* Writes the header. `max_bytes`: of the whole file. `out` NULL: rows are counted only, as if they were written. */
void rvp_kernel_csv_open(struct rvp_kernel_csv *csv, const struct rvp_run *run, FILE *out, uint64_t max_bytes);

#endif
