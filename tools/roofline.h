/* SPDX-License-Identifier: MIT */
/* roofline.h: where the recorded work of a run stands under the limits of the machine that it ran on: products of matrices by
 * class and type, steps by phase, kernels of devices by class.
 *
 * RULES
 *   1. Limits are those that `rvprof calibrate` measured on the run's machine: its model of processor and number of processors.
 *      Of another machine they are not believed.
 *   2. They were measured in f32 and f64. Work of other types, or of both, has a rate, and no share and no bound.
 *   3. Operations and bytes are arithmetic on the shapes of calls (report/blas.h). Where no shape is known, neither is: absent.
 */
#ifndef RVP_TOOLS_ROOFLINE_H
#define RVP_TOOLS_ROOFLINE_H

#include "model/roofline.h"
#include "report/blas_work.h"
#include "report/kernels.h"

/* What a row is made from. */
struct rvp_roofline_work {
	uint64_t count; /* of steps, calls or kernels */
	uint64_t ns;    /* 0: not known */
	double flops, bytes; /* NAN: not known */
	double least_s;      /* sum over the calls of the least time that the limits allow; 0: not known */
	enum rvp_blas_type type; /* of all of it; RVP_BLAS_TYPES: of several */
};

/* NAN where it isn't known. */
struct rvp_roofline_figures {
	double flops_per_s, intensity;
	double attainable_flops_per_s, least_ms, share_of_peak, share_of_attainable;
	bool is_memory_bound; /* where has_bound */
	bool has_bound;
};

/* `limits` NULL: not known. */
struct rvp_roofline_figures rvp_roofline_of(const struct rvp_roofline_work *work, const struct rvp_machine *limits);

enum rvp_roofline_group { RVP_ROOFLINE_STEPS, RVP_ROOFLINE_CALLS, RVP_ROOFLINE_KERNELS, RVP_ROOFLINE_GROUPS };

struct rvp_roofline_row {
	enum rvp_roofline_group group;
	char name[32];
	struct rvp_roofline_work work;
	struct rvp_roofline_figures figures;
};

enum {
	RVP_ROOFLINE_ROWS_MAX =
	    1 + RVP_STEP_PHASE_COUNT + RVP_BLAS_CLASSES * RVP_BLAS_TYPES + RVP_KERNEL_CLASS_COUNT
};

struct rvp_roofline {
	struct rvp_machine machine; /* whose limits; where has_limits */
	bool has_limits;
	char why_no_limits[256];
	struct rvp_roofline_row rows[RVP_ROOFLINE_ROWS_MAX];
	size_t count;
	bool has_cut_times; /* report/covered.h: a time is a little short */
};

/* The limits of the run's machine, else why there are none. */
void rvp_roofline_find_limits(struct rvp_roofline *roofline, const struct rvp_run *run);

/* What products of this type reach at the most; 0: not known. */
double rvp_roofline_peak(const struct rvp_machine *machine, enum rvp_blas_type type);

/* The rows; `kernels` NULL: the run has no devices. */
void rvp_roofline_fill(struct rvp_roofline *roofline, const struct rvp_steps *steps, const struct rvp_blas_work *work,
		       const struct rvp_kernels *kernels);

#endif
