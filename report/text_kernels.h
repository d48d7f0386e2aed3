/* SPDX-License-Identifier: MIT */
/* text_kernels.h: `rvprof report --kernels`: kernel time by kernel, class, step, stream, call path or range, as text and JSON;
 * and the section of the whole report. The columns by kernel are those of `nsys stats`' cuda_gpu_kern_sum. */
#ifndef RVP_TEXT_KERNELS_H
#define RVP_TEXT_KERNELS_H

#include "report/kernels.h"
#include "report/text_report.h"

enum rvp_kernels_by {
	RVP_KERNELS_BY_KERNEL,
	RVP_KERNELS_BY_CLASS,
	RVP_KERNELS_BY_STEP,
	RVP_KERNELS_BY_STREAM,
	RVP_KERNELS_BY_SITE,
	RVP_KERNELS_BY_RANGE,
	RVP_KERNELS_BY_COUNT
};
extern const char *const rvp_kernels_by_names[RVP_KERNELS_BY_COUNT + 1]; /* NULL ends them */

struct rvp_kernel_view {
	const struct rvp_view *view;
	struct rvp_kernels *kernels;
	const struct rvp_steps *steps;
	struct rvp_stacks *stacks; /* by call path alone; else NULL */
	enum rvp_kernels_by by;
	size_t row_count;
};

/* The table, largest first (steps in their order); fails only without memory. */
struct rvp_status rvp_text_kernels(const struct rvp_kernel_view *view);
struct rvp_status rvp_json_kernels(const struct rvp_kernel_view *view);

/* A few lines of the whole report; nothing in a run without a device. */
void rvp_text_kernels_section(const struct rvp_view *view, struct rvp_kernels *kernels);

/* Rows of the table in their order; free() it. NULL without memory. */
uint32_t *rvp_kernel_rows(const struct rvp_kernel_view *view, size_t *count);
/* Of all rows together: what shares are of. */
uint64_t rvp_kernel_rows_ns(const struct rvp_kernel_view *view);

#endif
