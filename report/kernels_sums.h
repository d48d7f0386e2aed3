/* SPDX-License-Identifier: MIT */
/* kernels_sums.h: adds one piece of work to the figures of kernels.h; for kernels.c alone. */
#ifndef RVP_REPORT_KERNELS_SUMS_H
#define RVP_REPORT_KERNELS_SUMS_H

#include "report/kernels.h"

/* Name and class of what runs on a device. */
void rvp_kernels_name(struct rvp_kernels *kernels, const struct rvp_run *run, struct rvp_work *work);

/* In order. Sets work->site, and kernels->no_memory where there is none. */
void rvp_kernels_add(struct rvp_kernels *kernels, const struct rvp_run *run, struct rvp_work *work);

#endif
