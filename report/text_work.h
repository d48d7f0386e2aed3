/* SPDX-License-Identifier: MIT */
/* text_work.h: the operations of products of matrices as text (blas_work.h). */
#ifndef RVP_REPORT_TEXT_WORK_H
#define RVP_REPORT_TEXT_WORK_H

#include "report/blas_work.h"
#include "report/text_report.h"

enum { RVP_FLOPS_TEXT_BYTES = 32 };

/* "1.29 MFLOP"; the text, which it returns. */
const char *rvp_text_flops(double flops, char text[RVP_FLOPS_TEXT_BYTES]);

/* Nothing where no call was seen. */
void rvp_text_work(const struct rvp_view *view);

#endif
