/* SPDX-License-Identifier: MIT */
/* write_kernels.h: kernels.csv, a row a kernel in order of start.
 *
 * start_us is UNIX microseconds with three decimals (without a tied clock: since the first kernel's process's
 * first work, see metrics.md). A kernel with a flaw has no duration_ns, and behind all others no start_us
 * where it was not told. An empty field was not measured or is not known. Names are quoted always, quotes in
 * them doubled.
 */
#ifndef RVP_REPORT_WRITE_KERNELS_H
#define RVP_REPORT_WRITE_KERNELS_H

#include "report/kernels.h"

#include <stdio.h>

struct rvp_kernel_csv {
	struct rvp_kernel_sink sink;
	const struct rvp_run *run;
	FILE *out;
	uint64_t rows;
};

/* Writes the header. */
void rvp_kernel_csv_open(struct rvp_kernel_csv *csv, const struct rvp_run *run, FILE *out);

#endif
