/* SPDX-License-Identifier: MIT */
/* blas_work.h: the operations of the products of matrices that were seen (blas.h), summed while a pass goes
 * on: all, by class, by step. A call is of the step in which it began. docs/metrics.md has the keys.
 */
#ifndef RVP_REPORT_BLAS_WORK_H
#define RVP_REPORT_BLAS_WORK_H

#include "report/blas.h"
#include "report/covered.h"
#include "report/json_writer.h"
#include "report/observer.h"
#include "report/steps.h"

struct rvp_blas_sum {
	uint64_t calls, ns, untimed_calls; /* ns: of several threads at once together */
	double flops, least_bytes;
	double least_s; /* of its calls the least time that the limits allow; 0 without limits */
};

/* Of elements of one type. */
struct rvp_blas_limits {
	double flops_per_s, bytes_per_s; /* 0: not known */
};

struct rvp_blas_work {
	struct rvp_observer observer;
	const struct rvp_run *run;
	const struct rvp_steps *steps;
	struct rvp_blas_sum all, classes[RVP_BLAS_CLASSES];
	double *step_flops; /* steps->count of them */
	struct rvp_blas_limits limits[RVP_BLAS_TYPES]; /* set before the pass */
	struct rvp_blas_sum types[RVP_BLAS_CLASSES][RVP_BLAS_TYPES], in_steps[RVP_STEP_PHASE_COUNT][RVP_BLAS_TYPES];
	struct rvp_covered covered[RVP_BLAS_CLASSES][RVP_BLAS_TYPES];
	uint64_t unknown;   /* calls of functions that this version does not know: in no sum */
};

void rvp_blas_sum_add(struct rvp_blas_sum *to, const struct rvp_blas_sum *sum);

/* False without memory. */
bool rvp_blas_work_open(struct rvp_blas_work *work, const struct rvp_run *run, const struct rvp_steps *steps);

/* "work": {..} of summary.json; nothing where no call was seen. */
void rvp_blas_work_write_json(struct rvp_json *json, const struct rvp_blas_work *work);

/* The steps that have any, sum, least and most; how many. */
size_t rvp_blas_work_steps(const struct rvp_blas_work *work, double *sum, double *least, double *most);

void rvp_blas_work_close(struct rvp_blas_work *work);

#endif
